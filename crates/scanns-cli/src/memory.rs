//! Memory that runs out: a message and exit code 2, instead of an abort.
//!
//! Large allocations of the library are fallible, and their errors say what the memory was for. Any other
//! allocation that is refused makes Rust abort the process, with SIGABRT and without a hint. This cannot be
//! prevented in safe, stable Rust, but what is committed is safe however the process ends, so it only has to
//! end better. [`Watched`] is the allocator of the system; it notes in the current thread that an allocation
//! was refused. The handler of SIGABRT, which runs in the thread that aborts, looks at this note: an abort
//! for any other reason goes on. Allocations by `try_reserve` note it too, but do not abort.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::fs::File;
use std::io::Write;
use std::mem::ManuallyDrop;
use std::os::fd::FromRawFd;
use std::sync::OnceLock;

use signal_hook::consts::SIGABRT;
use signal_hook::low_level;

use crate::units;

#[global_allocator]
static ALLOCATOR: Watched = Watched;

/// The allocator of the system, which notes refusals.
struct Watched;

thread_local! {
    /// Whether an allocation of this thread was refused. Reading it neither allocates nor registers a
    /// destructor, so a handler of signals may do so.
    static REFUSED: Cell<bool> = const { Cell::new(false) };
}

/// The message, made while there is memory.
static MESSAGE: OnceLock<String> = OnceLock::new();

/// What panics say if the system refuses memory: of the standard library to a new thread, and of zstd.
const PANICS: [&str; 4] =
    ["alternative stack", "guard page", "failed to spawn thread", "null pointer when creating"];

#[cold]
fn refused(memory: *mut u8) -> *mut u8 {
    // A thread that ends may have no such variable any more.
    let _ = REFUSED.try_with(|refused| refused.set(true));
    memory
}

#[inline(always)]
fn noted(memory: *mut u8) -> *mut u8 {
    if memory.is_null() { refused(memory) } else { memory }
}

// SAFETY: every call is passed on to the allocator of the system, with the same arguments, and its result is
// returned unchanged.
unsafe impl GlobalAlloc for Watched {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract of `GlobalAlloc::alloc`.
        noted(unsafe { System.alloc(layout) })
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract of `GlobalAlloc::alloc_zeroed`.
        noted(unsafe { System.alloc_zeroed(layout) })
    }

    #[inline]
    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller keeps the contract of `GlobalAlloc::realloc`.
        noted(unsafe { System.realloc(memory, layout, size) })
    }

    #[inline]
    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the memory came from `System` with this layout.
        unsafe { System.dealloc(memory, layout) }
    }
}

/// Prepares for memory that runs out.
pub fn begin() {
    let limit = scanns::tuning::address_space_limit();
    if limit.is_some() {
        share_arena();
        touch_stack();
    }
    MESSAGE.get_or_init(|| {
        let limit = match limit {
            Some(limit) => format!(
                "at most {} of address space are allowed (ulimit -v): raise the limit",
                units::size(limit)
            ),
            None => "the system has no more: free some".into(),
        };
        format!(
            "scanns: out of memory: {limit}, or do less at a time, with fewer --threads and a smaller \
             --memory; what is committed is intact\n"
        )
    });
    // SAFETY: the handler neither allocates nor locks: it reads variables, writes to a file descriptor and
    // ends the process.
    let _ = unsafe { low_level::register(SIGABRT, on_abort) };
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let payload = panic.payload();
        let text = payload.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or_default();
        if PANICS.iter().any(|known| text.contains(known)) {
            end();
        }
        // A panic is a bug, and its abort is not about memory.
        let _ = REFUSED.try_with(|refused| refused.set(false));
        usual(panic);
    }));
}

/// Ends the process if the current thread aborts because it got no memory.
fn on_abort() {
    if REFUSED.try_with(Cell::get).unwrap_or(false) {
        end();
    }
}

/// Says that there is no memory, and ends the process without running anything else.
fn end() -> ! {
    if let Some(message) = MESSAGE.get() {
        // SAFETY: the descriptor is not closed, since the file is never dropped.
        let mut stderr = ManuallyDrop::new(unsafe { File::from_raw_fd(2) });
        let _ = stderr.write_all(message.as_bytes());
    }
    low_level::exit(2)
}

/// Makes all threads use one arena. By default the C library reserves 64 MiB of address space for each
/// thread, which a limit counts although hardly any of it is used.
#[cfg(target_env = "gnu")]
fn share_arena() {
    /// `M_ARENA_MAX` of `malloc.h`.
    const ARENA_MAX: i32 = -8;
    unsafe extern "C" {
        fn mallopt(parameter: i32, value: i32) -> i32;
    }
    // SAFETY: this sets a parameter of the allocator; a refusal changes nothing.
    let _ = unsafe { mallopt(ARENA_MAX, 1) };
}

#[cfg(not(target_env = "gnu"))]
fn share_arena() {}

/// Makes the stack of the main thread grow now. If it could not grow later, the process would end with a
/// segmentation fault.
#[inline(never)]
fn touch_stack() {
    let mut stack = [0u8; 512 << 10];
    std::hint::black_box(&mut stack);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_allocator_gives_what_the_allocator_of_the_system_gives() {
        for size in [1, 7, 4096, 1 << 20] {
            let layout = Layout::from_size_align(size, 16).unwrap();
            let larger = Layout::from_size_align(2 * size, 16).unwrap();
            for allocator in [&ALLOCATOR as &dyn GlobalAlloc, &System] {
                // SAFETY: the sizes are not zero, the memory is as large as what is read and written of it,
                // and each layout is the one of the last allocation.
                let (zeros, bytes) = unsafe {
                    let zeroed = allocator.alloc_zeroed(layout);
                    let zeros = std::slice::from_raw_parts(zeroed, size).iter().all(|byte| *byte == 0);
                    allocator.dealloc(zeroed, layout);
                    let memory = allocator.alloc(layout);
                    memory.write_bytes(7, size);
                    let memory = allocator.realloc(memory, layout, 2 * size);
                    let bytes = std::slice::from_raw_parts(memory, size).to_vec();
                    allocator.dealloc(memory, larger);
                    (zeros, bytes)
                };
                assert!(zeros && bytes == vec![7; size]);
            }
        }
    }

    #[test]
    fn a_refusal_is_noted_and_remains_an_error() {
        assert!(!REFUSED.get());
        assert!(Vec::<u8>::new().try_reserve(isize::MAX as usize).is_err());
        assert!(REFUSED.get());
    }
}
