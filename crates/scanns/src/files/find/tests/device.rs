//! `-xdev` and devices, against GNU find on `/dev`.

use std::path::Path;

use super::super::Setting;
use super::live::{LiveTree, has_find, ours, theirs};

#[test]
fn devices_and_their_borders_are_those_of_gnu_find() {
    if !has_find() || !Path::new("/dev/pts").is_dir() {
        return println!("SKIPPED: no /dev/pts");
    }
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path().canonicalize().unwrap();
    let commands: [&[&str]; 7] = [
        &["/dev", "-xdev", "-printf", "%p %y %D %d\n"],
        &["/dev", "-xdev", "-depth", "-print0"],
        &["/dev", "-mount", "-mindepth", "1", "-type", "d"],
        &["/dev", "-maxdepth", "1", "-type", "c,b", "-printf", "%M %p %n %s %b\n"],
        &["/dev", "-maxdepth", "1", "-type", "c"],
        &["/dev", "-maxdepth", "1", "-xtype", "c"],
        &["/dev/pts", "/dev", "-xdev", "-links", "+2"],
    ];
    for words in commands {
        let words: Vec<Vec<u8>> = words.iter().map(|word| word.as_bytes().to_vec()).collect();
        let tree = LiveTree::read(Path::new("/dev"), &directory);
        let setting = Setting { zone: jiff::tz::TimeZone::UTC, ..Setting::current() };
        let (ours, _) = ours(&tree, &words, &setting).unwrap();
        let theirs = theirs(&tree, &words, &[], "UTC0");
        assert!(theirs.is_success || theirs.only_loops(), "{}", theirs.errors);
        let [ours, theirs] =
            [&ours, &theirs.outputs].map(|outputs| outputs[&b"/dev/stdout"[..]].escape_ascii().to_string());
        assert_eq!(ours, theirs);
    }
}
