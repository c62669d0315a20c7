//! Fuzzes the target `html`, which `crates/scanns/src/fuzzing/mod.rs` describes.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    scanns::internals::fuzz("html", data);
});
