#!/usr/bin/env bash
# The long campaigns against power cuts, failing calls, full disks, damage, kill -9, ten million queries of any kind,
# and thousands of expressions of find and sums of du beside GNU's, and the worst clients of a server: up to a thousand
# seeds where seeds matter, all there is to try elsewhere. Takes three and a half hours or so on two cores.
# SCANNS_SEED is the first seed; arguments go to the tests.
set -euo pipefail
cd "$(dirname "$0")/.."
export SCANNS_LONG=1
cargo test --locked -p scanns --test durability -- --nocapture "$@"
cargo test --locked --release -p scanns --lib record::dump -- --nocapture
cargo test --locked --release -p scanns --test fuzz -- --nocapture "$@"
ci/aarch64.sh "${CARGO_TARGET_DIR:-target}/aarch64"
cargo test --locked -p scanns-cli --test kill -- --nocapture "$@"
cargo test --locked -p scanns-cli --test plan -- --nocapture "$@"
ci/slurm.sh
ci/free-threaded.sh "${CARGO_TARGET_DIR:-target}/free-threaded"
ci/wheel.sh "${CARGO_TARGET_DIR:-target}/wheel-test"
cargo test --locked --release -p scanns-cli --test gnu -- --nocapture "$@"
ci/python.sh -k dask
cargo build --locked --release -p scanns-cli
ci/serve.sh "${CARGO_TARGET_DIR:-target}/release/scanns"
ci/serve.sh "${CARGO_TARGET_DIR:-target}/release/scanns" --soak 3600
