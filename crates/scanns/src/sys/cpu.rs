//! The processor: which instructions it has, and how to ask it for memory ahead of use.

/// The instruction sets that the hot loops are written for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Simd {
    /// Plain integer code, on every machine.
    Scalar,
    /// x86-64 with AVX2, BMI and AES instructions.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// x86-64 with AVX-512 BW, VL and VBMI2, BMI and AES instructions.
    #[cfg(target_arch = "x86_64")]
    Avx512,
    /// aarch64 with NEON, which all of them have.
    #[cfg(target_arch = "aarch64")]
    Neon,
}

impl Simd {
    /// The best set of this machine.
    pub fn detect() -> Simd {
        Simd::available().pop().unwrap_or(Simd::Scalar)
    }

    /// All sets of this machine, the best last.
    pub fn available() -> Vec<Simd> {
        let mut sets = vec![Simd::Scalar];
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        {
            let base = is_x86_feature_detected!("bmi1")
                && is_x86_feature_detected!("bmi2")
                && is_x86_feature_detected!("popcnt")
                && is_x86_feature_detected!("aes");
            if base && is_x86_feature_detected!("avx2") {
                sets.push(Simd::Avx2);
            }
            if base
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512vl")
                && is_x86_feature_detected!("avx512vbmi2")
            {
                sets.push(Simd::Avx512);
            }
        }
        #[cfg(all(target_arch = "aarch64", not(miri)))]
        sets.push(Simd::Neon);
        sets
    }
}

/// Asks for the cache line at `at` ahead of a read or write; a hint without effect on what the program does.
#[inline(always)]
pub fn prefetch<T>(at: *const T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch never faults, whatever the address.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(at.cast());
    }
    #[cfg(all(target_arch = "aarch64", not(miri)))]
    // SAFETY: a prefetch never faults, whatever the address.
    unsafe {
        std::arch::asm!("prfm pldl1keep, [{0}]", in(reg) at, options(nostack, preserves_flags, readonly));
    }
    #[cfg(not(any(target_arch = "x86_64", all(target_arch = "aarch64", not(miri)))))]
    let _ = at;
}
