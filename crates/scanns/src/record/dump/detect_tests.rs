//! No detector accepts a dump of another format, a list of paths, CSV or other JSON.

use super::formats::detected;
use super::sequential_testing::{hostile_tree, output_of};
use crate::record::test_data::test_data;
use std::process::Command;

#[test]
fn the_samples_are_accepted_by_their_own_detector_only() {
    for (sample, detector) in [("dumps/gdu.json", "ncdu"), ("dumps/mlocate.db", "mlocate")] {
        if let Some(sample) = test_data(sample) {
            assert_eq!(detected(&sample), [detector]);
        }
    }
}

#[test]
fn dumps_of_tools_are_accepted_by_their_own_detector_only() {
    let tree = hostile_tree();
    let run = |program: &str, words: &str, detectors: &[&str]| {
        let mut command = Command::new(program);
        command.args(words.split_whitespace()).arg(tree.path());
        if let Some(output) = output_of(&mut command) {
            let start = output.get(..64 << 10).unwrap_or(&output);
            assert_eq!(detected(start), detectors, "{program} {words}");
        }
    };
    run("ncdu", "--ignore-config -0 -e -o -", &["ncdu"]);
    run("mtree", "-c -p", &["mtree"]);
    run("bsdtar", "--format=mtree -cf - -P", &["mtree"]);
    run("bsdtar", "--format=mtree-classic -cf - -P", &["mtree"]);
    run("bsdtar", "--format=pax -cf - -P", &[]);
    run("find", "", &[]);
    run("ls", "-lR", &[]);
    run("stat", "--terse", &[]);
}

#[test]
fn other_texts_and_bytes_are_not_accepted() {
    let texts = [
        "",
        "\n",
        "/data/a\n/data/b\n",
        "./a\n./b\n",
        "# a list of files\n/data/a\n",
        "#path,size\n/data/a,5\n",
        "path,size,mtime\n/data/a,5,1.5\n",
        "/set,5\n/unset,6\n",
        "12\t13\t/data/a\n",
        "[1,2,3]",
        "[[1,2],[3,4]]",
        "[1,0,{\"a\":\"b\"},[[{\"name\":\"x\"}]]]",
        "[1,0,{\"a\":\"b\"},{\"name\":\"x\"}]",
        "[{\"name\":\"/\",\"asize\":5}]",
        "{\"name\":\"/\"}\n{\"name\":\"/a\"}\n",
        "mtree\n. type=dir\n",
        "\u{0}",
        "\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{4}",
        "\u{0}locate02\u{0}",
        "LOCATE02\u{0}/",
        "PK\u{3}\u{4}",
        "PAR1",
    ];
    for text in texts {
        assert!(detected(text.as_bytes()).is_empty(), "{text:?}");
    }
    for byte in 0..=255 {
        assert!(detected(&vec![byte; 64 << 10]).is_empty(), "{byte}");
    }
}
