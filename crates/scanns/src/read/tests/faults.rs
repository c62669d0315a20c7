//! Inputs that changed since they were listed, and readers or lanes that stop early.

use std::io::Write;
use std::sync::atomic::Ordering;

use rustix::fs::{CWD, FileType, Mode};

use super::*;
use crate::error::Error;
use crate::read::block::{Buffer, CARRY};
use crate::read::driver::{ReaderDriver, spawn};
use crate::read::queue::DualQueue;
use crate::read::reader::{LaneState, ReaderThread};
use crate::read::wave::Rules;
use crate::read::work::WorkList;
use crate::sys::{BlockMemory, PAGE};

fn whitespace() -> Analyzer {
    Analyzer::parse("whitespace").unwrap()
}

#[test]
fn paths_that_are_not_regular_files_fail_alone_and_by_name() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    rustix::fs::mknodat(CWD, at("fifo"), FileType::Fifo, Mode::RWXU, 0).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
    fs::create_dir(at("directory")).unwrap();
    fs::write(at("good"), "good").unwrap();
    let names = ["fifo", "good", "socket", "directory", "vanished", "good"];
    let paths: Vec<_> = names.iter().map(|name| at(name)).collect();
    let inputs = inputs(&paths.iter().map(|path| path.as_path()).collect::<Vec<_>>());
    for records in [Records::File, Records::Lines] {
        let run = run(&inputs, records, &whitespace(), &small_blocks(1));
        let pieces: Vec<_> = run.lanes[0].iter().map(|seen| (seen.piece.input, seen.piece.failed)).collect();
        assert_eq!(pieces, [(0, true), (1, false), (2, true), (3, true), (4, true), (5, false)]);
        let failed: Vec<_> = run.report.failures.iter().map(|failure| failure.path.clone()).collect();
        assert_eq!(failed, [0, 2, 3, 4].map(|i| paths[i].clone()));
        assert_eq!((run.report.bytes, run.files_done), (8, 6));
    }
}

#[test]
fn an_unreadable_file_is_a_failure() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("closed");
    fs::write(&path, "text").unwrap();
    rustix::fs::chmod(&path, Mode::empty()).unwrap();
    if fs::read(&path).is_ok() {
        return; // this user may read everything
    }
    let run = run(&inputs(&[&path]), Records::File, &whitespace(), &small_blocks(1));
    assert!(run.report.failures[0].reason.contains("ermission"));
}

#[test]
fn a_file_that_grew_after_it_was_listed_is_read_to_its_end() {
    let dir = crate::sys::disk_dir();
    let path = dir.path().join("file");
    let text = "line of text\n".repeat(20_000);
    for records in [Records::File, Records::Lines] {
        for listed in [0, 1, 13, 5_000, 100_000, 259_999] {
            fs::write(&path, &text[..listed]).unwrap();
            let inputs = inputs(&[&path]);
            fs::write(&path, &text).unwrap();
            let run = run(&inputs, records, &whitespace(), &small_blocks(2));
            let mut seen: Vec<_> = run.lanes.iter().flatten().collect();
            seen.sort_by_key(|seen| seen.piece.offset);
            let bytes: Vec<u8> = seen.iter().flat_map(|seen| seen.bytes.clone()).collect();
            assert!(bytes == text.as_bytes(), "{records:?} {listed}: {} bytes", bytes.len());
            assert!(run.report.failures.is_empty());
        }
    }
}

#[test]
fn a_file_that_has_content_without_a_size_is_read_in_any_blocks() {
    let path = Path::new("/proc/self/limits");
    let Ok(text) = fs::read(path) else { return };
    if fs::metadata(path).unwrap().len() > 0 {
        return; // this system gives the size
    }
    let empty = tempfile::NamedTempFile::new().unwrap();
    for records in [Records::File, Records::Lines] {
        for block_bytes in [4 << 10, 1 << 20] {
            // Many of them fill a block, so that some file does not fit into the rest of it.
            let inputs = inputs(&[&[path; 9][..], &[empty.path()]].concat());
            let options = ReadOptions { block_bytes, ..small_blocks(1) };
            let run = run(&inputs, records, &whitespace(), &options);
            for input in 0..9 {
                let of = run.lanes[0].iter().filter(|seen| seen.piece.input == input);
                let bytes: Vec<u8> = of.flat_map(|seen| seen.bytes.clone()).collect();
                assert!(bytes == text, "{records:?} {block_bytes} {input}: {} bytes", bytes.len());
            }
            assert_eq!((run.report.failures.len(), run.files_done), (0, 10));
        }
    }
}

#[test]
fn a_file_that_shrank_after_it_was_listed_yields_what_is_left() {
    let dir = crate::sys::disk_dir();
    let path = dir.path().join("file");
    for (records, listed, left) in [
        (Records::File, 200_000, 0),
        (Records::File, 200_000, 100_001),
        (Records::Lines, 200_000, 0),
        (Records::Lines, 200_000, 50_010),
        (Records::Lines, 200_000, 199_999),
    ] {
        fs::write(&path, "line of text\n".repeat(20_000)).unwrap();
        let mut inputs = inputs(&[&path]).to_vec();
        inputs[0].bytes = listed;
        fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(left).unwrap();
        let options = ReadOptions { chunk_bytes: 50_000, direct: Direct::Always, ..small_blocks(2) };
        let run = run(&Arc::new(inputs), records, &whitespace(), &options);
        let mut seen: Vec<_> = run.lanes.into_iter().flatten().collect();
        seen.sort_by_key(|seen| seen.piece.offset);
        let got: Vec<u8> = seen.into_iter().flat_map(|seen| seen.bytes).collect();
        assert!(got == fs::read(&path).unwrap(), "{records:?} {left}");
        assert!(run.report.failures.is_empty());
        assert_eq!(run.files_done, 1);
    }
}

#[test]
fn a_file_that_shrinks_while_it_is_read_is_closed_at_its_new_end() {
    let dir = crate::sys::disk_dir();
    let path = dir.path().join("file");
    for uring in [false, true] {
        fs::write(&path, "word ".repeat(100_000)).unwrap();
        let options = ReadOptions { uring, direct: Direct::Always, blocks_per_lane: 2, ..small_blocks(1) };
        let (inputs, cancel) = (inputs(&[&path]), Arc::default());
        let (driver, mut lanes) = start(inputs, Records::File, &whitespace(), &options, cancel).unwrap();
        let mut lane = lanes.remove(0);
        let mut first = lane.next().unwrap();
        assert!(first.split().0[0].opens && !first.split().0[0].closes);
        fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(300_000).unwrap();
        drop(first);
        let rest = empty_lane(lane);
        let last = &rest.last().unwrap().piece;
        assert!(last.closes && !last.opens && last.offset + (last.end - last.start) as u64 == 300_000);
        assert!(driver.finish().unwrap().failures.is_empty());
    }
}

#[test]
fn bytes_appended_after_opening_are_not_read() {
    let dir = crate::sys::disk_dir();
    let path = dir.path().join("file");
    fs::write(&path, "word ".repeat(100_000)).unwrap();
    let (inputs, cancel) = (inputs(&[&path]), Arc::default());
    let (driver, mut lanes) = start(inputs, Records::File, &whitespace(), &small_blocks(1), cancel).unwrap();
    let mut lane = lanes.remove(0);
    drop(lane.next());
    fs::OpenOptions::new().append(true).open(&path).unwrap().write_all(&[b'x'; 70_000]).unwrap();
    assert!(empty_lane(lane).iter().all(|seen| !seen.bytes.contains(&b'x')));
    assert_eq!(driver.finish().unwrap().bytes, 500_000);
}

#[test]
fn a_dropped_lane_blocks_neither_readers_nor_other_lanes() {
    let dir = crate::sys::disk_dir();
    let path = dir.path().join("file");
    fs::write(&path, "some words and\nlines\n".repeat(100_000)).unwrap();
    for (uring, taken) in [(false, 0), (true, 0), (true, 3), (false, 3)] {
        let options = ReadOptions { uring, chunk_bytes: 60_000, direct: Direct::Always, ..small_blocks(3) };
        let (inputs, cancel) = (inputs(&[&path, &path]), Arc::default());
        let (driver, mut lanes) = start(inputs, Records::Lines, &whitespace(), &options, cancel).unwrap();
        let mut early = lanes.remove(1);
        let rest: Vec<_> = lanes.into_iter().map(|lane| std::thread::spawn(|| empty_lane(lane))).collect();
        (0..taken).for_each(|_| drop(early.next()));
        drop(early);
        rest.into_iter().for_each(|lane| drop(lane.join().unwrap()));
        driver.finish().unwrap();
    }
}

#[test]
fn a_block_may_outlive_its_lane_and_driver() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("file");
    fs::write(&path, "text").unwrap();
    let (inputs, cancel) = (inputs(&[&path]), Arc::default());
    let (driver, mut lanes) = start(inputs, Records::File, &whitespace(), &small_blocks(1), cancel).unwrap();
    let mut block = lanes[0].next().unwrap();
    drop(lanes);
    driver.finish().unwrap();
    assert_eq!(block.split().1[..4], *b"text");
}

#[test]
fn cancelling_ends_lanes_and_readers_soon() {
    let dir = crate::sys::disk_dir();
    let path = dir.path().join("file");
    fs::write(&path, "word ".repeat(1_000_000)).unwrap();
    for direct in [Direct::Always, Direct::Never] {
        let options = ReadOptions { direct, ..small_blocks(2) };
        let cancel = Arc::new(AtomicBool::new(false));
        let (inputs, analyzer) = (inputs(&[&path, &path, &path]), whitespace());
        let (driver, mut lanes) =
            start(inputs, Records::File, &analyzer, &options, Arc::clone(&cancel)).unwrap();
        let second = lanes.pop().unwrap();
        let second = std::thread::spawn(|| second.count());
        let taken = lanes[0].next();
        cancel.store(true, Ordering::Relaxed);
        drop(taken);
        assert!(lanes[0].next().is_none());
        second.join().unwrap();
        assert!(driver.finish().unwrap().bytes < 15_000_000);
    }
}

#[test]
fn a_reader_that_panics_ends_its_lanes_and_is_reported() {
    let (reader, lane) = reader_of(Arc::default(), Vec::new()); // the first block finds no lane
    let block = BlockMemory::carve(1, PAGE, PageSize::Base).unwrap().remove(0);
    lane.queue.put_empty(0, Buffer { memory: block, pieces: Vec::new() });
    let driver = drive(reader);
    assert_eq!(lane.count(), 0);
    let error = driver.finish().unwrap_err();
    assert!(matches!(&error, Error::WorkerPanicked { message, .. } if message.contains("index")), "{error}");
}

#[test]
fn a_lane_on_another_node_gets_its_blocks_too() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("file");
    fs::write(&path, "some words ".repeat(10_000)).unwrap();
    let options = small_blocks(1);
    let blocks = BlockMemory::carve(4, CARRY + options.block_bytes, options.pages).unwrap();
    let buffers = blocks.into_iter().map(|memory| Buffer { memory, pieces: Vec::new() }).collect();
    let lanes = vec![LaneState::new(Some(sys::nodes().remove(0)), buffers)];
    let (reader, lane) = reader_of(inputs(&[&path]), lanes);
    let driver = drive(reader);
    let got: Vec<u8> = empty_lane(lane).into_iter().flat_map(|seen| seen.bytes).collect();
    assert!(got == fs::read(&path).unwrap());
    assert_eq!((driver.bytes_read(), driver.files_done()), (110_000, 1));
}

/// Starts a reader.
fn drive(reader: ReaderThread) -> ReaderDriver {
    let work = Arc::clone(&reader.work);
    ReaderDriver { work, threads: vec![spawn(|| reader.run()).unwrap()] }
}

/// A reader of whole files that serves one lane.
fn reader_of(inputs: Arc<Vec<Input>>, lanes: Vec<LaneState>) -> (ReaderThread, Lane) {
    let queue = Arc::new(DualQueue::new(1));
    let lane = Lane { queue: Arc::clone(&queue), number: 0, cancel: Arc::default(), cpus: None };
    let options = small_blocks(1);
    let reader = ReaderThread {
        work: Arc::new(WorkList::new(inputs, Default::default(), Records::File, &options, Arc::default())),
        rules: Rules { records: Records::File, analyzer: whitespace(), cuts: None },
        options,
        queue,
        lanes,
        ring: None,
        next_token: 0,
        scratch: Vec::new(),
        shared: None,
        ready: Vec::new(),
    };
    (reader, lane)
}

#[test]
fn a_run_without_inputs_ends_at_once_and_invalid_options_are_named() {
    let run = run(&Arc::default(), Records::File, &whitespace(), &small_blocks(3));
    assert!(run.lanes.iter().all(Vec::is_empty) && run.report.bytes == 0);
    let good = small_blocks(1);
    for bad in [
        ReadOptions { lanes: 0, ..good.clone() },
        ReadOptions { read_threads: 0, ..good.clone() },
        ReadOptions { block_bytes: 10_000, ..good.clone() },
        ReadOptions { block_bytes: 0, ..good.clone() },
        ReadOptions { blocks_per_lane: 1, ..good.clone() },
        ReadOptions { queue_depth: 0, ..good },
    ] {
        let started = start(Arc::default(), Records::File, &whitespace(), &bad, Arc::default());
        assert!(matches!(started, Err(Error::InvalidValue { .. })), "{bad:?}");
    }
}

#[test]
fn many_empty_files_do_not_fill_one_block() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("empty");
    fs::write(&path, "").unwrap();
    let inputs = Arc::new(vec![Input { path, bytes: 0, ..Input::default() }; 10_000]);
    let files = run(&inputs, Records::File, &whitespace(), &small_blocks(2));
    assert_eq!(files.lanes.iter().map(Vec::len).sum::<usize>(), 10_000);
    let lines = run(&inputs, Records::Lines, &whitespace(), &small_blocks(2));
    assert_eq!(lines.lanes.iter().map(Vec::len).sum::<usize>(), 0);
    assert_eq!(lines.files_done, 10_000);
}
