//! The paths of files and directories of Lustre, which `lfs fid2path` tells.
//!
//! `lfs fid2path -f ROOT FID…` writes a line for each name of each file: the FID as it was asked, a blank,
//! and the whole path. What does not exist any more is named on standard error. A path with a line feed is
//! more than one line; nothing is believed of a FID whose lines are followed by one without a FID.

use std::collections::HashMap;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

use super::change::Fid;

/// The number of FIDs that one call asks for.
const AT_ONCE: usize = 500;

/// The paths of each FID that has any.
pub type FidPaths = HashMap<Fid, Vec<Vec<u8>>>;

/// Asks `lfs` for the paths of FIDs in the file system of `root`. The second result is the first line that it
/// wrote on standard error, if any.
///
/// # Errors
/// `lfs` cannot be run.
pub fn paths_of(root: &Path, fids: &[Fid]) -> io::Result<(FidPaths, Option<String>)> {
    let (mut found, mut first_error) = (FidPaths::new(), None);
    for some in fids.chunks(AT_ONCE) {
        let asked: HashMap<String, Fid> = some.iter().map(|fid| (fid.to_string(), *fid)).collect();
        let mut command = Command::new("lfs");
        command.args(["fid2path", "-f"]).arg(root).args(some.iter().map(Fid::to_string));
        let output = command.stdin(Stdio::null()).output()?;
        take_lines(&output.stdout, &asked, &mut found);
        let error = output.stderr.split(|&byte| byte == b'\n').find(|line| !line.is_empty());
        first_error = first_error.or(error.map(|line| String::from_utf8_lossy(line).into_owned()));
    }
    Ok((found, first_error))
}

/// Reads lines of `lfs fid2path -f`.
fn take_lines(output: &[u8], asked: &HashMap<String, Fid>, found: &mut FidPaths) {
    let mut last = None;
    for line in output.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
        let blank = memchr::memchr(b' ', line).unwrap_or(line.len());
        let (fid, path) = line.split_at_checked(blank).unwrap_or_default();
        let fid = std::str::from_utf8(fid).ok().and_then(|text| asked.get(text));
        match (fid, path.strip_prefix(b" ").filter(|path| path.starts_with(b"/"))) {
            (Some(fid), Some(path)) => {
                found.entry(*fid).or_default().push(path.to_vec());
                last = Some(*fid);
            }
            _ => drop(last.take().and_then(|fid| found.remove(&fid))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_is_a_name_and_names_with_line_feeds_are_not_believed() {
        let fid = |number: u32| Fid::parse(format!("[0x2:{number:#x}:0x0]").as_bytes()).unwrap();
        let asked = (1..5).map(|number| (fid(number).to_string(), fid(number))).collect();
        let output = "[0x2:0x1:0x0] /lus/a b\n[0x2:0x1:0x0] /lus/c\n[0x2:0x2:0x0] /lus/line\nfeed\n\
                      [0x2:0x3:0x0] /lus//\n[0x2:0x9:0x0] /lus/other\n";
        let mut found = FidPaths::new();
        take_lines(output.as_bytes(), &asked, &mut found);
        // The line about what was not asked makes the line before it doubtful, too.
        assert_eq!(found, FidPaths::from([(fid(1), vec![b"/lus/a b".to_vec(), b"/lus/c".to_vec()])]));
    }
}
