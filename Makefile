# What a checkout can do; each target is one or two lines here or a script in ci/.

CARGO ?= cargo
TARGET := $(or $(CARGO_TARGET_DIR),target)

.PHONY: help setup build demo test soak bench bench-peers

help:
	@echo "make setup   install what building and testing need, if it is missing"
	@echo "make build   build the scanns command: $(TARGET)/release/scanns"
	@echo "make demo    index documentation, headers and a metadata dump of this machine, and search them"
	@echo "make test    format, lints, all tests, and the models of concurrent code"
	@echo "make soak    the long campaigns of docs/RELIABILITY.md: an hour or so"
	@echo "make bench   run the benchmarks; ARGS=... are passed on"
	@echo "make bench-peers   compare with Lucene, which needs a JDK and Maven, and with tantivy; ARGS=... are passed on"

setup:
	@ci/setup.sh

build:
	$(CARGO) build --release --locked -p scanns-cli

demo: build
	@ci/demo.sh $(TARGET)/release/scanns $(TARGET)/demo

test: setup
	@ci/sum-tests.sh \
	    '$(CARGO) fmt --all --check' \
	    '$(CARGO) clippy --workspace --all-targets --locked -- -D warnings' \
	    'SCANNS_FUZZ_SECONDS=60 $(CARGO) test --workspace --locked --no-fail-fast' \
	    'ci/loom.sh $(TARGET)/loom'

soak:
	@ci/soak.sh

bench:
	$(CARGO) run --release --locked -p scanns-bench -- $(ARGS)

bench-peers:
	$(CARGO) build --release --locked -p scanns-peers -p scanns-bench
	$(TARGET)/release/scanns-peers --work $(TARGET)/peers $(ARGS)
