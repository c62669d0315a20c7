//! Entries of a dump: columns that are unknown, facts that the dump does not give, the order of a walk.

use std::io;

use jiff::tz::TimeZone;

use super::super::error::FindError;
use super::super::walk::WalkCounts;
use super::super::{
    FindFacts, FindSink, FindWalk, FoundTarget, NamePart, Next, OwnerIdentity, ReferenceEntry, Requirements,
    Setting, parse,
};
use crate::source::{Entry, EntryKind};

/// 2024-05-01 00:00:00 UTC.
const NOW: i64 = 1_714_521_600 * 1_000_000_000;

/// A dump without facts about links.
struct Dump;

impl FindFacts for Dump {
    fn reference(&self, path: &[u8]) -> Option<ReferenceEntry> {
        (path == b"/known").then_some(ReferenceEntry {
            mtime: Some(5),
            inode: Some(7),
            ..ReferenceEntry::default()
        })
    }

    fn is_empty_directory(&self, _entry: &Entry) -> Option<bool> {
        None
    }

    fn target(&self, _entry: &Entry) -> FoundTarget {
        FoundTarget::Unknown
    }

    fn user(&self, name: &[u8]) -> Option<OwnerIdentity> {
        (name == b"anna").then_some(OwnerIdentity::Name)
    }

    fn group(&self, name: &[u8]) -> Option<OwnerIdentity> {
        (name == b"staff").then_some(OwnerIdentity::Id(50))
    }

    fn has_names(&self) -> bool {
        false
    }

    fn matches_content(&self, query: usize, entry: &Entry) -> bool {
        query == 1 && entry.path.ends_with(b"b")
    }
}

struct Text(Vec<u8>);

impl FindSink for Text {
    fn write(&mut self, _output: usize, bytes: &[u8]) -> io::Result<()> {
        self.0.extend_from_slice(bytes);
        Ok(())
    }
}

fn setting() -> Setting {
    Setting { now: NOW, zone: TimeZone::UTC }
}

fn error(words: &[&str]) -> String {
    parse(words, setting(), &Dump).err().map(|error: FindError| error.to_string()).unwrap_or_default()
}

/// What is printed for entries below `/r`, what was unknown, and the counts.
fn find(words: &[&str], entries: &[Entry]) -> (String, Vec<(String, u64)>, WalkCounts) {
    let command = parse(words, setting(), &Dump).unwrap();
    let mut text = Text(Vec::new());
    let mut walk = FindWalk::new(&command.expression, &Dump, &mut text);
    walk.begin(b"r", b"/r");
    for entry in entries {
        if walk.visit(entry).unwrap() == Next::Stop {
            break;
        }
    }
    walk.end().unwrap();
    let unknown = walk.unknown().into_iter();
    let unknown = unknown.map(|column| (String::from_utf8(column.word).unwrap(), column.count)).collect();
    let counts = walk.counts();
    (String::from_utf8(text.0).unwrap(), unknown, counts)
}

fn entry(path: &str, kind: EntryKind) -> Entry<'_> {
    Entry { path: path.as_bytes(), kind: Some(kind), ..Entry::default() }
}

fn tree() -> Vec<Entry<'static>> {
    use EntryKind::{Directory, File, Link};
    [
        ("/r", Directory),
        ("/r/a", Directory),
        ("/r/a/b", File),
        ("/r/a-b", File),
        ("/r/c", Directory),
        ("/r/c/l", Link),
    ]
    .map(|(path, kind)| entry(path, kind))
    .to_vec()
}

#[test]
fn an_unknown_column_makes_a_test_false_and_is_counted() {
    let mut entries = tree();
    entries[2].size = Some(1);
    let (text, unknown, _) = find(&["-size", "+0"], &entries);
    assert_eq!(text, "r/a/b\n");
    assert_eq!(unknown, [("-size".to_owned(), 5)]);
    let (text, unknown, _) = find(&["!", "-size", "+0"], &entries[1..3]);
    assert_eq!(text, "r/a\n", "the negation of an unknown test is true");
    assert_eq!(unknown, [("-size".to_owned(), 1)]);
}

#[test]
fn unknown_facts_are_counted() {
    let tests =
        ["-empty", "-nouser", "-mtime 1", "-xtype l", "-perm 644", "-lname *", "-used 1", "-samefile /known"];
    for test in tests {
        let words: Vec<&str> = test.split(' ').collect();
        let (text, unknown, _) = find(&words, &tree());
        assert_eq!((text.as_str(), unknown.len()), ("", 1), "{test}");
    }
}

#[test]
fn unknown_values_print_as_question_marks() {
    let (text, unknown, _) = find(&["-name", "b", "-printf", "%3s|%u|%p|%TY|%Y|%B@\n"], &tree());
    assert_eq!(text, "  ?|?|r/a/b|?|f|?\n");
    assert_eq!(unknown, [("-printf".to_owned(), 1)]);
    let (text, ..) = find(&["-name", "l", "-ls"], &tree());
    assert_eq!(text, "        ?      ? ??????????   ? ?        ?               ?            ? r/c/l -> ?\n");
}

#[test]
fn times_of_birth_are_known_to_a_dump() {
    let mut entries = tree();
    entries[2].btime = Some(1_500_000_000);
    let words = ["-newerBt", "@1", "-printf", "%B@ %B+ %BY\n"];
    assert_eq!(find(&words, &entries).0, "1.5000000000 1970-01-01+00:00:01.5000000000 1970\n");
}

#[test]
fn an_owner_is_compared_by_name_where_numbers_are_missing() {
    let mut entries = tree();
    entries[1].owner = Some(b"anna");
    entries[2].uid = Some(50);
    entries[3].gid = Some(50);
    entries[4].group = Some(b"staff");
    assert_eq!(find(&["-user", "anna"], &entries).0, "r/a\n");
    assert_eq!(find(&["-user", "50"], &entries).0, "r/a/b\n");
    assert_eq!(find(&["-group", "staff"], &entries).0, "r/a-b\nr/c\n");
    assert!(error(&["-user", "bob"]).contains("no entry of the index has this name"));
}

#[test]
fn devices_without_mode_are_block_or_character_devices_together_only() {
    let entries = [entry("/r/d", EntryKind::Device)];
    assert_eq!(find(&["-type", "b,c"], &entries).0, "r/d\n");
    let (text, unknown, _) = find(&["-type", "b"], &entries);
    assert_eq!((text.as_str(), unknown.len()), ("", 1));
    assert_eq!(find(&["-type", "f"], &entries).1, []);
}

#[test]
fn contents_are_asked_by_the_number_of_their_query() {
    let words = ["-content", "one", "-o", "-content", "two", "-type", "f"];
    let command = parse(&words, setting(), &Dump).unwrap();
    assert_eq!(command.expression.contents, [b"one", b"two"]);
    assert_eq!(find(&words, &tree()).0, "r/a/b\nr/a-b\n");
}

#[test]
fn pruned_and_deep_entries_are_left_out_and_the_caller_knows() {
    let words = ["-name", "a", "-prune", "-o", "-print"];
    assert_eq!(find(&words, &tree()).0, "r\nr/a-b\nr/c\nr/c/l\n");
    assert_eq!(find(&["-maxdepth", "1"], &tree()).0, "r\nr/a\nr/a-b\nr/c\n");
    assert_eq!(find(&["-mindepth", "2"], &tree()).0, "r/a/b\nr/c/l\n");
    assert_eq!(find(&["-depth"], &tree()).0, "r/a/b\nr/a\nr/a-b\nr/c/l\nr/c\nr\n");
    let command = parse(&["-name", "a", "-prune"], setting(), &Dump).unwrap();
    let mut text = Text(Vec::new());
    let mut walk = FindWalk::new(&command.expression, &Dump, &mut text);
    walk.begin(b"r", b"/r");
    let entries = tree();
    let next: Vec<Next> = entries[..3].iter().map(|entry| walk.visit(entry).unwrap()).collect();
    assert_eq!(next, [Next::Below, Next::Beside, Next::Beside]);
}

#[test]
fn a_quit_ends_the_walk_and_waiting_directories_are_not_evaluated() {
    let (text, _, counts) = find(&["-depth", "-print", "-name", "b", "-quit"], &tree());
    assert_eq!((text.as_str(), counts.evaluated), ("r/a/b\n", 1));
}

#[test]
fn another_device_is_shown_but_not_entered() {
    let mut entries = tree();
    entries.iter_mut().for_each(|entry| entry.device = Some(1));
    entries[1].device = Some(2);
    entries[2].device = Some(2);
    assert_eq!(find(&["-xdev"], &entries).0, "r\nr/a\nr/a-b\nr/c\nr/c/l\n");
}

#[test]
fn entries_outside_of_the_start_point_are_counted() {
    let entries =
        [entry("/r", EntryKind::Directory), entry("/rest", EntryKind::File), entry("/r/x", EntryKind::File)];
    let (text, _, counts) = find(&[], &entries);
    assert_eq!((text.as_str(), counts.outside, counts.evaluated), ("r\nr/x\n", 1, 2));
}

#[test]
fn a_walk_of_the_root_shows_one_slash() {
    let command = parse(&["-depth"], setting(), &Dump).unwrap();
    let mut text = Text(Vec::new());
    let mut walk = FindWalk::new(&command.expression, &Dump, &mut text);
    walk.begin(b"/", b"/");
    for path in ["/", "/a", "/a/b"] {
        walk.visit(&entry(path, EntryKind::Directory)).unwrap();
    }
    walk.end().unwrap();
    assert_eq!(text.0, b"/a/b\n/a\n/\n");
}

fn requirements(words: &[&str]) -> Option<Requirements> {
    parse(words, setting(), &Dump).unwrap().expression.requirements()
}

#[test]
fn requirements_are_what_every_printed_entry_satisfies() {
    let both = requirements(&["-name", "*.h5", "-size", "+1G", "-type", "f"]).unwrap();
    assert_eq!(both.names, [[NamePart::Suffix(b".h5".to_vec())]]);
    assert_eq!(both.size, ((1u64 << 30) + 1, u64::MAX).into());
    let either = requirements(&["-name", "a*", "-size", "-5c", "-o", "-name", "*b*", "-size", "9c"]).unwrap();
    assert_eq!(either.names, [[NamePart::Prefix(b"a".to_vec()), NamePart::Contains(b"b".to_vec())]]);
    assert_eq!(either.size, (0, 9).into());
    let first = requirements(&["-name", "x", "-print", "-o", "-uid", "5"]).unwrap();
    assert_eq!(first.names, [[NamePart::Equal(b"x".to_vec())]]);
    let none = requirements(&["-name", "a", "-prune", "-o", "-print"]);
    assert_eq!(none, None);
    let old = requirements(&["-mtime", "+10", "-user", "anna"]).unwrap();
    assert_eq!(old.mtime, (i64::MIN, NOW - 11 * 86_400 * 1_000_000_000 - 1).into());
    assert_eq!(old.owners, Some(vec![b"anna".to_vec()]));
    let negated = requirements(&["!", "-type", "d"]).unwrap();
    assert!(
        !negated.allow(&entry("/r", EntryKind::Directory)) && negated.allow(&entry("/f", EntryKind::File))
    );
    let never = requirements(&["-false"]).unwrap();
    assert!(!never.allow(&entry("/f", EntryKind::File)));
}

#[test]
fn errors_say_what_to_write_instead() {
    let cases: [(&[&str], &str); 30] = [
        (&["-exec", "ls", ";"], "xargs -0 COMMAND"),
        (&["-ok", "ls", ";"], "xargs -0 -p"),
        (&["-delete"], "xargs -0 rm -d"),
        (&["-readable"], "-maxdepth 0 -readable"),
        (&["-fstype", "ext4"], "-maxdepth 0 -fstype TYPE"),
        (&["-context", "x"], "run find on the result"),
        (&["-files0-from", "f"], "xargs -0 -a FILE"),
        (&["-L", "/r"], "leave out -L"),
        (&["-H"], "leave out -H"),
        (&["-follow"], "leave out -follow"),
        (&["-D", "tree"], "leave it out"),
        (&["-Ox"], "write -O1"),
        (&["-nosuch"], "'-nosuch' is not a test"),
        (&["-newerxt", "now"], "-newerXY"),
        (&["-newermt", "noon"], "YYYY-MM-DD"),
        (&["-newer", "/nowhere"], "no entry '/nowhere'"),
        (&["-newerca", "/known"], "does not hold the time"),
        (&["-name"], "-name needs an argument"),
        (&["-type", "x"], "letters b c d f l p s"),
        (&["-type", "f,f"], "twice"),
        (&["-size", "5q"], "k KiB"),
        (&["-perm", "+7"], "octal mode"),
        (&["-maxdepth", "-1"], "number of levels"),
        (&["-regextype", "perl"], "posix-extended"),
        (&["-regex", "\\("], "a group does not end"),
        (&["-regex", "\\(a\\)\\1"], "back references"),
        (&["(", "-true"], "'(' without a ')'"),
        (&["-true", ")"], "')' without a '('"),
        (&["-true", "-o"], "ends after '-o'"),
        (&["-true", "path"], "write paths first"),
    ];
    for (words, expected) in cases {
        let message = error(words);
        assert!(message.contains(expected), "{words:?}: {message}");
    }
    let deep: Vec<&str> = std::iter::repeat_n("!", 100_000).chain(["-true"]).collect();
    assert!(error(&deep).contains("nested"));
}

#[test]
fn dates_are_read_in_the_local_zone() {
    let zone = TimeZone::get("Europe/Berlin").unwrap();
    let cases = [
        ("2024-05-01", 1_714_514_400),
        ("2024-05-01 02:00", 1_714_521_600),
        ("2024-05-01T02:00:00", 1_714_521_600),
        ("2024-05-01T00:00:00Z", 1_714_521_600),
        ("2024-05-01 01:00:00 +01:00", 1_714_521_600),
        ("@17", 17),
        ("now", 1_714_521_600),
        ("yesterday", 1_714_435_200),
        ("2 hours ago", 1_714_514_400),
    ];
    for (text, seconds) in cases {
        let setting = Setting { now: NOW, zone: zone.clone() };
        assert_eq!(setting.time(b"-newermt", text.as_bytes()).unwrap(), seconds * 1_000_000_000, "{text}");
    }
    assert_eq!(setting().time(b"-newermt", b"@-1.5").unwrap(), -1_500_000_000);
    let far = [
        &b"-99999999999999999 days ago"[..],
        b"99999999999999999 weeks ago",
        b"@99999999999999999999",
        b"\xff",
    ];
    assert!(far.iter().all(|text| setting().time(b"-newermt", text).is_err()));
}

#[test]
fn long_and_random_arguments_are_read_without_a_panic() {
    let repeated = [
        "*",
        "^*",
        "\\(",
        "(",
        "a*",
        "\\(a\\{9,99\\}\\)*",
        "(((a{9}){99}){999}){9999}",
        "[",
        "[[:",
        "a**",
        "?",
        "+",
    ];
    for dialect in super::texts::DIALECTS {
        for piece in repeated {
            let times = if dialect == "posix-extended" { 40 } else { 6 };
            let _ = parse(&["-regextype", dialect, "-regex", &piece.repeat(times)], setting(), &Dump);
            let _ = parse(&["-regextype", dialect, "-iregex", &piece.repeat(8)], setting(), &Dump);
        }
    }
    let _ = parse(
        &["-name", &"[a".repeat(2_000), "-printf", &"%".repeat(9_999), "-perm", &"u+".repeat(9_999)],
        setting(),
        &Dump,
    );
    let seed = fastrand::u64(..);
    println!("seed: {seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    let words = "-name -size -mtime -newermt -perm -regex -regextype -printf -used -type -maxdepth -user \
        -o ( ) ! , -not -ls";
    let words: Vec<&[u8]> = words.split(' ').map(str::as_bytes).collect();
    for _ in 0..1_000 {
        let argument = |random: &mut fastrand::Rng| match random.bool() {
            true => words[random.usize(..words.len())].to_vec(),
            false => (0..random.usize(..9))
                .map(|_| b"-+%[]{}()*?\\0159.:@eTXu=x/ ,\xff"[random.usize(..29)])
                .collect(),
        };
        let arguments: Vec<Vec<u8>> = (0..random.usize(..6)).map(|_| argument(&mut random)).collect();
        let Ok(command) = parse(&arguments, setting(), &Dump) else { continue };
        let mut text = Text(Vec::new());
        let mut walk = FindWalk::new(&command.expression, &Dump, &mut text);
        walk.begin(b"r", b"/r");
        let _ = command.expression.requirements();
        tree().iter().for_each(|entry| drop(walk.visit(entry)));
    }
}
