//! Early writing back of a file that is being written, so that the sync at the end finds little to do.

use std::fs::File;

/// Tells the kernel to start writing `len` bytes at `offset` of `file` to the medium.
///
/// Only a hint: it waits for nothing, and what fails shows at the sync that follows.
pub fn start_write_back(file: &File, offset: u64, len: u64) {
    #[cfg(target_os = "linux")]
    {
        use std::os::fd::AsRawFd;
        let (Ok(offset), Ok(len)) = (i64::try_from(offset), i64::try_from(len)) else { return };
        // SAFETY: the descriptor is open for the length of the call, which touches no memory of ours.
        unsafe { libc::sync_file_range(file.as_raw_fd(), offset, len, libc::SYNC_FILE_RANGE_WRITE) };
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (file, offset, len);
}
