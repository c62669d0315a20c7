//! The priority of this process.

use std::io;

/// Gives this thread, and the threads that it starts from now on, the lowest priority for processors (nice
/// 19), from which Linux derives the lowest ordinary priority for disks. Returns the nice value.
///
/// # Errors
/// The error of the system.
pub fn lower_priority() -> io::Result<i32> {
    Ok(rustix::process::nice(19)?)
}
