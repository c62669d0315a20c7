//! Chooses the code of an instruction set at run time.

/// Evaluates `$call` with `I` as the type of the instruction set `$simd`.
macro_rules! with_isa {
    ($simd:expr, $I:ident => $call:expr) => {
        match $simd {
            #[cfg(target_arch = "x86_64")]
            $crate::sys::Simd::Avx512 => {
                type $I = $crate::invert::arch::x86::Avx512;
                #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi2,avx2,aes,bmi1,bmi2,popcnt")]
                unsafe fn on<R>(run: impl FnOnce() -> R) -> R {
                    run()
                }
                // SAFETY: `Simd::available` gave this value only after the features were detected.
                unsafe {
                    on(
                        #[inline(always)]
                        || $call,
                    )
                }
            }
            #[cfg(target_arch = "x86_64")]
            $crate::sys::Simd::Avx2 => {
                type $I = $crate::invert::arch::x86::Avx2;
                #[target_feature(enable = "avx2,aes,bmi1,bmi2,popcnt")]
                unsafe fn on<R>(run: impl FnOnce() -> R) -> R {
                    run()
                }
                // SAFETY: as above.
                unsafe {
                    on(
                        #[inline(always)]
                        || $call,
                    )
                }
            }
            _ => {
                type $I = $crate::invert::arch::portable::Portable;
                // SAFETY: the portable code needs no instructions beyond the base.
                unsafe { $call }
            }
        }
    };
}

pub(super) use with_isa;
