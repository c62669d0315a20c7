# What a checkout can do; each target is one or two lines here or a script in ci/.

CARGO ?= cargo
PREFIX ?= /usr/local
TARGET := $(or $(CARGO_TARGET_DIR),target)

.PHONY: help setup build install dist site web demo test soak fuzz mutants bench bench-peers bench-nightly bench-history

help:
	@echo "make setup   install what building and testing need, if it is missing"
	@echo "make build   build the scanns command: $(TARGET)/release/scanns"
	@echo "make install PREFIX=~/.local   copy the command to PREFIX/bin; PREFIX is /usr/local if it is left out"
	@echo "make dist    make packages in $(TARGET)/dist: tar.gz for glibc 2.17 and newer, deb, rpm, recipes; see packaging/README.md"
	@echo "make site    make the documentation as a web site: $(TARGET)/site/html"
	@echo "make web     build the page of scanns serve, web/dist, with npm; see web/README.md"
	@echo "make demo    index and search this machine's own files, in a minute after the build"
	@echo "make test    format, lints, all tests, and the models of concurrent code"
	@echo "make test CI=1   the same, and checks of other platforms and toolchains where these can be installed"
	@echo "make fuzz    coverage-guided fuzzing of every decoder and parser; ARGS="TARGET SECONDS" choose"
	@echo "make mutants find faults that the tests would not notice: hours"
	@echo "make soak    the long campaigns of docs/RELIABILITY.md: an hour or so"
	@echo "make bench   run the benchmarks; ARGS=... are passed on"
	@echo "make bench-peers   compare with Lucene, which needs a JDK and Maven, and with tantivy; ARGS='--files DIR': with plocate, find, du and others"
	@echo "make bench-nightly   the standard comparisons, added to the history of figures, and its page: an hour or so"
	@echo "make bench-history   measure earlier commits in turns with this one, and add them; ARGS='COMMIT... -- OPTIONS'"

setup:
	@ci/setup.sh

build:
	$(CARGO) build --release --locked -p scanns-cli

install: build
	install -D -m 755 $(TARGET)/release/scanns $(DESTDIR)$(PREFIX)/bin/scanns
	@command -v scanns >/dev/null || echo "add $(PREFIX)/bin to PATH to call it as scanns"

dist: setup
	@ci/setup-dist.sh
	@URL="$(URL)" ci/dist.sh $(TARGET)

site: setup
	@ci/setup-dist.sh --site
	@$(CARGO) build --locked -p scanns-cli
	@ci/site.sh $(TARGET)

web:
	@cd web && npm ci --no-audit --no-fund --loglevel=error && npm run --silent build

demo: setup build
	@ci/demo.sh $(TARGET)/release/scanns $(TARGET)/demo

test: setup
	@ci/sum-tests.sh \
	    '$(CARGO) fmt --all --check' \
	    '$(CARGO) clippy --workspace --all-targets --locked -- -D warnings' \
	    'RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps --locked' \
	    'SCANNS_FUZZ_SECONDS=15 $(CARGO) test --workspace --locked --no-fail-fast' \
	    $(if $(CI),ci/features.sh) \
	    --beside $(if $(CI),$(OWN_TARGET)) ci/web.sh ci/python.sh ci/loom.sh $(if $(CI),$(PLATFORMS))

# Checks that need more than the Rust toolchain; each says SKIPPED where it cannot run. They run at the same time as the
# tests, those first that have a target directory of their own, so that nobody waits for the other's build.
OWN_TARGET = 'ci/aarch64.sh $(TARGET)/aarch64' 'ci/msrv.sh $(TARGET)/msrv' 'ci/miri.sh $(TARGET)/miri'
PLATFORMS = ci/locks.sh ci/package.sh ci/semver.sh ci/deny.sh 'ci/packages.sh $(TARGET)' \
    'ci/serve.sh $(TARGET)/debug/scanns --quick'

fuzz:
	@ci/fuzz.sh $(ARGS)

mutants:
	@ci/mutants.sh $(ARGS)

soak:
	@ci/soak.sh

bench:
	$(CARGO) run --release --locked -p scanns-bench -- $(ARGS)

bench-peers:
	$(CARGO) build --release --locked -p scanns-peers -p scanns-bench
	$(TARGET)/release/scanns-peers --work $(TARGET)/peers $(ARGS)

bench-nightly:
	$(CARGO) build --release --locked -p scanns-peers -p scanns-bench
	@ci/bench-nightly.sh $(TARGET) $(ARGS)

bench-history:
	$(CARGO) build --release --locked -p scanns-peers -p scanns-bench
	@ci/bench-history.sh $(TARGET) $(ARGS)
