use super::*;

fn corpus(kind: Kind, mib: u64, seed: u64) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let queries = Some(dir.path().join("queries"));
    run(&CorpusArgs { out: dir.path().join("corpus"), kind, mib, seed, queries }).unwrap();
    dir
}

/// Paths and contents of all files.
fn contents(path: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let source = scanns::sources::SourceOptions {
        paths: vec![path.into()],
        ..scanns::sources::SourceOptions::default()
    };
    let inputs =
        scanns::sources::collect(&source, &std::sync::atomic::AtomicBool::new(false)).unwrap().inputs;
    let read = |path: PathBuf| (path.clone(), fs::read(path).unwrap());
    let files = inputs.into_iter().map(|input| read(input.path));
    files.map(|(name, text)| (name.strip_prefix(path).unwrap().to_path_buf(), text)).collect()
}

#[test]
fn the_same_seed_gives_the_same_bytes_and_another_seed_others() {
    for kind in [Kind::Dump, Kind::Zipf, Kind::Tree] {
        let [one, same, other] = [(kind, 5), (kind, 5), (kind, 6)].map(|(kind, seed)| {
            let dir = corpus(kind, 1, seed);
            (contents(&dir.path().join("corpus")), fs::read(dir.path().join("queries")).unwrap())
        });
        assert_eq!(one, same, "{kind:?}");
        assert_ne!(one.0, other.0, "{kind:?}");
        let size: usize = one.0.iter().map(|(_, text)| text.len()).sum();
        assert!((1020 << 10..=1 << 20).contains(&size), "{kind:?}: {size} bytes");
    }
}

#[test]
fn a_dump_is_as_dumps_of_real_systems_are() {
    let dir = corpus(Kind::Dump, 48, 7);
    let files = fs::read_dir(dir.path().join("corpus"))
        .unwrap()
        .filter(|file| file.as_ref().unwrap().metadata().unwrap().len() <= 32 << 20);
    assert_eq!(files.count(), 2);
    let found = Statistics::of(&dir.path().join("corpus"), 48).unwrap();
    let near = |value: f64, expected: f64| (value / expected - 1.0).abs() < 0.1;
    assert!(near(found.tokens_per_mib(), 124_646.0), "{found}");
    assert!(near(found.average_length(), 7.37), "{found}");
    assert!(near(found.line_bytes(), 205.3), "{found}");
    // These are the first files of a dump, in which fewer words and sizes have repeated than in a whole one.
    assert!((0.13..0.18).contains(&found.unique_share()), "{found}");
    assert!((0.60..0.75).contains(&found.singleton_share()), "{found}");
}

#[test]
fn text_and_trees_have_the_lengths_and_shares_asked_for() {
    let dir = corpus(Kind::Zipf, 8, 7);
    let found = Statistics::of(&dir.path().join("corpus"), 8).unwrap();
    assert!((4.0..5.0).contains(&found.average_length()), "{found}");
    assert!((0.02..0.2).contains(&found.unique_share()), "{found}");
    assert!((50.0..110.0).contains(&found.line_bytes()), "{found}");

    let dir = corpus(Kind::Tree, 16, 7);
    let found = Statistics::of(&dir.path().join("corpus"), 16).unwrap();
    assert!((0.9..1.1).contains(&(found.tokens_per_mib() / 89_580.0)), "{found}");
    assert!((0.9..1.1).contains(&(found.average_length() / 8.84)), "{found}");
    assert!((600..2000).contains(&found.files), "{found}");
}

#[test]
fn what_is_no_corpus_is_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("precious"), "data").unwrap();
    let args = CorpusArgs { out: dir.path().into(), kind: Kind::Dump, mib: 1, seed: 1, queries: None };
    let error = run(&args).unwrap_err();
    assert!(format!("{error:#}").contains("give another directory"), "{error:#}");
    assert!(dir.path().join("precious").exists());
}
