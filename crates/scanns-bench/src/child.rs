//! Runs a command as a child process, and measures it.
//!
//! Processor time is the difference that the process makes in `/proc/self/stat`, which has the sum over all
//! children that have ended, in hundredths of a second: a single difference may be wrong by one of these, but
//! a mean over several processes is not too small. The peak of memory is read from `/proc/PID/status` again
//! and again while the process runs, so only a peak in its last moment can be missed.

use std::ffi::OsString;
use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

/// What a process took.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cost {
    /// Seconds from its start to its end.
    pub wall: f64,
    /// Seconds of processor time of all its threads, in the system too.
    pub processor: f64,
    /// The peak of its resident memory in bytes, pages of files that it maps among them.
    pub memory: u64,
    /// The same without pages of files.
    pub own: u64,
}

/// A process that has ended.
#[derive(Debug)]
pub struct Ran {
    /// The exit code, unless a signal ended it.
    pub code: Option<i32>,
    /// What it wrote, if it was asked for.
    pub output: Vec<u8>,
    /// What it wrote to standard error.
    pub errors: String,
    /// What it took.
    pub cost: Cost,
}

/// Writes what the process reads.
pub type Input<'i> = Box<dyn FnOnce(&mut ChildStdin) -> std::io::Result<()> + Send + 'i>;

/// Runs a command to its end, in the locale `C`, in which names of files are bytes.
///
/// # Errors
/// If it cannot be run, or its input cannot be written.
pub fn run(program: &Path, words: &[OsString], input: Option<Input<'_>>, keep: bool) -> Result<Ran> {
    let begin = Instant::now();
    let mut child = Command::new(program)
        .args(words)
        .env("LC_ALL", "C")
        .stdin(if input.is_some() { Stdio::piped() } else { Stdio::null() })
        .stdout(if keep { Stdio::piped() } else { Stdio::null() })
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| format!("cannot run {}", program.display()))?;
    let (mut stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let (written, output, errors, cost) = std::thread::scope(|scope| {
        let writer = scope.spawn(move || match (input, &mut stdin) {
            (Some(input), Some(pipe)) => input(pipe).and_then(|()| pipe.flush()),
            _ => Ok(()),
        });
        let output = scope.spawn(|| read(stdout));
        let errors = scope.spawn(|| read(stderr));
        let cost = watch(&child, begin);
        (writer.join(), output.join(), errors.join(), cost)
    });
    let failed = |_| anyhow::anyhow!("a thread failed");
    let before = children_ticks()?;
    let ended = child.wait()?;
    #[expect(clippy::cast_precision_loss, reason = "hundredths of a second")]
    let processor = (children_ticks()? - before) as f64 / 100.0;
    let errors = String::from_utf8_lossy(&errors.map_err(failed)??).into_owned();
    match written.map_err(failed)? {
        // The errors of the process say why it did not read to the end.
        Err(error) if error.kind() != ErrorKind::BrokenPipe => return Err(error.into()),
        _ => {}
    }
    Ok(Ran {
        code: ended.code(),
        output: output.map_err(failed)??,
        errors,
        cost: Cost { processor, ..cost? },
    })
}

fn read(pipe: Option<impl Read>) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    pipe.map_or(Ok(0), |mut pipe| pipe.read_to_end(&mut bytes))?;
    Ok(bytes)
}

/// Waits until the process ends, and leaves it to be waited for.
fn watch(child: &Child, begin: Instant) -> Result<Cost> {
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw).context("a process without number")?;
    let ended = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let peaks = scope.spawn(|| peaks(child.id(), begin, &ended));
        let waited = waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT);
        let wall = begin.elapsed().as_secs_f64();
        ended.store(true, Ordering::Relaxed);
        let (memory, own) = peaks.join().map_err(|_| anyhow::anyhow!("a thread failed"))?;
        waited?;
        Ok(Cost { wall, processor: 0.0, memory, own })
    })
}

/// The peak of the resident memory of a process, with and without pages of files, until it has ended.
fn peaks(process: u32, begin: Instant, ended: &AtomicBool) -> (u64, u64) {
    let status = format!("/proc/{process}/status");
    let (mut memory, mut own) = (0, 0);
    while !ended.load(Ordering::Relaxed) {
        let text = fs::read_to_string(&status).unwrap_or_default();
        memory = memory.max(bytes(&text, "VmHWM:").unwrap_or(0));
        own = own.max(bytes(&text, "RssAnon:").unwrap_or(0));
        // Long processes are asked less often.
        std::thread::sleep(
            (begin.elapsed() / 50).clamp(Duration::from_micros(200), Duration::from_millis(20)),
        );
    }
    (memory, own)
}

/// The processor time of all children that have ended.
fn children_ticks() -> Result<u64> {
    let text = fs::read_to_string("/proc/self/stat")?;
    ticks(&text).with_context(|| format!("no times in '{text}'"))
}

/// An amount of memory in the text of `status`.
fn bytes(status: &str, name: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    Some(line.trim().strip_suffix(" kB")?.parse::<u64>().ok()? << 10)
}

/// The processor time of children in the text of `stat`: the fields 16 and 17. The second one is the name of
/// the program, which may contain blanks and parentheses.
fn ticks(stat: &str) -> Option<u64> {
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(13);
    Some(fields.next()?.parse::<u64>().ok()? + fields.next()?.parse::<u64>().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, input: Option<Input<'_>>) -> Ran {
        run(Path::new("/bin/sh"), &["-c".into(), script.into()], input, true).unwrap()
    }

    #[test]
    fn a_process_is_measured_with_its_input_and_output() {
        let work = "while read line; do echo \"got $line\"; done; i=0; while [ $i -lt 200000 ]; do \
            i=$((i+1)); done; sleep 0.1; echo bad >&2; exit 3";
        let ran = shell(work, Some(Box::new(|pipe| pipe.write_all(b"one\ntwo\n"))));
        assert_eq!((ran.code, ran.errors.as_str()), (Some(3), "bad\n"));
        assert_eq!(ran.output, b"got one\ngot two\n");
        let Cost { wall, processor, memory, own } = ran.cost;
        // Other tests have children, too.
        assert!(wall >= 0.1 && processor > 0.01, "{:?}", ran.cost);
        assert!((200 << 10..100 << 20).contains(&memory) && own > 0 && own < memory, "{:?}", ran.cost);
    }

    #[test]
    fn a_process_that_does_not_read_its_input_says_why() {
        let ran = shell("echo no >&2; exit 1", Some(Box::new(|pipe| pipe.write_all(&[0; 1 << 20]))));
        assert_eq!((ran.code, ran.errors.as_str()), (Some(1), "no\n"));
    }

    #[test]
    fn times_are_read_behind_the_name_of_the_program() {
        assert_eq!(ticks("7 (a) b) c) S 1 2 3 4 5 6 7 8 9 10 11 12 30 12 0"), Some(42));
        assert_eq!(ticks("7"), None);
        assert_eq!(bytes("VmPeak: 9 kB\nVmHWM:\t   12 kB\n", "VmHWM:"), Some(12 << 10));
    }
}
