//! Starts writing back a file while it is being written, so that the final sync has little left to do.

use std::fs::File;

/// Tells the kernel to start writing `len` bytes at `offset` of `file` to the medium.
///
/// Only a hint: it does not wait, and an error is reported by the later sync.
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
