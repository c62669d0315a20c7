use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::*;
use crate::error::Error;
use crate::index::build::options::IndexOptions;
use crate::read::ReadOptions;
use crate::schema::Records;
use crate::source::{SourceOptions, collect};

fn options(files: &std::path::Path, scratch: &std::path::Path, records: Records) -> TuneOptions {
    let index = IndexOptions {
        source: SourceOptions { paths: vec![files.into()], ..SourceOptions::default() },
        read: ReadOptions { lanes: 2, ..ReadOptions::default() },
        records,
        memory: 1 << 30,
        merge: None,
        commit_every: None,
        ..IndexOptions::default()
    };
    TuneOptions { index, scratch: scratch.into(), budget: Duration::from_secs(3) }
}

fn files(count: usize) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for number in 0..count {
        let text: String = (0..400).map(|word| format!("word{} ", word * number % 977)).collect();
        fs::write(dir.path().join(format!("{number}.txt")), text + "\nlast line").unwrap();
    }
    dir
}

#[test]
fn tuning_a_small_tree_ends_in_a_profile_and_leaves_nothing_behind() {
    let (dir, scratch) = (files(150), tempfile::tempdir().unwrap());
    for records in [Records::File, Records::Lines] {
        let options = options(dir.path(), scratch.path(), records);
        let mut steps = Vec::new();
        let report = tune(&options, &mut |step| steps.push(step), &Arc::default()).unwrap();
        assert_eq!((report.inputs.0, report.sample, report.copied), (150, report.inputs, 0));
        let best = report.tuned.best;
        assert!(best == report.tuned.start || best == report.tuned.challenger, "{best:?}");
        // On a busy machine, the time may be over before anything was tried.
        assert!(report.tuned.rate(&report.tuned.start).is_none_or(|rate| rate > 0.0));
        assert_eq!(report.roofline.roofs.len(), 4);
        assert!(report.roofline.roofs.iter().all(|roof| roof.1 > 0.0 && roof.1.is_finite()), "{report:?}");
        assert!(report.device.small_file.is_some() && report.device.direct.is_empty());
        assert!(matches!(
            steps[..4],
            [TuneStep::Walking, TuneStep::Machine, TuneStep::Sampling, TuneStep::Devices]
        ));
        assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 0, "the scratch directory is gone");
    }
}

#[test]
fn stopping_is_an_error_and_leaves_nothing_behind() {
    let (dir, scratch) = (files(150), tempfile::tempdir().unwrap());
    let mut options = options(dir.path(), scratch.path(), Records::File);
    // Even on a busy machine, there is time to try something.
    options.budget = Duration::from_secs(100);
    let cancel = Arc::new(AtomicBool::new(false));
    let mut stop = |step| {
        if matches!(step, TuneStep::Trying { .. }) {
            cancel.store(true, Ordering::Relaxed);
        }
    };
    let stopped = tune(&options, &mut stop, &cancel);
    assert!(matches!(stopped, Err(Error::Cancelled)), "{stopped:?}");
    assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 0);
}

#[test]
fn nothing_to_tune_on_is_an_error_that_says_so() {
    let (dir, scratch) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fs::write(dir.path().join("empty"), "").unwrap();
    let options = options(dir.path(), scratch.path(), Records::File);
    let error = tune(&options, &mut |_| {}, &Arc::default()).unwrap_err().to_string();
    assert!(error.contains("not empty"), "{error}");
}

#[test]
fn a_large_file_is_sampled_in_stretches() {
    let (dir, scratch) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let line = "some words that repeat on every line\n";
    fs::write(dir.path().join("large"), line.repeat((40 << 20) / line.len())).unwrap();
    let options = options(dir.path(), scratch.path(), Records::Lines);
    let inputs = collect(&options.index.source, &AtomicBool::new(false)).unwrap().inputs;
    let trials = Trials::prepare(&inputs, 16 << 20, &options.index, scratch.path(), &Arc::default()).unwrap();
    assert!(trials.copied() == trials.bytes() && trials.bytes() <= 16 << 20 && trials.bytes() > 15 << 20);
    let trial = trials.run(&Profile::of(&options.index.read)).unwrap();
    assert_eq!(trial.bytes, trials.bytes());
    assert!(trial.written > 0 && trial.processor_seconds > 0.0);
}
