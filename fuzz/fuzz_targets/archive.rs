//! Fuzzes the target `archive`, which `crates/scanns/src/fuzzing/mod.rs` describes.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    scanns::internals::fuzz("archive", data);
});
