//! The process that converts one table: the file is its standard input, and the lines go to its standard
//! output, a pipe.
//!
//! Remarks go to standard error, and the exit status should be 0; an error goes there, and it should be 1.
//! When the other end of the pipe closes, the process ends, even while a parser hangs.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::thread;

use rustix::event::{PollFd, PollFlags, poll};

use super::error::RowsError;
use super::to_json_lines::{RowsWritten, write_rows};
use crate::child::{Written, confine, limit_memory};

/// The watching thread only waits.
const STACK: usize = 64 << 10;

/// Confines this process, and converts the table at standard input with at most `memory` bytes of address
/// space. False if not all rows could be written; the reason is then written to standard error.
///
/// # Errors
/// The process cannot be set up.
pub fn convert_rows(memory: u64) -> io::Result<bool> {
    confine(Written::Nothing);
    let input: OwnedFd = io::stdin().as_fd().try_clone_to_owned()?;
    let output: OwnedFd = io::stdout().as_fd().try_clone_to_owned()?;
    watch(output.try_clone()?)?;
    limit_memory(memory)?;
    let result = write_rows(File::from(input), &mut File::from(output));
    let mut messages = io::stderr();
    Ok(match result {
        // Nobody reads any more.
        Err(RowsError::Output(_)) => false,
        Err(error) => {
            writeln!(messages, "{error}")?;
            false
        }
        Ok(written) => {
            if let Some(remark) = remark(&written) {
                writeln!(messages, "{remark}")?;
            }
            true
        }
    })
}

/// What was left out, in words.
fn remark(written: &RowsWritten) -> Option<String> {
    let RowsWritten { not_finite, not_text, .. } = *written;
    let parts = [
        (not_finite, "numbers that are infinite or not a number"),
        (not_text, "values of bytes that are not UTF-8"),
    ];
    let parts: Vec<String> =
        parts.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")).collect();
    (!parts.is_empty()).then(|| format!("left out: {}", parts.join(", ")))
}

/// Starts a thread that ends the process when nobody reads the pipe any more.
fn watch(pipe: OwnedFd) -> io::Result<()> {
    thread::Builder::new().name("watch".to_owned()).stack_size(STACK).spawn(move || {
        loop {
            match poll(&mut [PollFd::new(&pipe, PollFlags::empty())], None) {
                Ok(0) | Err(rustix::io::Errno::INTR) => {}
                _ => std::process::exit(1),
            }
        }
    })?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_remark_counts_what_was_left_out() {
        let written = RowsWritten { rows: 9, not_finite: 2, not_text: 0, ..RowsWritten::default() };
        let text = remark(&written).unwrap();
        assert_eq!(text, "left out: 2 numbers that are infinite or not a number");
        assert_eq!(remark(&RowsWritten::default()), None);
    }
}
