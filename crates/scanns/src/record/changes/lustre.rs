//! Output of `lfs changelog MDT`.
//!
//! ```text
//! row    = number " " type " " time " " date " 0x" flags " t=" fid extra [" p=" fid] [" " name] [rename] LF
//! type   = two digits, letters, blanks                    such as 01CREAT and 08RENME
//! extra  = any of " j=" job, " ef=0x" flags, " u=" uid ":" gid, " nid=" client, " m=" mode, " x=" attribute
//! rename = " s=" fid " sp=" fid " " old name               of RENME
//! fid    = "[0x" hex ":0x" hex ":0x" hex "]"
//! ```
//!
//! Source: lustre/utils/lfs.c. Names stand in the row as they are, so a name with a line feed is two rows,
//! and a renaming is cut at its last ` s=[`. Records that change nothing that a scan sees (MARK, OPEN, GXATR,
//! NOPEN) say nothing. What happened to the content or the attributes of a file concerns all of its names.

use super::change::{ChangeRow, Fid, ListedChange, ListedPlace};

/// Types of records, by their numbers.
const MARK: u8 = 0;
const CREAT: u8 = 1;
const MKDIR: u8 = 2;
const HLINK: u8 = 3;
const SLINK: u8 = 4;
const MKNOD: u8 = 5;
const UNLNK: u8 = 6;
const RMDIR: u8 = 7;
const RENME: u8 = 8;
const RNMTO: u8 = 9;
const OPEN: u8 = 10;
const GXATR: u8 = 23;
const NOPEN: u8 = 24;

/// The flag of a removal or a renaming after which a file has no name any more.
const LAST_NAME: u32 = 1;

/// True for a row that can be read.
pub fn is_row(row: &[u8]) -> bool {
    read(row).is_ok_and(|row| row.number.is_some())
}

/// The number at the start of a row, even if the rest cannot be read.
pub fn number(row: &[u8]) -> Option<u64> {
    let (number, _) = row.split_at_checked(memchr::memchr(b' ', row)?)?;
    let is_number = number.iter().all(u8::is_ascii_digit);
    std::str::from_utf8(number).ok().filter(|_| is_number)?.parse().ok()
}

/// Reads a row without its line feed.
pub fn read(row: &[u8]) -> Result<ChangeRow<'_>, String> {
    let number = number(row).ok_or("the number of the record was expected")?;
    let mut words = row.splitn(6, |&byte| byte == b' ');
    let (_, kind) = (words.next(), words.next().unwrap_or_default());
    let kind = kind.get(..2).filter(|digits| digits.iter().all(u8::is_ascii_digit));
    let kind = kind.and_then(|digits| std::str::from_utf8(digits).ok()?.parse::<u8>().ok());
    let kind = kind.ok_or("the type of the record was expected")?;
    let target_at = memchr::memmem::find(row, b" t=[").ok_or("the identity t=[…] is missing")?;
    let (head, rest) = row.split_at_checked(target_at).unwrap_or_default();
    let flags = head.rsplit(|&byte| byte == b' ').next().and_then(hex);
    let flags = flags.ok_or("the flags were expected before t=")?;
    let (target, rest) = fid(rest, b" t=").ok_or("the identity t=[…] cannot be read")?;
    let parent = memchr::memmem::find(rest, b" p=[").and_then(|at| rest.get(at..));
    let named = match parent {
        Some(rest) => Some(fid(rest, b" p=").ok_or("the identity p=[…] cannot be read")?),
        None => None,
    };
    let record = LustreRecord { kind, flags, target, named };
    let mut found = ChangeRow { number: Some(number), ..ChangeRow::default() };
    record.changes(&mut found)?;
    Ok(found)
}

/// A record; `named` is the parent and what follows it.
struct LustreRecord<'r> {
    kind: u8,
    flags: u32,
    target: Fid,
    named: Option<(Fid, &'r [u8])>,
}

impl<'r> LustreRecord<'r> {
    fn changes(&self, found: &mut ChangeRow<'r>) -> Result<(), String> {
        let last = self.flags & LAST_NAME != 0;
        match self.kind {
            MARK | OPEN | GXATR | NOPEN => {}
            CREAT | SLINK | MKNOD => self.add(self.name()?, false, found),
            MKDIR | RNMTO => self.add(self.name()?, true, found),
            HLINK => {
                self.add(self.name()?, false, found);
                self.add(ListedPlace::Names(self.target), false, found);
            }
            RMDIR => {
                self.add(self.name()?, false, found);
                found.removed = Some(self.target);
            }
            UNLNK => {
                self.add(self.name()?, false, found);
                self.end_of_target(last, found);
            }
            RENME => {
                let (parent, names) = self.named.ok_or(NO_NAME)?;
                match memchr::memmem::rfind(names, b" s=[").and_then(|at| names.split_at_checked(at)) {
                    Some((new, source)) => {
                        let (_, rest) = fid(source, b" s=").ok_or("the identity s=[…] cannot be read")?;
                        let (from, old) = fid(rest, b" sp=").ok_or("the identity sp=[…] cannot be read")?;
                        self.add(ListedPlace::Name(from, plain_name(old)?), false, found);
                        self.add(ListedPlace::Name(parent, plain_name(new)?), true, found);
                        self.end_of_target(last, found);
                    }
                    // Old servers write the new name into a record of its own.
                    None => self.add(ListedPlace::Name(parent, plain_name(names)?), false, found),
                }
            }
            _ => self.add(ListedPlace::Names(self.target), false, found),
        }
        Ok(())
    }

    /// The target lost a name, perhaps its last one.
    fn end_of_target(&self, last: bool, found: &mut ChangeRow<'r>) {
        if !self.target.is_something() {
            return;
        }
        if last {
            found.removed = Some(self.target);
        } else {
            self.add(ListedPlace::Names(self.target), false, found);
        }
    }

    /// The name that the record is about.
    fn name(&self) -> Result<ListedPlace<'r>, String> {
        let (parent, name) = self.named.ok_or(NO_NAME)?;
        Ok(ListedPlace::Name(parent, plain_name(name)?))
    }

    fn add(&self, place: ListedPlace<'r>, tree: bool, found: &mut ChangeRow<'r>) {
        found.changes.push(ListedChange { place, tree });
    }
}

const NO_NAME: &str = "the directory p=[…] is missing";

/// A name after the blank before it.
fn plain_name(text: &[u8]) -> Result<&[u8], String> {
    let name = text.strip_prefix(b" ").unwrap_or_default();
    let is_name =
        !name.is_empty() && name != b"." && name != b".." && !name.contains(&b'/') && !name.contains(&0);
    if is_name { Ok(name) } else { Err("the name is missing, or is none".into()) }
}

/// The identity after a mark, and what follows it.
fn fid<'r>(text: &'r [u8], mark: &[u8]) -> Option<(Fid, &'r [u8])> {
    let text = text.strip_prefix(mark)?;
    let (fid, rest) = text.split_at_checked(memchr::memchr(b']', text)? + 1)?;
    Some((Fid::parse(fid)?, rest))
}

fn hex(text: &[u8]) -> Option<u32> {
    let digits = text.strip_prefix(b"0x")?;
    let is_hex = digits.iter().all(u8::is_ascii_hexdigit);
    u32::from_str_radix(std::str::from_utf8(digits).ok().filter(|_| is_hex)?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "08:14:59.250441873 2026.11.26";

    fn changes(row: &str) -> Result<Vec<String>, String> {
        let row = read(row.as_bytes())?;
        let text = |change: &ListedChange<'_>| {
            let tree = if change.tree { "/…" } else { "" };
            match change.place {
                ListedPlace::Name(parent, name) => format!("{parent} {}{tree}", name.escape_ascii()),
                ListedPlace::Names(fid) => format!("{fid}{tree}"),
                ListedPlace::Path(_) => unreachable!(),
            }
        };
        let mut all: Vec<String> = row.changes.iter().map(text).collect();
        all.extend(row.removed.map(|fid| format!("removed {fid}")));
        Ok(all)
    }

    #[test]
    fn each_type_of_record_says_where_to_look() {
        for (row, expected) in [
            ("00MARK  HEAD 0x0 t=[0x20001:0x0:0x0] j=x p=[0x0:0x50000:0xb] mdd_obd-fs-MDT0000", vec![]),
            (
                "01CREAT HEAD 0x0 t=[0x2:0x1:0x0] j=cp.0 ef=0xf u=0:0 nid=0@lo m=-w- p=[0x2:0x7:0x0] ab",
                vec!["[0x2:0x7:0x0] ab"],
            ),
            ("02MKDIR HEAD 0x0 t=[0x2:0x1:0x0] p=[0x2:0x7:0x0] d", vec!["[0x2:0x7:0x0] d/…"]),
            ("03HLINK HEAD 0x0 t=[0x2:0x1:0x0] p=[0x2:0x7:0x0] h", vec!["[0x2:0x7:0x0] h", "[0x2:0x1:0x0]"]),
            (
                "06UNLNK HEAD 0x1 t=[0x2:0x1:0x0] p=[0x2:0x7:0x0] f",
                vec!["[0x2:0x7:0x0] f", "removed [0x2:0x1:0x0]"],
            ),
            ("06UNLNK HEAD 0x0 t=[0x2:0x1:0x0] p=[0x2:0x7:0x0] f", vec!["[0x2:0x7:0x0] f", "[0x2:0x1:0x0]"]),
            (
                "07RMDIR HEAD 0x1 t=[0x2:0x1:0x0] p=[0x2:0x7:0x0] d",
                vec!["[0x2:0x7:0x0] d", "removed [0x2:0x1:0x0]"],
            ),
            (
                "08RENME HEAD 0x0 t=[0x0:0x0:0x0] p=[0x2:0x7:0x0] n s=[x s=[0x2:0x1:0x0] sp=[0x2:0x8:0x0] ol",
                vec!["[0x2:0x8:0x0] ol", "[0x2:0x7:0x0] n s=[x/…"],
            ),
            (
                "08RENME HEAD 0x1 t=[0x2:0x9:0x0] p=[0x2:0x7:0x0] n s=[0x2:0x1:0x0] sp=[0x2:0x8:0x0] o",
                vec!["[0x2:0x8:0x0] o", "[0x2:0x7:0x0] n/…", "removed [0x2:0x9:0x0]"],
            ),
            ("08RENME HEAD 0x0 t=[0x2:0x9:0x0] p=[0x2:0x7:0x0] o", vec!["[0x2:0x7:0x0] o"]),
            ("09RNMTO HEAD 0x0 t=[0x0:0x0:0x0] p=[0x2:0x7:0x0] n", vec!["[0x2:0x7:0x0] n/…"]),
            ("10OPEN  HEAD 0x0 t=[0x2:0x1:0x0] p=[0x2:0x7:0x0]", vec![]),
            ("11CLOSE HEAD 0x42 t=[0x2:0x1:0x0] j=dd.0", vec!["[0x2:0x1:0x0]"]),
            ("14SATTR HEAD 0x4 t=[0x2:0x1:0x0] p=[0x2:0x7:0x0] f", vec!["[0x2:0x1:0x0]"]),
            ("16HSM   HEAD 0x0 t=[0x2:0x1:0x0]", vec!["[0x2:0x1:0x0]"]),
            ("77NEWER HEAD 0x0 t=[0x2:0x1:0x0]", vec!["[0x2:0x1:0x0]"]),
        ] {
            let row = format!("15 {}", row.replace("HEAD", HEAD));
            assert_eq!(changes(&row), Ok(expected.into_iter().map(str::to_owned).collect()), "{row}");
            assert_eq!(number(row.as_bytes()), Some(15));
            assert!(is_row(row.as_bytes()));
        }
    }

    #[test]
    fn rows_that_cannot_be_read_say_why() {
        for (row, why) in [
            ("", "number"),
            ("x 01CREAT", "number"),
            ("99999999999999999999 01CREAT", "number"),
            ("7 CREAT", "type"),
            ("7 01CREAT HEAD 0x0", "t="),
            ("7 01CREAT HEAD 0z t=[0x2:0x1:0x0]", "flags"),
            ("7 01CREAT HEAD 0x0 t=[0x2:0x1]", "t="),
            ("7 01CREAT HEAD 0x0 t=[0x2:0x1:0x0]", "p="),
            ("7 01CREAT HEAD 0x0 t=[0x2:0x1:0x0] p=[0x2:0x7", "p="),
            ("7 01CREAT HEAD 0x0 t=[0x2:0x1:0x0] p=[0x2:0x7:0x0]", "name"),
            ("7 01CREAT HEAD 0x0 t=[0x2:0x1:0x0] p=[0x2:0x7:0x0] ..", "name"),
            ("7 01CREAT HEAD 0x0 t=[0x2:0x1:0x0] p=[0x2:0x7:0x0] a/b", "name"),
            ("7 08RENME HEAD 0x0 t=[0x0:0x0:0x0] p=[0x2:0x7:0x0] n s=[0x2:0x1:0x0]", "sp="),
        ] {
            let row = row.replace("HEAD", HEAD);
            let error = changes(&row).unwrap_err();
            assert!(error.contains(why), "{row}: {error}");
        }
    }

    #[test]
    fn mutated_rows_are_read_or_refused_and_keep_their_number() {
        let seed = fastrand::u64(..);
        println!("seed {seed}");
        let mut random = fastrand::Rng::with_seed(seed);
        let whole = format!(
            "77 08RENME {HEAD} 0x1 t=[0x2:0x9:0x0] j=mv p=[0x2:0x7:0x0] n s=[0x2:0x1:0x0] sp=[0x2:0x8:0x0] o"
        );
        let mut refused = 0;
        for _ in 0..5000 {
            let mut row = whole.clone().into_bytes();
            for _ in 0..random.usize(1..4) {
                let at = random.usize(3..row.len());
                match random.u8(..3) {
                    0 => row[at] = random.u8(..),
                    1 => row.truncate(at),
                    _ => row.insert(at, random.u8(..)),
                }
                row.resize(row.len().max(4), b'x');
            }
            refused += u32::from(read(&row).is_err());
            assert_eq!(number(&row), Some(77));
        }
        assert!((1000..5000).contains(&refused), "{refused}");
    }
}
