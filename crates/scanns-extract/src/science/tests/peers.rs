//! Comparison with the tools of the formats: each name and each string that `ncdump -h` and `h5dump -A` print
//! must be a word of the text. Words are runs of letters, digits and `_`; the words of the tools' own
//! languages do not count.

use std::collections::BTreeSet;
use std::process::Command;

use super::{SAMPLES, found};

fn words(text: &str) -> BTreeSet<String> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    text.split(|c| !is_word(c)).filter(|word| !word.is_empty()).map(str::to_string).collect()
}

/// What a tool prints; `None` where it is not installed.
fn printed(tool: &str, option: &str, sample: &super::Sample) -> Option<String> {
    let path = std::env::temp_dir().join(format!("scanns-{}-{}", std::process::id(), sample.name));
    std::fs::write(&path, sample.data).unwrap();
    let run = Command::new(tool).arg(option).arg(&path).output();
    std::fs::remove_file(&path).unwrap();
    let text = String::from_utf8_lossy(&run.ok()?.stdout).into_owned();
    // The tool prints the name of the file, which is not a word of the header.
    Some(text.lines().skip(1).collect::<Vec<_>>().join("\n"))
}

fn compare(tool: &str, option: &str, samples: &[&str], own_words: &[&str]) {
    for sample in SAMPLES.iter().filter(|sample| samples.contains(&sample.name)) {
        let Some(printed) = printed(tool, option, sample) else {
            println!("SKIPPED {tool} is not installed");
            return;
        };
        let mut theirs = words(&printed);
        let is_own =
            |word: &str| own_words.contains(&word) || ["H5T_", "H5S_"].iter().any(|h| word.starts_with(h));
        theirs.retain(|word| !is_own(word) && !word.starts_with(|c: char| c.is_ascii_digit()));
        let ours = words(&found(sample.data).unwrap().text);
        let missing: Vec<&String> = theirs.difference(&ours).collect();
        println!("{tool} {}: {} of {} words", sample.name, theirs.len() - missing.len(), theirs.len());
        assert!(theirs.len() > 10, "{printed}");
        assert!(missing.is_empty(), "{} lacks {missing:?}\n{printed}", sample.name);
    }
}

#[test]
fn each_word_of_ncdump_is_a_word_of_the_text() {
    // Types have their numpy names here; `f`, `s` and `UNLIMITED` belong to the language of the tool.
    let own = [
        "netcdf",
        "types",
        "ubyte",
        "float",
        "double",
        "byte",
        "short",
        "int",
        "ushort",
        "string",
        "char",
        "f",
        "b",
        "e",
        "currently",
        "UNLIMITED",
        "dimensions",
        "variables",
        "global",
        "attributes",
        "group",
        "data",
        "UTF",
        "Format",
    ];
    compare("ncdump", "-h", &["classic.nc", "offset64.nc", "data64.nc", "four.nc"], &own);
}

#[test]
fn each_word_of_h5dump_is_a_word_of_the_text() {
    let own = [
        "GROUP",
        "ATTRIBUTE",
        "DATASET",
        "DATATYPE",
        "DATASPACE",
        "SIMPLE",
        "SCALAR",
        "DATA",
        "STRSIZE",
        "STRPAD",
        "CSET",
        "CTYPE",
        "HARDLINK",
        "SOFTLINK",
        "LINKTARGET",
        "EXTERNAL_LINK",
        "TARGETFILE",
        "TARGETPATH",
        "USERBLOCK_SIZE",
        "USER_BLOCK",
        "HDF5",
    ];
    // A netCDF-4 file has the books of the netCDF library too, which are left out of the text.
    compare("h5dump", "-A", &["old.h5", "new.h5", "block.h5"], &own);
}
