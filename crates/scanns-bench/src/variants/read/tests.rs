use std::fs;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use fastrand::Rng;

use super::*;
use scanns::internals::{BLOCK_PADDING, PAGE, Piece};
use scanns::sources::{Direct, Input};

const DESIGNS: [Design; 4] = [Design::Std, Design::Pool, Design::Numa, Design::Wave];

fn delimiters() -> Delimiters {
    Delimiters::new(b" \n")
}

/// Words of one length class, so that some files have a delimiter in every page and others in none.
fn random_file(random: &mut Rng, block: usize) -> Vec<u8> {
    let sizes = [0, 1, block - 1, block, block + 1, 2 * block, 3 * block + 5, random.usize(..20 * block)];
    let size = sizes[random.usize(..sizes.len())];
    let longest = [3, 60, PAGE, 3 * block, CARRY, 3 * CARRY][random.usize(..6)];
    let mut bytes = Vec::new();
    while bytes.len() < size {
        let len = random.usize(..longest);
        bytes.resize(bytes.len() + len, b'a');
        bytes.push(b" \n"[random.usize(..2)]);
    }
    bytes.truncate(size);
    bytes
}

/// A piece and its bytes.
type Taken = (Piece, Vec<u8>);

/// Inputs with these paths, in this order, whether or not the files exist.
fn inputs(paths: &[&std::path::Path]) -> Arc<Vec<Input>> {
    let input = |path: &&std::path::Path| Input {
        path: path.to_path_buf(),
        bytes: fs::metadata(path).map_or(0, |found| found.len()),
        ..Input::default()
    };
    Arc::new(paths.iter().map(input).collect())
}

fn empty_lane(lane: Lane) -> Vec<Taken> {
    let mut taken = Vec::new();
    for mut block in lane {
        let (pieces, bytes) = block.split();
        let filled = pieces.last().map_or(0, |piece| piece.end);
        assert_eq!(bytes.len(), filled + BLOCK_PADDING);
        taken.extend(pieces.iter().map(|piece| (piece.clone(), bytes[piece.start..piece.end].to_vec())));
        // Changes that a lane makes to its block must not show in later blocks.
        bytes.fill(b'#');
    }
    taken
}

fn read(design: Design, inputs: &Arc<Vec<Input>>, options: &ReadOptions) -> (u64, usize, Vec<Vec<Taken>>) {
    let cancel = Arc::new(AtomicBool::new(false));
    let (driver, lanes) = start(design, Arc::clone(inputs), &delimiters(), options, cancel).unwrap();
    let threads: Vec<_> = lanes.into_iter().map(|lane| std::thread::spawn(|| empty_lane(lane))).collect();
    let lanes = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
    let report = driver.finish().unwrap();
    (report.bytes, report.failures.len(), lanes)
}

/// Checks that the pieces of a lane are its files, each complete and in order. With the wave, no piece may
/// begin or end inside a token.
fn assert_files(design: Design, lane: &[Taken], files: &[Vec<u8>], context: &str) -> usize {
    let (mut done, mut at) = (0, 0);
    for (number, (piece, bytes)) in lane.iter().enumerate() {
        let file = &files[piece.input as usize];
        assert_eq!((piece.offset, piece.opens), (at as u64, at == 0), "{context}");
        assert!(file[at..].starts_with(bytes), "{context}");
        if design == Design::Wave && at > 0 {
            let before = file[..at].iter().rev().take_while(|&&byte| !delimiters().contains(byte)).count();
            let cuts = before > 0 && !delimiters().contains(file[at]);
            assert_eq!(cuts, piece.mid_token, "{context}, piece {number}");
            assert!(!cuts || before > CARRY, "{context}, piece {number}");
        }
        at += bytes.len();
        assert_eq!(piece.closes, at == file.len(), "{context}");
        if piece.closes {
            (done, at) = (done + 1, 0);
        } else {
            assert_eq!(lane[number + 1].0.input, piece.input, "{context}");
        }
    }
    done
}

#[test]
fn every_reader_of_the_ladder_gives_whole_files_in_order_and_the_wave_cuts_no_token() {
    let dir = tempfile::tempdir_in(std::env::current_exe().unwrap().parent().unwrap()).unwrap();
    let mut cut = 0;
    for seed in 0..20 {
        let mut random = Rng::with_seed(0x1add_e000 + seed);
        let block = PAGE << random.usize(..3);
        let files: Vec<Vec<u8>> =
            (0..1 + random.usize(..20)).map(|_| random_file(&mut random, block)).collect();
        let paths: Vec<_> = (0..files.len()).map(|i| dir.path().join(i.to_string())).collect();
        paths.iter().zip(&files).for_each(|(path, file)| fs::write(path, file).unwrap());
        let inputs = inputs(&paths.iter().map(|path| path.as_path()).collect::<Vec<_>>());
        for design in DESIGNS {
            let options = ReadOptions {
                read_threads: 1 + random.usize(..3),
                lanes: 1 + random.usize(..3),
                block_bytes: block,
                blocks_per_lane: 2 + random.usize(..3),
                direct: [Direct::Always, Direct::Never][random.usize(..2)],
                drop_behind: random.bool(),
                ..ReadOptions::default()
            };
            let context = format!("seed {seed}, {design:?}, {options:?}");
            let (bytes, failed, lanes) = read(design, &inputs, &options);
            assert_eq!(bytes, files.iter().map(|file| file.len() as u64).sum::<u64>(), "{context}");
            let done: usize = lanes.iter().map(|lane| assert_files(design, lane, &files, &context)).sum();
            assert_eq!((done, failed), (files.len(), 0), "{context}");
            cut += lanes.iter().flatten().filter(|(piece, _)| piece.mid_token).count();
        }
    }
    assert!(cut > 0, "no token was ever too long for the wave");
}

#[test]
fn files_that_cannot_be_read_are_told_by_every_reader_and_stop_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let (absent, good) = (dir.path().join("absent"), dir.path().join("good"));
    fs::write(&good, b"some words").unwrap();
    let inputs = inputs(&[&absent, dir.path(), &good]);
    for design in DESIGNS {
        let options = ReadOptions { lanes: 2, read_threads: 2, ..ReadOptions::default() };
        let (bytes, failed, lanes) = read(design, &inputs, &options);
        assert_eq!((bytes, failed), (10, 2), "{design:?}");
        assert_eq!(lanes.iter().flatten().filter(|(piece, _)| piece.failed).count(), 2);
    }
}

#[test]
fn a_lane_of_the_ladder_that_goes_early_leaves_the_rest_to_others() {
    let dir = tempfile::tempdir().unwrap();
    let paths: Vec<_> = (0..20).map(|i| dir.path().join(i.to_string())).collect();
    paths.iter().for_each(|path| fs::write(path, vec![b'x'; 3 * PAGE]).unwrap());
    let inputs = inputs(&paths.iter().map(|path| path.as_path()).collect::<Vec<_>>());
    for design in DESIGNS {
        let options = ReadOptions { lanes: 2, block_bytes: PAGE, ..ReadOptions::default() };
        let cancel = Arc::new(AtomicBool::new(false));
        let (driver, mut lanes) =
            start(design, Arc::clone(&inputs), &delimiters(), &options, cancel).unwrap();
        drop(lanes.remove(0));
        let ended = empty_lane(lanes.remove(0)).iter().filter(|(piece, _)| piece.closes).count();
        assert!(ended >= 16, "{design:?}");
        driver.finish().unwrap();
    }
}
