//! Each call fails once, in each way. The result is a typed error or no harm, the previous commit is intact,
//! and no file is left behind.

use fastrand::Rng;
use scanns::store::{CallKind, Fault, FaultDirectory};
use scanns::{Error, Snapshot};

use crate::model::{Script, no_file_is_left_over};
use crate::{long, seeds};

/// The outcomes of the runs.
#[derive(Debug, Default)]
struct Counts {
    errors: u64,
    no_harm: u64,
}

#[test]
fn each_call_may_fail_once_in_each_way() {
    let mut counts = Counts::default();
    let range = seeds(3, 60);
    println!("seeds {range:?}");
    for seed in range {
        let mut random = Rng::with_seed(seed);
        let script = Script::random(seed, 9);
        let before = FaultDirectory::new();
        for step in 0..script.steps.len() {
            let base = FaultDirectory::with_files(&before).unwrap();
            let begin = before.call_count();
            script.run(&before, step).unwrap();
            for call in 0..before.call_count() - begin {
                for fault in Fault::ALL {
                    if long() || random.usize(..4) == 0 {
                        let what = format!("seed {seed} step {step}");
                        fail(&script, step, &base, &FailingCall { call, fault, what }, &mut counts);
                    }
                }
            }
        }
    }
    println!("{counts:?}, 0 wrong");
    assert!(counts.errors > counts.no_harm / 4, "the faults are not where the calls are: {counts:?}");
}

/// A failing call: its step, its number in the step from 0, the fault, and a description for messages.
struct FailingCall {
    call: u64,
    fault: Fault,
    what: String,
}

/// Runs a step while one call fails, and then again.
fn fail(script: &Script, step: usize, base: &FaultDirectory, failing: &FailingCall, counts: &mut Counts) {
    let &FailingCall { call, fault, ref what } = failing;
    let directory = FaultDirectory::with_files(base).unwrap();
    directory.fail_at(call, fault);
    let outcome = script.run(&directory, step);
    let calls = directory.calls();
    // Threads interleave differently each time, and not every run makes the same number of calls.
    let Some(failed) = calls.get(usize::try_from(call).unwrap()) else { return };
    let what = format!("{what} {:?}, {fault:?} at call {call}, {failed:?}", script.steps[step]);
    let Err(error) = outcome else {
        counts.no_harm += 1;
        script.check(&directory, &[step + 1], &what);
        return;
    };
    counts.errors += 1;
    assert!(matches!(error, Error::Io { .. } | Error::Corrupt { .. }), "{what}: {error:?}");
    // As soon as the manifest has its name, the commit may be visible.
    let renamed = calls.iter().zip(0..).any(|(made, number)| {
        made.kind == CallKind::Rename && (number < call || (number == call && fault == Fault::LostReply))
    });
    let allowed = match renamed {
        true if script.commits_often => vec![step, step + 1],
        true => vec![step + 1],
        false => vec![step],
    };
    script.check(&directory, &allowed, &format!("{what}: {error}"));
    // A call that fails once during the removal of files may leave one file; the next commit removes it.
    if !renamed && failed.kind != CallKind::Remove {
        no_file_is_left_over(&directory, &format!("{what}: {error}"));
    }
    script.run(&directory, step).unwrap_or_else(|error| panic!("{what}, then: {error}"));
    script.check(&directory, &[step + 1], &what);
    no_file_is_left_over(&directory, &what);
}

#[test]
fn each_call_of_a_reader_may_fail_once_in_each_way() {
    let script = Script::random(7, 9);
    let directory = FaultDirectory::new();
    (0..script.steps.len()).for_each(|step| script.run(&directory, step).unwrap());
    let begin = directory.call_count();
    Snapshot::open_in(&directory).unwrap();
    let mut counts = Counts::default();
    for call in 0..directory.call_count() - begin {
        for fault in Fault::ALL {
            let what = format!("{fault:?} at call {call}");
            directory.fail_at(directory.call_count() + call, fault);
            match Snapshot::open_in(&directory) {
                Err(Error::Io { .. } | Error::Corrupt { .. }) => counts.errors += 1,
                Err(error) => panic!("{what}: {error:?}"),
                Ok(opened) => {
                    assert!(opened.is_some(), "{what}: the index is gone");
                    counts.no_harm += 1;
                }
            }
            script.check(&directory, &[script.steps.len()], &what);
        }
    }
    println!("{counts:?}, 0 wrong");
}
