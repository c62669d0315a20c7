//! The processor: detection of its instruction sets, and prefetching.

/// The instruction sets that the hot loops are implemented for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Simd {
    /// Plain integer code, available on every machine.
    Scalar,
    /// x86-64 with AVX2, BMI and AES instructions.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// x86-64 with AVX-512 BW, VL and VBMI2, BMI and AES instructions.
    #[cfg(target_arch = "x86_64")]
    Avx512,
    /// aarch64 with NEON, which is always available there.
    #[cfg(target_arch = "aarch64")]
    Neon,
}

impl Simd {
    /// The best instruction set of this machine.
    pub fn detect() -> Simd {
        Simd::available().pop().unwrap_or(Simd::Scalar)
    }

    /// All instruction sets of this machine, the best one last.
    pub fn available() -> Vec<Simd> {
        #[cfg_attr(
            any(miri, not(any(target_arch = "x86_64", target_arch = "aarch64"))),
            expect(unused_mut, reason = "one set")
        )]
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

/// Runs a loop with the widest vectors of this machine. If `run` is inlined, it is compiled for each vector
/// width. It should own what it captures and return its result: behind references that might point at the
/// same numbers, loops are not compiled to vectors.
#[inline]
pub fn in_wide_vectors<R>(run: impl FnOnce() -> R) -> R {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,bmi1,bmi2,popcnt")]
        fn on_avx512<R>(run: impl FnOnce() -> R) -> R {
            run()
        }
        #[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
        fn on_avx2<R>(run: impl FnOnce() -> R) -> R {
            run()
        }
        match best() {
            // SAFETY: the processor was asked for these features.
            Best::Avx512 => return unsafe { on_avx512(run) },
            // SAFETY: as above.
            Best::Avx2 => return unsafe { on_avx2(run) },
            Best::Plain => {}
        }
    }
    run()
}

/// The alternatives of [`in_wide_vectors`].
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[derive(Clone, Copy)]
enum Best {
    Plain,
    Avx2,
    Avx512,
}

/// The best alternative on this machine; detected only once.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[inline]
fn best() -> Best {
    static FOUND: std::sync::OnceLock<Best> = std::sync::OnceLock::new();
    *FOUND.get_or_init(|| {
        let avx2 = is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("popcnt");
        let avx512 = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl");
        match (avx2, avx512) {
            (true, true) => Best::Avx512,
            (true, false) => Best::Avx2,
            _ => Best::Plain,
        }
    })
}

/// Prefetches the cache line at `at` for a read or write; a hint that never changes the behaviour of the
/// program.
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
