//! The rules of words, over the classes of characters: UAX #29 as Lucene's StandardTokenizer applies it.
//!
//! At each place, the longest word that begins there is taken; if none does, the character is skipped. This
//! is UAX #29 but for a few corners, which are documented in docs/ANALYZERS.md: emoji are words, runs of
//! Southeast Asian characters are one word each, and a Hebrew letter after `"` joins with nothing more.

use super::class::WordClass;

/// Divides text into words and what is between them, from the classes of its characters.
pub(super) struct WordSplit<'a> {
    classes: &'a [WordClass],
    at: usize,
    /// No word begins with a connector before this place: a text of only `_` takes linear time.
    barren: usize,
}

/// A number of characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WordOrGap {
    Word(usize),
    Gap(usize),
}

impl<'a> WordSplit<'a> {
    pub(super) fn new(classes: &'a [WordClass]) -> Self {
        WordSplit { classes, at: 0, barren: 0 }
    }

    /// The length of the word at the start of `rest`, or 0.
    fn word(&mut self, rest: &[WordClass]) -> usize {
        match rest[0] {
            WordClass::Connector if self.at < self.barren => 0,
            WordClass::Connector => {
                let (len, seen) = plain_word(rest);
                if len == 0 {
                    self.barren = self.at + seen;
                }
                len
            }
            WordClass::Letter | WordClass::Hebrew | WordClass::Number | WordClass::Katakana => {
                plain_word(rest).0
            }
            WordClass::LetterPictograph => plain_word(rest).0.max(emoji(rest)),
            WordClass::Pictograph | WordClass::Modifier | WordClass::Joiner => emoji(rest),
            WordClass::KeycapBase => keycap(rest),
            WordClass::Region => flag(rest),
            WordClass::Single => 1 + run(&rest[1..], WordClass::is_mark),
            WordClass::Southeast | WordClass::SoutheastMark => {
                run(rest, |class| class == WordClass::Southeast || class.is_mark())
            }
            _ => 0,
        }
    }
}

impl Iterator for WordSplit<'_> {
    type Item = WordOrGap;

    fn next(&mut self) -> Option<WordOrGap> {
        let rest = self.classes.get(self.at..).filter(|rest| !rest.is_empty())?;
        let piece = match self.word(rest) {
            // No emoji follows this run of joiners, so none follows a part of it.
            0 if rest[0] == WordClass::Joiner => {
                WordOrGap::Gap(run(rest, |class| class == WordClass::Joiner))
            }
            0 => WordOrGap::Gap(1),
            len => WordOrGap::Word(len),
        };
        let (WordOrGap::Word(len) | WordOrGap::Gap(len)) = piece;
        self.at += len;
        Some(piece)
    }
}

/// What has been seen of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum WordState {
    Start,
    /// Only connectors, which are no word.
    Connectors,
    Letters,
    /// The last letter is Hebrew, and a quote may follow it.
    Hebrew,
    /// A Hebrew word with a quote, which can only go on with a letter, number or connector.
    Closed,
    Numbers,
    Katakana,
    /// A word and a connector.
    Connected,
    /// Letters and a joiner: a letter must follow.
    LetterJoin,
    NumberJoin,
    QuoteJoin,
}

impl WordState {
    /// All states by number.
    pub(super) const ALL: [WordState; 11] = {
        use WordState::*;
        [
            Start, Connectors, Letters, Hebrew, Closed, Numbers, Katakana, Connected, LetterJoin, NumberJoin,
            QuoteJoin,
        ]
    };

    /// The state after one more character that is not a mark; `None` if the word cannot go on with it.
    pub(super) fn step(self, class: WordClass) -> Option<Self> {
        use WordClass::{
            Connector, DoubleQuote, Hebrew, Letter, LetterPictograph, MidBoth, MidLetter, MidNumber,
        };
        use WordClass::{Number, Quote};
        Some(match (self, class) {
            (WordState::LetterJoin, Letter | LetterPictograph | Hebrew) => WordState::Letters,
            (WordState::NumberJoin, Number) => WordState::Numbers,
            (WordState::QuoteJoin, Hebrew) => WordState::Closed,
            (WordState::LetterJoin | WordState::NumberJoin | WordState::QuoteJoin, _) => return None,
            (WordState::Start | WordState::Connectors, Connector) => WordState::Connectors,
            (_, Connector) => WordState::Connected,
            (
                WordState::Start | WordState::Connectors | WordState::Connected | WordState::Katakana,
                WordClass::Katakana,
            ) => WordState::Katakana,
            (WordState::Katakana, _) => return None,
            (_, Letter | LetterPictograph) => WordState::Letters,
            (_, Hebrew) => WordState::Hebrew,
            (_, Number) => WordState::Numbers,
            (WordState::Hebrew, Quote) => WordState::Closed,
            (WordState::Hebrew, DoubleQuote) => WordState::QuoteJoin,
            (WordState::Letters | WordState::Hebrew, MidLetter | MidBoth | Quote) => WordState::LetterJoin,
            (WordState::Numbers, MidNumber | MidBoth | Quote) => WordState::NumberJoin,
            _ => return None,
        })
    }

    pub(super) fn is_word(self) -> bool {
        use WordState::{Closed, Connected, Hebrew, Katakana, Letters, Numbers};
        matches!(self, Letters | Hebrew | Closed | Numbers | Katakana | Connected)
    }
}

/// The length of the word of letters and numbers at the start, or 0, and the number of characters seen.
fn plain_word(classes: &[WordClass]) -> (usize, usize) {
    let (mut state, mut len) = (WordState::Start, 0);
    for (at, &class) in classes.iter().enumerate() {
        if !class.is_mark() {
            match state.step(class) {
                Some(next) => state = next,
                None => return (len, at),
            }
        }
        if state.is_word() {
            len = at + 1;
        }
    }
    (len, classes.len())
}

/// The length of the emoji at the start, or 0: elements with joiners between them, or one with tags.
fn emoji(classes: &[WordClass]) -> usize {
    let (mut len, mut at) = (0, 0);
    loop {
        let is_first = len == 0;
        let joiners = run(&classes[at..], |class| class == WordClass::Joiner);
        at += joiners;
        let is_picture = match classes.get(at) {
            Some(WordClass::Pictograph | WordClass::LetterPictograph) => true,
            Some(WordClass::Modifier) if joiners == 0 => false,
            _ => return len,
        };
        at += 1;
        at += run(&classes[at..], WordClass::is_emoji_mark);
        len = at;
        if is_picture && classes.get(at) == Some(&WordClass::EmojiSelector) {
            len += 1;
            if is_first && let Some(tags) = tags(&classes[len..]) {
                return len + tags;
            }
            if classes.get(len) != Some(&WordClass::Joiner) {
                return len;
            }
            at = len + 1;
        } else if classes[at - 1] != WordClass::Joiner {
            return len;
        }
    }
}

/// The length of the tags at the start, with their end.
fn tags(classes: &[WordClass]) -> Option<usize> {
    let len = run(classes, |class| class == WordClass::Tag);
    (len > 0 && classes.get(len) == Some(&WordClass::TagEnd)).then_some(len + 1)
}

/// The length of the `#` or `*` with a keycap at the start, or 0.
fn keycap(classes: &[WordClass]) -> usize {
    let bare = 1 + run(&classes[1..], WordClass::is_emoji_mark);
    match classes[bare..] {
        [WordClass::EmojiSelector, WordClass::Keycap, ..] => {
            bare + 1 + run(&classes[bare + 1..], WordClass::is_emoji_mark)
        }
        _ if classes[..bare].contains(&WordClass::Keycap) => bare,
        _ => 0,
    }
}

/// The length of the flag at the start, which is two regions, or 0.
fn flag(classes: &[WordClass]) -> usize {
    let at = 1 + run(&classes[1..], WordClass::is_mark);
    let is_flag = classes.get(at) == Some(&WordClass::Region);
    if is_flag { at + 1 + run(&classes[at + 1..], WordClass::is_mark) } else { 0 }
}

/// The number of classes at the start that `is_in` accepts.
fn run(classes: &[WordClass], is_in: impl Fn(WordClass) -> bool) -> usize {
    classes.iter().position(|&class| !is_in(class)).unwrap_or(classes.len())
}
