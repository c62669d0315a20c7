//! Fuzzes the target `stored_values`, which `crates/scanns/src/fuzzing/mod.rs` describes.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    scanns::internals::fuzz("stored_values", data);
});
