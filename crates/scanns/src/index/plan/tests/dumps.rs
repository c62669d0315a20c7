//! Plans whose list of files is a dump.

use std::process::Command;

use super::*;
use crate::index::build::options::DumpOptions;
use crate::record::dump::{DumpFormat, RECOMMENDED_FORMAT};

/// The same build, with the files that a dump lists.
fn from_dump(options: &IndexOptions, dump: &Path, format: DumpFormat) -> IndexOptions {
    let dump = DumpOptions { files: vec![dump.to_path_buf()], format, ..DumpOptions::default() };
    let source = SourceOptions { paths: Vec::new(), ..options.source.clone() };
    IndexOptions { dump: Some(dump), source, ..options.clone() }
}

/// A dump that GNU find makes; `None` without it.
fn found(root: &Path, place: &Path) -> Option<PathBuf> {
    let out = Command::new("find").arg(root).args(["-printf", RECOMMENDED_FORMAT]).output();
    let Some(out) = out.ok().filter(|out| out.status.success()) else {
        println!("SKIPPED: there is no GNU find");
        return None;
    };
    let dump = place.join("fs.dump");
    fs::write(&dump, out.stdout).unwrap();
    Some(dump)
}

#[test]
fn a_plan_of_a_dump_is_the_plan_of_a_walk() {
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    let mut random = Rng::with_seed(seed);
    for round in 0..4 {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().join("data");
        let records = KINDS[random.usize(..KINDS.len())];
        write_corpus(&root, records, &mut random);
        fs::create_dir_all(root.join(".hidden/d0")).unwrap();
        fs::write(root.join(".hidden/d0/a\n\u{e4}.txt"), "a word\n").unwrap();
        std::os::unix::fs::symlink(root.join("d0"), root.join("link")).unwrap();
        let Some(dump) = found(&root, place.path()) else { return };
        let mut wanted = options(&root, records, 1);
        wanted.source.skip_hidden = random.bool();
        if random.bool() {
            wanted.source.exclude = vec!["f1*".into(), "d1/".into()];
        }
        let shards = random.u32(1..9);
        let walked = plan(&wanted, place.path(), shards).unwrap();
        let mut wanted = from_dump(&wanted, &dump, DumpFormat::Detect);
        // Names of directories above the walk do not count, and the temporary directory is hidden.
        wanted.dump.as_mut().unwrap().root = Some(root.clone());
        for memory in [0, 1 << 20] {
            let planned = plan_in(&wanted, place.path(), shards, memory).unwrap();
            let what = format!("seed {seed} round {round} {records:?}");
            assert!(planned.is_known && planned.id == walked.id, "{what}: {planned:?}");
            assert!(planned.left_out.is_empty() && planned.failed == 0, "{what}: {planned:?}");
        }
        let paths = build_all(place.path(), &mut random, 1);
        let many: usize = paths.iter().map(|path| documents(path).len()).sum();
        assert!(many > 0, "seed {seed} round {round} {records:?}");
    }
}

#[test]
fn entries_that_cannot_be_planned_are_counted_by_reason_with_the_first() {
    let place = tempfile::tempdir().unwrap();
    let dump = place.path().join("fs.dump");
    let rows = "f\t10\t1.5\t/data/a\nd\t0\t1.5\t/data\nl\t4\t1.5\t/data/l\n\
                f\t11\t2\t/data/./b\n\
                f\t7\t9\trel/c\nf\t12\t3\t/data/a\nf\t12\t3\t/data/a\n\
                f\t1\t1\t/data/.h/x\n";
    fs::write(&dump, rows).unwrap();
    let format = DumpFormat::named("find", Some("%y\\t%s\\t%T@\\t%p\\n")).unwrap();
    let mut wanted = from_dump(&options(Path::new("/"), Records::File, 1), &dump, format.clone());
    wanted.source.skip_hidden = true;
    let planned = plan(&wanted, place.path(), 1).unwrap();
    assert_eq!((planned.shards[0].files, planned.shards[0].bytes), (2, 23), "{planned:?}");
    let left_out: Vec<_> = planned
        .left_out
        .iter()
        .map(|(reason, skipped)| (&reason[..9], skipped.count, skipped.first.clone().unwrap()))
        .collect();
    assert_eq!(
        left_out,
        [("with rela", 1, PathBuf::from("rel/c")), ("with the ", 2, PathBuf::from("/data/a"))],
        "{planned:?}"
    );
    assert_eq!(planned.listing.skipped, 2, "a link and a hidden file");
    assert_eq!(planned.listing.dumps[0].entries, 8, "{planned:?}");
    let slices = ShardPlan::open(place.path().join("plan.json")).unwrap();
    let slice = slices.slice(&slices.shards()[0]).unwrap();
    assert_eq!(slice.inputs[0].stamp.bytes, 12, "the later of two entries is kept");
    // Relative paths have a place now.
    let dump = wanted.dump.as_mut().unwrap();
    dump.root = Some("/top".into());
    fs::remove_file(place.path().join("plan.json")).unwrap();
    let planned = plan(&wanted, place.path(), 1).unwrap();
    assert_eq!((planned.shards[0].files, planned.left_out.len()), (3, 1), "{planned:?}");
}

#[test]
fn files_that_change_or_vanish_after_the_dump_are_counted_and_named() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().join("data");
    fs::create_dir(&root).unwrap();
    for name in ["changed", "gone", "same"] {
        fs::write(root.join(name), "first\n").unwrap();
    }
    let Some(dump) = found(&root, place.path()) else { return };
    let wanted = options(&root, Records::File, 1);
    let of_dump = from_dump(&wanted, &dump, DumpFormat::Detect);
    plan(&of_dump, place.path(), 2).unwrap();
    fs::write(root.join("changed"), "second text\n").unwrap();
    fs::remove_file(root.join("gone")).unwrap();
    let plan = ShardPlan::open(place.path().join("plan.json")).unwrap();
    for number in 0..2 {
        let build = ShardOptions { build: wanted.clone(), ..ShardOptions::default() };
        build_shard(&plan, number, &build).unwrap();
    }
    let found = plan.assemble(None, CheckLevel::Manifest, &go_on()).unwrap();
    assert!(found.is_complete() && found.documents == 2, "{found:?}");
    assert_eq!((found.failed, &found.failures[0].path), (1, &root.join("gone")), "{found:?}");
    assert_eq!((found.changed.count, found.changed.first), (1, Some(root.join("changed"))));
    let shards = shards_of(plan.index()).unwrap().unwrap();
    let texts: Vec<_> =
        shards.iter().flat_map(|path| documents(path)).filter_map(|(_, it)| it.text).collect();
    assert_eq!(texts, [b"second text\n".to_vec(), b"first\n".to_vec()]);
}

#[test]
fn a_dump_beside_what_needs_a_walk_is_refused() {
    let place = tempfile::tempdir().unwrap();
    let dump = place.path().join("fs.dump");
    fs::write(&dump, "/data/a\n/data/b\n").unwrap();
    let format = DumpFormat::named("paths", None).unwrap();
    let wanted = from_dump(&options(Path::new("/"), Records::File, 1), &dump, format);
    let error = plan(&wanted, place.path(), 1).unwrap_err().to_string();
    assert!(error.contains("2 entries are left out") && error.contains("%y"), "{error}");
    for change in [
        |source: &mut SourceOptions| source.gitignore = true,
        |source: &mut SourceOptions| source.follow_symlinks = true,
        |source: &mut SourceOptions| source.paths.push("/data".into()),
    ] {
        let mut walking = wanted.clone();
        change(&mut walking.source);
        assert!(matches!(plan(&walking, place.path(), 1), Err(Error::Unsupported { .. })));
    }
}
