//! The questions: what is asked for, and the words with which each tool is asked.
//!
//! All tools must get the same question. Therefore names are matched by case (`fd -s`), only the last name of
//! a path is searched (`plocate -b`), and patterns consist of letters and digits, which mean the same as a
//! glob, as a regular expression and as plain text. `fd -e` would ignore the case, so a regular expression
//! asks for the extension.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::hash::Hash;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use super::build::Room;
use super::listing::Listed;
use super::tool::Tool;

/// What is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Question {
    /// All paths.
    All,
    /// Names with a part.
    Part(String),
    /// Names with an extension.
    Extension(String),
    /// Regular files with an extension and more than a number of bytes.
    Large(String, u64),
    /// The space of everything in a directory.
    Space(PathBuf),
}

/// The number of names that parts are taken from.
const SAMPLES: usize = 300;

/// The length of a part in bytes.
const PART: usize = 5;

impl Question {
    /// The tool that is right.
    pub fn judge(&self) -> Tool {
        if matches!(self, Question::Space(_)) { Tool::Du } else { Tool::Find }
    }

    /// The question as find or du is asked, without the tree.
    pub fn label(&self, room: &Room) -> String {
        match self {
            Question::All => "find, all paths".into(),
            Question::Space(directory) => {
                let below = directory.strip_prefix(&room.tree).unwrap_or(directory);
                format!(
                    "du -s {}",
                    if below.as_os_str().is_empty() { "DIR".into() } else { below.to_string_lossy() }
                )
            }
            names => {
                let tests = names.tests();
                let quoted = tests
                    .split(' ')
                    .map(|word| if word.contains('*') { format!("'{word}'") } else { word.into() });
                format!("find {}", quoted.collect::<Vec<_>>().join(" "))
            }
        }
    }

    /// The tests of find.
    fn tests(&self) -> String {
        match self {
            Question::All | Question::Space(_) => String::new(),
            Question::Part(part) => format!("-name *{part}*"),
            Question::Extension(extension) => format!("-name *.{extension}"),
            Question::Large(extension, bytes) => format!("-name *.{extension} -type f -size +{bytes}c"),
        }
    }

    /// The words after the program to ask a tool, or None if it has no answer. Paths end with NUL, and sums
    /// are bytes.
    pub fn ask(&self, tool: Tool, room: &Room) -> Option<Vec<OsString>> {
        let directory = if let Question::Space(directory) = self { directory } else { &room.tree };
        Some(room.words(&self.words(tool)?, tool, directory))
    }

    /// The same words before the room is known.
    fn words(&self, tool: Tool) -> Option<String> {
        let tests = self.tests();
        Some(match (tool, self) {
            (Tool::Scanns, Question::Space(_)) => "du -s -B1 @output @tree".into(),
            (Tool::Du, Question::Space(_)) => "-s -B1 @tree".into(),
            (Tool::Duc, Question::Space(_)) => "ls -d @output -b -D @tree".into(),
            (Tool::Gdu, Question::Space(_)) => "-n -p -c -s --no-prefix @tree".into(),
            (Tool::Dua, Question::Space(_)) => "-f bytes @tree".into(),
            (_, Question::Space(_)) => return None,
            (Tool::Scanns, _) => format!("find @output @tree {tests} -print0"),
            (Tool::Find, _) => format!("@tree {tests} -print0"),
            (Tool::Plocate, Question::All) => "-d @output -0 /".into(),
            (Tool::Plocate, Question::Part(part)) => format!("-d @output -0 -b {part}"),
            (Tool::Plocate, Question::Extension(extension)) => format!("-d @output -0 -b *.{extension}"),
            (Tool::Fd, Question::All) => "-u -H -I -s -0 . @tree".into(),
            (Tool::Fd, Question::Part(part)) => format!("-u -H -I -s -0 {part} @tree"),
            (Tool::Fd, Question::Extension(extension)) => format!(r"-u -H -I -s -0 \.{extension}$ @tree"),
            (Tool::Fd, Question::Large(extension, bytes)) => {
                format!(r"-u -H -I -s -0 -t f -S +{}b \.{extension}$ @tree", bytes + 1)
            }
            _ => return None,
        })
    }
}

/// Chooses questions with few and with many answers among the entries of a tree.
#[expect(clippy::cast_precision_loss, reason = "shares of entries")]
pub fn choose(entries: &[Listed<'_>]) -> Vec<Question> {
    let total = entries.len() as f64;
    let mut questions = vec![Question::All];
    let parts = parts(entries);
    let (rare, common) = (nearest(&parts, 20.0), nearest(&parts, total / 200.0));
    questions.extend(common.filter(|part| Some(part) != rare.as_ref()).map(Question::Part));
    questions.extend(rare.map(Question::Part));
    if let Some(extension) = nearest(&extensions(entries), total / 20.0) {
        questions.push(Question::Extension(extension.clone()));
        let bytes = size_of_largest_tenth(entries, &extension);
        questions.push(Question::Large(extension, bytes));
    }
    let mut directories = directories(entries);
    directories.retain(|_, entries| *entries > 1);
    let mut asked: Vec<&[u8]> = entries.first().map(|tree| tree.path).into_iter().collect();
    for share in [20.0, 1000.0] {
        asked.extend(nearest(&directories, total / share));
    }
    asked.dedup();
    questions.extend(asked.into_iter().map(|path| Question::Space(OsStr::from_bytes(path).into())));
    questions
}

/// The key whose count is nearest to `aim`.
#[expect(clippy::cast_precision_loss, reason = "a comparison of counts")]
fn nearest<K: Clone + Ord>(counts: &HashMap<K, usize>, aim: f64) -> Option<K> {
    let distance = |count: usize| (count.max(1) as f64 / aim).ln().abs();
    let least = counts.iter().min_by(|(one, first), (other, second)| {
        distance(**first).total_cmp(&distance(**second)).then_with(|| one.cmp(other))
    });
    least.map(|(key, _)| key.clone())
}

fn add<K: Hash + Eq>(counts: &mut HashMap<K, usize>, key: K) {
    *counts.entry(key).or_default() += 1;
}

/// Parts of some names, with the number of times that they occur in all names.
fn parts(entries: &[Listed<'_>]) -> HashMap<String, usize> {
    let step = entries.len().div_ceil(SAMPLES).max(1);
    let plain = |part: &&[u8]| part.iter().all(u8::is_ascii_alphanumeric);
    let mut counts: HashMap<&[u8], usize> = HashMap::new();
    for entry in entries.iter().skip(1).step_by(step) {
        counts.extend(entry.name().windows(PART).filter(plain).map(|part| (part, 0)));
    }
    for part in entries.iter().skip(1).flat_map(|entry| entry.name().windows(PART)) {
        if let Some(count) = counts.get_mut(part) {
            *count += 1;
        }
    }
    counts.into_iter().map(|(part, count)| (String::from_utf8_lossy(part).into_owned(), count)).collect()
}

/// The extension of a name, if it consists of up to eight letters and digits.
fn extension(name: &[u8]) -> Option<&[u8]> {
    let dot = name.iter().rposition(|&byte| byte == b'.')?;
    let extension = name.get(dot + 1..)?;
    let is_plain = (1..=8).contains(&extension.len()) && extension.iter().all(u8::is_ascii_alphanumeric);
    is_plain.then_some(extension)
}

/// Extensions of regular files, with their numbers.
fn extensions(entries: &[Listed<'_>]) -> HashMap<String, usize> {
    let mut counts = HashMap::new();
    for entry in entries.iter().filter(|entry| entry.kind == b'f') {
        if let Some(extension) = extension(entry.name()) {
            add(&mut counts, extension);
        }
    }
    counts.into_iter().map(|(name, count)| (String::from_utf8_lossy(name).into_owned(), count)).collect()
}

/// A size that a tenth of the regular files with an extension exceeds.
fn size_of_largest_tenth(entries: &[Listed<'_>], wanted: &str) -> u64 {
    let files = entries.iter().filter(|entry| entry.kind == b'f');
    let these = files.filter(|entry| extension(entry.name()) == Some(wanted.as_bytes()));
    let mut sizes: Vec<u64> = these.map(|entry| entry.size).collect();
    sizes.sort_unstable();
    sizes.get(sizes.len() * 9 / 10).or(sizes.last()).map_or(0, |size| size.saturating_sub(1))
}

/// Directories below the tree, with the number of entries in each, and itself.
fn directories<'l>(entries: &[Listed<'l>]) -> HashMap<&'l [u8], usize> {
    let Some((tree, entries)) = entries.split_first() else { return HashMap::new() };
    let mut counts = HashMap::new();
    for entry in entries {
        if entry.kind == b'd' {
            add(&mut counts, entry.path);
        }
        let mut path = entry.path;
        while let Some(end) = path.iter().rposition(|&byte| byte == b'/') {
            path = path.get(..end).unwrap_or_default();
            if path.len() <= tree.path.len() {
                break;
            }
            add(&mut counts, path);
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed<'l>(path: &'l str, kind: u8, size: u64) -> Listed<'l> {
        Listed { path: path.as_bytes(), kind, size, blocks: 0 }
    }

    fn room() -> Room {
        Room { tree: "/t".into(), work: "/w".into() }
    }

    fn asked(question: &Question, tool: Tool) -> Option<String> {
        let words = question.ask(tool, &room())?;
        Some(words.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn every_tool_gets_the_same_question_in_its_own_words() {
        let large = Question::Large("h5".into(), 99);
        assert_eq!(asked(&large, Tool::Find).unwrap(), "/t -name *.h5 -type f -size +99c -print0");
        let scanns = "find /w/files.scanns /t -name *.h5 -type f -size +99c -print0";
        assert_eq!(asked(&large, Tool::Scanns).unwrap(), scanns);
        assert_eq!(asked(&large, Tool::Fd).unwrap(), r"-u -H -I -s -0 -t f -S +100b \.h5$ /t");
        assert_eq!(asked(&large, Tool::Plocate), None, "it keeps no sizes");
        let part = Question::Part("run".into());
        assert_eq!(asked(&part, Tool::Plocate).unwrap(), "-d /w/files.plocate -0 -b run");
        assert_eq!(asked(&Question::All, Tool::Plocate).unwrap(), "-d /w/files.plocate -0 /");
        let space = Question::Space("/t/a".into());
        assert_eq!(asked(&space, Tool::Scanns).unwrap(), "du -s -B1 /w/files.scanns /t/a");
        assert_eq!(asked(&space, Tool::Fd), None);
        assert_eq!((space.label(&room()), space.judge()), ("du -s a".into(), Tool::Du));
        assert_eq!((part.label(&room()), part.judge()), ("find -name '*run*'".into(), Tool::Find));
    }

    #[test]
    fn questions_have_as_many_answers_as_they_should() {
        let mut paths: Vec<String> =
            (0..1000).map(|at| format!("/t/d{}/measure{at}.dat", at / 100)).collect();
        paths.extend((0..25).map(|at| format!("/t/d0/singular{at}.h5")));
        let mut entries = vec![listed("/t", b'd', 0)];
        entries.extend(paths.iter().zip(0..).map(|(path, size)| listed(path, b'f', size)));
        let questions = choose(&entries);
        let parts: Vec<&String> = questions
            .iter()
            .filter_map(|question| if let Question::Part(part) = question { Some(part) } else { None })
            .collect();
        assert!(
            !parts.is_empty() && parts.iter().any(|part| "singular".contains(part.as_str())),
            "{parts:?}"
        );
        assert!(questions.contains(&Question::Extension("h5".into())), "{questions:?}");
        assert!(
            questions.contains(&Question::Large("h5".into(), 1021)),
            "22 of 25 are not larger: {questions:?}"
        );
        assert!(questions.contains(&Question::Space("/t".into())), "{questions:?}");
        assert_eq!(choose(&[]), [Question::All]);
    }

    #[test]
    fn directories_have_everything_below_them() {
        let entries = [
            listed("/t", b'd', 0),
            listed("/t/a", b'd', 0),
            listed("/t/a/b", b'd', 0),
            listed("/t/a/b/c", b'f', 0),
        ];
        let counts = directories(&entries);
        assert_eq!(counts, [(&b"/t/a"[..], 3), (&b"/t/a/b"[..], 2)].into());
    }

    #[test]
    fn extensions_are_plain_ends_of_names() {
        assert_eq!(extension(b"a.tar.gz"), Some(&b"gz"[..]));
        for none in [&b"a"[..], b"a.", b"a.b c", b"a.\xff", b"a.longerthan8"] {
            assert_eq!(extension(none), None);
        }
    }
}
