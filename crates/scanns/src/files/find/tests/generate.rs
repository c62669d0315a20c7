//! Random find commands over a tree: every option, operator, test, action and directive.

use super::live::LiveTree;
use super::texts::DIALECTS;
use crate::source::{Entry, EntryKind};

/// The files that `-fprint` and the like write.
pub(super) const FILES: [&str; 2] = ["out 1", "out 2"];

/// The same command with two negations before every test that find 4.9 may move to the front. Find moves
/// cheap tests even before actions of another operand of `-o`: `-print -links 9 -o -name x` does not print x.
pub(super) fn in_order(words: &[Vec<u8>]) -> Vec<Vec<u8>> {
    const CHEAP: &[&str] = &[
        "-name",
        "-iname",
        "-path",
        "-ipath",
        "-wholename",
        "-iwholename",
        "-regex",
        "-iregex",
        "-true",
        "-false",
        "-maxdepth",
        "-mindepth",
        "-depth",
        "-d",
        "-xdev",
        "-mount",
        "-noleaf",
        "-regextype",
        "-nowarn",
        "-ignore_readdir_race",
    ];
    let is_cheap = |word: &[u8]| CHEAP.iter().any(|cheap| cheap.as_bytes() == word);
    let words = words.iter().filter(|word| word.as_slice() != b"-O3");
    words
        .flat_map(|word| {
            let negations = if is_cheap(word) { 2 } else { 0 };
            std::iter::repeat_n(b"!".to_vec(), negations).chain([word.clone()])
        })
        .collect()
}

/// Makes random arguments.
pub(super) struct Generator<'a> {
    pub(super) random: fastrand::Rng,
    pub(super) tree: &'a LiveTree,
    /// Start points as they may be written.
    pub(super) start_points: &'a [&'a [u8]],
    /// Whether commands with mistakes are made, too.
    pub(super) mistakes: bool,
}

impl Generator<'_> {
    /// The arguments of one command.
    pub(super) fn command(&mut self) -> Vec<Vec<u8>> {
        let mut words = Vec::new();
        if self.random.u8(..10) == 0 {
            words.push(self.one(&["-P", "-O1", "-O3", "--"]));
        }
        for _ in 0..self.random.usize(1..3) {
            words.push(self.start_points[self.random.usize(..self.start_points.len())].to_vec());
        }
        for _ in 0..[0, 0, 0, 1, 2][self.random.usize(..5)] {
            self.option(&mut words);
        }
        if self.random.u8(..20) != 0 {
            self.expression(&mut words, 4);
        }
        if self.mistakes && self.random.u8(..20) == 0 {
            self.damage(&mut words);
        }
        words
    }

    pub(super) fn one(&mut self, words: &[&str]) -> Vec<u8> {
        words[self.random.usize(..words.len())].as_bytes().to_vec()
    }

    fn push(&mut self, words: &mut Vec<Vec<u8>>, choices: &[&str]) {
        let word = self.one(choices);
        words.push(word);
    }

    fn option(&mut self, words: &mut Vec<Vec<u8>>) {
        match self.random.u8(..8) {
            0 => {
                words.push(b"-maxdepth".to_vec());
                self.push(words, &["0", "1", "2", "3", "10"]);
            }
            1 => {
                words.push(b"-mindepth".to_vec());
                self.push(words, &["0", "1", "2", "3", "10"]);
            }
            2 => self.push(words, &["-depth", "-d"]),
            3 => self.push(words, &["-xdev", "-mount", "-noleaf", "-nowarn", "-ignore_readdir_race"]),
            4 => words.push(b"-daystart".to_vec()),
            _ => {}
        }
    }

    pub(super) fn expression(&mut self, words: &mut Vec<Vec<u8>>, depth: usize) {
        match self.random.u8(..if depth == 0 { 4 } else { 16 }) {
            0..=4 => self.test(words),
            5 => self.action(words),
            6 => {
                self.push(words, &["!", "-not"]);
                self.expression(words, depth - 1);
            }
            7 | 8 => {
                words.push(b"(".to_vec());
                self.expression(words, depth - 1);
                words.push(b")".to_vec());
            }
            9 => self.option(words),
            13 => self.comma(words, depth - 1),
            operator => {
                self.expression(words, depth - 1);
                match operator {
                    10 | 11 => self.push(words, &["-o", "-or"]),
                    12 => self.push(words, &["-a", "-and"]),
                    _ => {}
                }
                self.expression(words, depth - 1);
            }
        }
        if words.last().is_some_and(|word| word == b"!" || word == b"-not" || word == b"(") {
            self.test(words);
        }
    }

    /// A list. GNU find 4.9 exchanges the operands of a comma if the second one is cheaper, which changes its
    /// value (a mistake that later versions do not make). It does not if an operand has an action, so the
    /// left operand gets one that is never reached.
    fn comma(&mut self, words: &mut Vec<Vec<u8>>, depth: usize) {
        words.extend(["(", "("].map(|word| word.as_bytes().to_vec()));
        self.expression(words, depth);
        words.extend([")", "-o", "-false", "-quit", ",", "!", "!", "("].map(|word| word.as_bytes().to_vec()));
        self.expression(words, depth);
        words.extend([")", ")"].map(|word| word.as_bytes().to_vec()));
    }

    fn damage(&mut self, words: &mut Vec<Vec<u8>>) {
        let at = self.random.usize(words.len().min(3)..=words.len());
        match self.random.u8(..3) {
            0 => words.truncate(at),
            1 => words.insert(at, b")".to_vec()),
            _ => {
                let word =
                    self.one(&["-a", "-o", ",", "(", "!", "-nosuch", "path", "-name", "-type", "-newerXY"]);
                words.insert(at, word);
            }
        }
    }

    pub(super) fn entry(&mut self) -> Entry<'_> {
        self.tree.entries[self.random.usize(..self.tree.entries.len())].entry()
    }

    fn test(&mut self, words: &mut Vec<Vec<u8>>) {
        match self.random.u8(..12) {
            0 | 1 => {
                self.push(words, &["-name", "-iname"]);
                let path = self.entry().path.to_vec();
                let name = path.rsplit(|&byte| byte == b'/').next().unwrap_or_default().to_vec();
                words.push(self.glob(&name));
            }
            2 => {
                self.push(words, &["-path", "-ipath", "-wholename", "-iwholename"]);
                let path = [b"*", self.tail().as_slice()].concat();
                words.push(self.glob(&path));
            }
            3 => {
                self.push(words, &["-lname", "-ilname"]);
                let target = self.entry().target.unwrap_or(b"*").to_vec();
                words.push(self.glob(&target));
            }
            4 => self.regex_test(words),
            5 => self.kind_test(words),
            6 => self.time_test(words),
            7 => self.newer_test(words),
            8 => self.owner_test(words),
            9 => self.number_test(words),
            10 => {
                words.push(b"-perm".to_vec());
                let argument = self.permission();
                words.push(argument);
            }
            _ => self.push(words, &["-empty", "-true", "-false", "-nouser", "-nogroup"]),
        }
    }

    fn regex_test(&mut self, words: &mut Vec<Vec<u8>>) {
        if self.random.u8(..4) > 0 {
            words.push(b"-regextype".to_vec());
            self.push(words, &DIALECTS);
        }
        self.push(words, &["-regex", "-iregex"]);
        let expression = self.regex();
        words.push(expression);
    }

    fn kind_test(&mut self, words: &mut Vec<Vec<u8>>) {
        self.push(words, &["-type", "-xtype"]);
        let mistakes: &[&str] =
            if self.mistakes { &["", "x", "D", "f,", "ff", "f,f", "f,,d"] } else { &["f"] };
        if self.random.u8(..20) == 0 {
            return self.push(words, mistakes);
        }
        self.push(words, &["f", "d", "l", "p", "s", "b", "c", "f,d", "l,d,f", "s,p", "b,c,l"]);
    }

    fn signed(&mut self, number: &str) -> Vec<u8> {
        let sign = self.one(&["", "+", "-"]);
        [sign, number.as_bytes().to_vec()].concat()
    }

    fn time_test(&mut self, words: &mut Vec<Vec<u8>>) {
        self.push(words, &["-mtime", "-atime", "-ctime", "-mmin", "-amin", "-cmin", "-used"]);
        let number = match self.random.u8(..5) {
            0 => self.random.u32(..20_000).to_string(),
            1 => format!("{}.{}", self.random.u32(..100), self.random.u32(..1000)),
            2 if self.mistakes => {
                String::from_utf8(self.one(&["x", "1x", "", "-1", "1e2", " 3", ".5", "-", "nan"])).unwrap()
            }
            _ => self.random.u32(..10).to_string(),
        };
        let argument = self.signed(&number);
        words.push(argument);
    }

    /// A path of the tree or outside of it, but no named pipe: with `-samefile`, find waits for its writer.
    fn reference(&mut self) -> Vec<u8> {
        let mistake = if self.mistakes { b"no such file".to_vec() } else { b"/etc/passwd".to_vec() };
        match (self.random.u8(..20), self.entry()) {
            (0, _) => mistake,
            (1, _) | (_, Entry { kind: Some(EntryKind::Fifo), .. }) => b"/etc/passwd".to_vec(),
            (_, entry) => entry.path.to_vec(),
        }
    }

    fn newer_test(&mut self, words: &mut Vec<Vec<u8>>) {
        if self.random.u8(..3) == 0 {
            self.push(words, &["-newermt", "-newerat", "-newerct"]);
            let seconds = self.random.u32(..);
            return match self.random.u8(..3) {
                0 => words.push(format!("@{seconds}.{}", self.random.u32(..1000)).into_bytes()),
                _ => self.push(
                    words,
                    &[
                        "2024-05-01",
                        "1999-12-31 23:59",
                        "2020-02-29 12:30:45",
                        "2026-11-01T10:00:00Z",
                        "@0",
                        "@-5",
                        "2030-01-01T00:00:00+02:00",
                        "2001-01-01 00:00:00.5",
                        "2037-12-31 23:59:59 -0500",
                        "yesterday",
                        "3 days ago",
                    ],
                ),
            };
        }
        self.push(
            words,
            &[
                "-newer",
                "-anewer",
                "-cnewer",
                "-neweraa",
                "-newerac",
                "-neweram",
                "-newerca",
                "-newercc",
                "-newercm",
                "-newerma",
                "-newermc",
                "-newermm",
                "-samefile",
            ],
        );
        let path = self.reference();
        words.push(path);
    }

    fn owner_test(&mut self, words: &mut Vec<Vec<u8>>) {
        match self.random.u8(..4) {
            0 => {
                words.push(b"-user".to_vec());
                self.push(words, &["root", "daemon", "bin", "0", "1000", "4000001", "nobody"]);
            }
            1 => {
                words.push(b"-group".to_vec());
                self.push(words, &["root", "daemon", "bin", "0", "1000", "users", "65534"]);
            }
            _ => {
                self.push(words, &["-uid", "-gid"]);
                let number = self.one(&["0", "1", "2", "99", "1000", "65534", "123456789"]);
                let argument = self.signed(std::str::from_utf8(&number).unwrap());
                words.push(argument);
            }
        }
    }

    fn number_test(&mut self, words: &mut Vec<Vec<u8>>) {
        let (test, number) = match self.random.u8(..6) {
            0 => ("-links", self.random.u64(..6).to_string()),
            1 => ("-inum", self.entry().inode.unwrap_or(0).to_string()),
            2 if self.mistakes => {
                ("-size", String::from_utf8(self.one(&["x", "", "5q", "k", "1.5k", " 4", "+4c"])).unwrap())
            }
            3 => ("-size", format!("{}c", self.entry().size.unwrap_or(0))),
            _ => {
                let unit = String::from_utf8(self.one(&["", "b", "c", "w", "k", "M", "G"])).unwrap();
                ("-size", format!("{}{unit}", [0, 1, 2, 3, 8, 100, 512, 1025][self.random.usize(..8)]))
            }
        };
        words.push(test.as_bytes().to_vec());
        let argument = self.signed(&number);
        words.push(argument);
    }

    fn action(&mut self, words: &mut Vec<Vec<u8>>) {
        match self.random.u8(..12) {
            0 | 1 => self.push(words, &["-print", "-print0", "-ls"]),
            2 => words.push(b"-prune".to_vec()),
            3 if self.random.u8(..4) == 0 => words.push(b"-quit".to_vec()),
            4 => {
                self.push(words, &["-fprint", "-fprint0", "-fls"]);
                self.push(words, &[FILES[0], FILES[1], "/dev/stdout"]);
            }
            5 => {
                words.push(b"-fprintf".to_vec());
                self.push(words, &FILES);
                let format = self.format();
                words.push(format);
            }
            _ => {
                words.push(b"-printf".to_vec());
                let format = self.format();
                words.push(format);
            }
        }
    }
}
