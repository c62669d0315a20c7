//! Reads one primary of an expression: an option, a test ([`super::primary_test`]) or an action
//! ([`super::primary_action`]) with its arguments.

use super::age::AgeOrigin;
use super::date::Setting;
use super::dialect::Dialect;
use super::error::{FindError, follows_links, text};
use super::expression::{FindNode, FindOutput, Test, Traversal};
use super::facts::FindFacts;

/// The words of an expression, and what was read from them.
pub(super) struct Primaries<'a> {
    pub(super) words: &'a [&'a [u8]],
    /// The position of the next word.
    pub(super) at: usize,
    pub(super) setting: Setting,
    pub(super) facts: &'a dyn FindFacts,
    pub(super) origin: AgeOrigin,
    pub(super) dialect: Dialect,
    pub(super) traversal: Traversal,
    pub(super) outputs: Vec<FindOutput>,
    pub(super) contents: Vec<Vec<u8>>,
    pub(super) leaves: Vec<Vec<u8>>,
    pub(super) warnings: Vec<String>,
}

impl<'a> Primaries<'a> {
    pub(super) fn new(words: &'a [&'a [u8]], setting: Setting, facts: &'a dyn FindFacts) -> Self {
        Primaries {
            words,
            at: 0,
            origin: AgeOrigin::now(setting.now),
            setting,
            facts,
            dialect: Dialect::DEFAULT,
            traversal: Traversal::default(),
            outputs: vec![FindOutput::Standard],
            contents: Vec::new(),
            leaves: Vec::new(),
            warnings: Vec::new(),
        }
    }

    /// The next word.
    pub(super) fn word(&self) -> Option<&'a [u8]> {
        self.words.get(self.at).copied()
    }

    /// Takes `-daystart`, which is no part of the expression: `! -daystart` has nothing to negate.
    pub(super) fn skip_day_start(&mut self) {
        while self.word() == Some(b"-daystart") {
            self.origin = AgeOrigin::day(self.setting.midnight());
            self.at += 1;
        }
    }

    /// Reads the primary that comes next.
    pub(super) fn primary(&mut self) -> Result<FindNode, FindError> {
        let word = self.word().unwrap_or_default();
        self.at += 1;
        if self.option(word)? {
            return Ok(FindNode::Constant(true));
        }
        if let Some(node) = self.constant(word) {
            return Ok(node);
        }
        if let Some(test) = self.test(word)? {
            return Ok(FindNode::Test(self.leaf(word), test));
        }
        if let Some(action) = self.action(word)? {
            return Ok(FindNode::Action(self.leaf(word), action));
        }
        Err(self.unknown(word))
    }

    /// The number of a new leaf.
    fn leaf(&mut self, word: &[u8]) -> usize {
        self.leaves.push(word.to_vec());
        self.leaves.len() - 1
    }

    /// The argument of `word`.
    pub(super) fn argument(&mut self, word: &[u8]) -> Result<&'a [u8], FindError> {
        let argument = self.word();
        self.at += 1;
        argument.ok_or_else(|| FindError::new(format!("{} needs an argument after it", text(word))))
    }

    fn constant(&self, word: &[u8]) -> Option<FindNode> {
        match word {
            b"-true" => Some(FindNode::Constant(true)),
            b"-false" => Some(FindNode::Constant(false)),
            _ => None,
        }
    }

    /// Reads an option; false where the word is none.
    fn option(&mut self, word: &[u8]) -> Result<bool, FindError> {
        match word {
            b"-maxdepth" => self.traversal.max_depth = Some(self.depth(word)?),
            b"-mindepth" => self.traversal.min_depth = self.depth(word)?,
            b"-depth" | b"-d" => self.traversal.depth_first = true,
            b"-mount" | b"-xdev" => self.traversal.one_device = true,
            b"-regextype" => self.dialect = Dialect::named(self.argument(word)?)?,
            b"-noleaf" | b"-warn" | b"-nowarn" | b"-ignore_readdir_race" | b"-noignore_readdir_race" => {}
            b"-follow" => return Err(follows_links(word)),
            b"-help" | b"--help" | b"-version" | b"--version" => {
                return Err(FindError::new(
                    "write 'scanns find --help' for help, 'scanns --version' for the version",
                ));
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn depth(&mut self, word: &[u8]) -> Result<usize, FindError> {
        let argument = self.argument(word)?;
        let is_number = !argument.is_empty() && argument.iter().all(u8::is_ascii_digit);
        let number =
            std::str::from_utf8(argument).ok().filter(|_| is_number).and_then(|digits| digits.parse().ok());
        number.ok_or_else(|| FindError::argument(word, argument, "write a number of levels, 0, 1, 2…"))
    }

    fn unknown(&self, word: &[u8]) -> FindError {
        let hint = match word {
            b"-newer" => "",
            word if word.starts_with(b"-newer") => {
                ": write -newerXY with a, B, c or m for X and a, B, c, m or t for Y, as -newermt"
            }
            _ => ": see 'man find' for the tests; paths that begin with a dash are written ./-name",
        };
        FindError::new(format!("'{}' is not a test, an action or an option of find{hint}", text(word)))
    }

    /// The test that compares the content with a query.
    pub(super) fn content(&mut self, word: &[u8]) -> Result<Test, FindError> {
        let query = self.argument(word)?.to_vec();
        self.contents.push(query);
        Ok(Test::Content(self.contents.len() - 1))
    }
}
