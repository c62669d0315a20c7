//! Fuzzes the target `logs`, which `crates/scanns/src/fuzzing/mod.rs` describes.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    scanns::internals::fuzz("logs", data);
});
