//! Fuzzes the target `plan`, which `crates/scanns/src/fuzzing/mod.rs` describes.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    scanns::internals::fuzz("plan", data);
});
