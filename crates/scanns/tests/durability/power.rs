//! Power cuts: after each, the index has the last acknowledged commit, or the commit that was in progress.

use fastrand::Rng;
use scanns::Result;
use scanns::store::{Bytes, CallKind, Directory, Fault, FaultDirectory, Output, WriterLock};
use std::io::{self, Write};

use crate::model::{Script, no_file_is_left_over};
use crate::{long, seeds};

const STEPS: usize = 9;

/// The number of the first call of each step, and the total number of calls.
fn run(script: &Script, directory: &FaultDirectory) -> Vec<u64> {
    let mut begins = vec![directory.call_count()];
    for step in 0..script.steps.len() {
        script.run(directory, step).unwrap();
        begins.push(directory.call_count());
    }
    begins
}

/// The states that are possible after a power cut before `call`.
fn allowed(begins: &[u64], call: u64) -> Vec<usize> {
    let done = begins.partition_point(|&begin| begin <= call).saturating_sub(1);
    if begins[done] == call { vec![done] } else { vec![done, done + 1] }
}

#[test]
fn after_a_power_cut_at_any_call_the_last_commit_is_there() {
    let (mut cuts, mut states) = (0, 0);
    let range = seeds(12, 1000);
    println!("seeds {range:?}");
    for seed in range {
        let script = Script::random(seed, STEPS);
        let directory = FaultDirectory::new();
        let begins = run(&script, &directory);
        let calls = directory.calls();
        for (call, number) in calls.iter().zip(0..) {
            // Near syncs and renames, the content of the medium has several possibilities.
            let sharp = matches!(call.kind, CallKind::Sync | CallKind::Rename | CallKind::Finish);
            for cut in [number, number + 1] {
                cuts += u64::from(sharp);
                for medium in 0..if sharp { 4 } else { 1 } {
                    let what =
                        format!("seed {seed} power cut at call {cut} after {call:?} of {begins:?}, {medium}");
                    let left = directory.after_power_cut_at(cut, seed.wrapping_mul(31) + medium);
                    script.check(&left, &allowed(&begins, cut), &what);
                    states += 1;
                }
            }
        }
    }
    println!("{cuts} power cuts at a sync or rename, {states} media looked at, 0 wrong");
}

#[test]
fn what_a_power_cut_leaves_can_be_written_to() {
    let mut count = 0;
    for seed in seeds(4, 300) {
        let script = Script::random(seed, STEPS);
        let directory = FaultDirectory::new();
        let begins = run(&script, &directory);
        let mut random = Rng::with_seed(seed);
        for cut in 0..directory.call_count() {
            if !long() && random.usize(..8) > 0 {
                continue;
            }
            let what = format!("seed {seed} power cut at call {cut} of {begins:?}");
            let left = directory.after_power_cut_at(cut, random.u64(..));
            let state = script.check(&left, &allowed(&begins, cut), &what);
            if state < STEPS {
                script.run(&left, state).unwrap_or_else(|error| panic!("{what}: {error}"));
                script.check(&left, &[state + 1], &what);
                no_file_is_left_over(&left, &what);
                count += 1;
            }
        }
    }
    println!("{count} power cuts after which the index was changed, 0 wrong");
}

/// A program without power sees failing calls before its end.
#[test]
fn a_program_that_loses_its_disk_ends_with_an_error() {
    let mut count = 0;
    for seed in seeds(2, 100) {
        let script = Script::random(seed, STEPS);
        let directory = FaultDirectory::new();
        let begins = run(&script, &directory);
        let mut random = Rng::with_seed(seed);
        for cut in 0..directory.call_count() {
            if !long() && random.usize(..6) > 0 {
                continue;
            }
            let directory = FaultDirectory::new();
            directory.cut_power_at(cut);
            let done = (0..STEPS).take_while(|&step| script.run(&directory, step).is_ok()).count();
            // An acknowledged step is durable; the step that failed may be.
            let what = format!("seed {seed} power off from call {cut} of {begins:?}");
            let allowed: Vec<usize> = (done..=STEPS.min(done + 1)).collect();
            script.check(&directory.after_power_cut(random.u64(..)), &allowed, &what);
            count += 1;
        }
    }
    println!("{count} runs without power, 0 wrong");
}

/// A commit that failed may be visible before it is durable; a later commit must make it durable.
#[test]
fn what_is_acknowledged_after_a_commit_that_failed_survives_a_power_cut() {
    let mut count = 0;
    for seed in seeds(2, 100) {
        let script = Script::random(seed, STEPS);
        let directory = FaultDirectory::new();
        run(&script, &directory);
        for (call, number) in directory.calls().iter().zip(0..) {
            if !matches!(call.kind, CallKind::Sync | CallKind::Rename) {
                continue;
            }
            for fault in [Fault::Io, Fault::LostReply] {
                let directory = FaultDirectory::new();
                directory.fail_at(number, fault);
                fail_once_and_cut(
                    &script,
                    &directory,
                    &format!("seed {seed} {fault:?} at call {number}, {call:?}"),
                );
                count += 1;
            }
        }
    }
    println!("{count} runs with a fault and a power cut at each sync and rename after it, 0 wrong");
}

/// Runs the script with one step that fails and is repeated, and checks the content after power cuts.
fn fail_once_and_cut(script: &Script, directory: &FaultDirectory, what: &str) {
    let mut begins = vec![0];
    let mut failed = None;
    for step in 0..script.steps.len() {
        if script.run(directory, step).is_err() {
            assert!(failed.is_none(), "{what}: step {step} failed without a fault");
            failed = Some(step);
            script.run(directory, step).unwrap_or_else(|error| panic!("{what}: {error}"));
        }
        begins.push(directory.call_count());
        // One step after the failed step is enough.
        if failed.is_some_and(|failed| failed < step) {
            break;
        }
    }
    let Some(failed) = failed else { return };
    for (call, number) in directory.calls().iter().zip(0..) {
        if number < begins[failed]
            || !matches!(call.kind, CallKind::Sync | CallKind::Rename | CallKind::Remove)
        {
            continue;
        }
        for medium in 0..3 {
            let what = format!("{what}, power cut after call {number}, {call:?}, medium {medium}");
            let left = directory.after_power_cut_at(number + 1, medium);
            script.check(&left, &allowed(&begins, number + 1), &what);
        }
    }
    let left = directory.after_power_cut(1);
    assert_eq!(script.check(&left, &[begins.len() - 1], what), begins.len() - 1);
    assert!(left.list().is_ok());
}

/// A canary: a directory that ignores one kind of sync.
#[derive(Clone, Debug)]
struct Forgetful {
    directory: FaultDirectory,
    left_out: CallKind,
}

struct ForgetfulOutput(Box<dyn Output>);

impl Write for ForgetfulOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl Output for ForgetfulOutput {
    fn finish(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}

impl Directory for Forgetful {
    fn create(&self, name: &str) -> Result<Box<dyn Output>> {
        let output = self.directory.create(name)?;
        Ok(if self.left_out == CallKind::Finish { Box::new(ForgetfulOutput(output)) } else { output })
    }

    fn open(&self, name: &str) -> Result<Bytes> {
        self.directory.open(name)
    }

    fn rename(&self, from: &str, to: &str) -> Result<()> {
        self.directory.rename(from, to)
    }

    fn remove(&self, name: &str) -> Result<()> {
        self.directory.remove(name)
    }

    fn list(&self) -> Result<Vec<String>> {
        self.directory.list()
    }

    fn sync(&self) -> Result<()> {
        if self.left_out == CallKind::Sync { Ok(()) } else { self.directory.sync() }
    }

    fn lock(&self) -> Result<WriterLock> {
        self.directory.lock()
    }

    fn describe(&self) -> String {
        self.directory.describe()
    }
}

#[test]
fn a_sync_that_is_left_out_is_found() {
    for left_out in [CallKind::Sync, CallKind::Finish] {
        let script = Script::random(1, STEPS);
        let directory = Forgetful { directory: FaultDirectory::new(), left_out };
        (0..STEPS).for_each(|step| script.run(&directory, step).unwrap());
        let lost = |seed: &u64| script.find(&directory.directory.after_power_cut(*seed), &[STEPS]).is_err();
        let lost = (0..100).filter(lost).count();
        println!("{lost} of 100 power cuts lose the last commit without {left_out:?}");
        assert!(lost > 10, "{left_out:?}: {lost}");
    }
}
