//! The rules of words, over the classes of characters: UAX #29 as Lucene's StandardTokenizer applies it.
//!
//! At each place, the longest word that begins there is taken; if none does, the character is skipped. This
//! is UAX #29 but for a few corners, which are documented in docs/ANALYZERS.md: emoji are words, runs of
//! Southeast Asian characters are one word each, and a Hebrew letter after `"` joins with nothing more.

use super::class::Class;

/// Divides text into words and what is between them, from the classes of its characters.
pub(super) struct Pieces<'a> {
    classes: &'a [Class],
    at: usize,
    /// No word begins with a connector before this place: a text of only `_` takes linear time.
    barren: usize,
}

/// A number of characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    Word(usize),
    Gap(usize),
}

impl<'a> Pieces<'a> {
    pub(super) fn new(classes: &'a [Class]) -> Self {
        Pieces { classes, at: 0, barren: 0 }
    }

    /// The length of the word at the start of `rest`, or 0.
    fn word(&mut self, rest: &[Class]) -> usize {
        match rest[0] {
            Class::Connector if self.at < self.barren => 0,
            Class::Connector => {
                let (len, seen) = plain_word(rest);
                if len == 0 {
                    self.barren = self.at + seen;
                }
                len
            }
            Class::Letter | Class::Hebrew | Class::Number | Class::Katakana => plain_word(rest).0,
            Class::LetterPictograph => plain_word(rest).0.max(emoji(rest)),
            Class::Pictograph | Class::Modifier | Class::Joiner => emoji(rest),
            Class::KeycapBase => keycap(rest),
            Class::Region => flag(rest),
            Class::Single => 1 + run(&rest[1..], Class::is_mark),
            Class::Southeast | Class::SoutheastMark => {
                run(rest, |class| class == Class::Southeast || class.is_mark())
            }
            _ => 0,
        }
    }
}

impl Iterator for Pieces<'_> {
    type Item = Piece;

    fn next(&mut self) -> Option<Piece> {
        let rest = self.classes.get(self.at..).filter(|rest| !rest.is_empty())?;
        let piece = match self.word(rest) {
            // No emoji follows this run of joiners, so none follows a part of it.
            0 if rest[0] == Class::Joiner => Piece::Gap(run(rest, |class| class == Class::Joiner)),
            0 => Piece::Gap(1),
            len => Piece::Word(len),
        };
        let (Piece::Word(len) | Piece::Gap(len)) = piece;
        self.at += len;
        Some(piece)
    }
}

/// What has been seen of a word.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
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

impl State {
    /// The state after one more character that is not a mark; `None` if the word cannot go on with it.
    fn step(self, class: Class) -> Option<Self> {
        use Class::{
            Connector, DoubleQuote, Hebrew, Letter, LetterPictograph, MidBoth, MidLetter, MidNumber,
        };
        use Class::{Number, Quote};
        Some(match (self, class) {
            (State::LetterJoin, Letter | LetterPictograph | Hebrew) => State::Letters,
            (State::NumberJoin, Number) => State::Numbers,
            (State::QuoteJoin, Hebrew) => State::Closed,
            (State::LetterJoin | State::NumberJoin | State::QuoteJoin, _) => return None,
            (State::Start | State::Connectors, Connector) => State::Connectors,
            (_, Connector) => State::Connected,
            (State::Start | State::Connectors | State::Connected | State::Katakana, Class::Katakana) => {
                State::Katakana
            }
            (State::Katakana, _) => return None,
            (_, Letter | LetterPictograph) => State::Letters,
            (_, Hebrew) => State::Hebrew,
            (_, Number) => State::Numbers,
            (State::Hebrew, Quote) => State::Closed,
            (State::Hebrew, DoubleQuote) => State::QuoteJoin,
            (State::Letters | State::Hebrew, MidLetter | MidBoth | Quote) => State::LetterJoin,
            (State::Numbers, MidNumber | MidBoth | Quote) => State::NumberJoin,
            _ => return None,
        })
    }

    fn is_word(self) -> bool {
        use State::{Closed, Connected, Hebrew, Katakana, Letters, Numbers};
        matches!(self, Letters | Hebrew | Closed | Numbers | Katakana | Connected)
    }
}

/// The length of the word of letters and numbers at the start, or 0, and the number of characters seen.
fn plain_word(classes: &[Class]) -> (usize, usize) {
    let (mut state, mut len) = (State::Start, 0);
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
fn emoji(classes: &[Class]) -> usize {
    let (mut len, mut at) = (0, 0);
    loop {
        let is_first = len == 0;
        let joiners = run(&classes[at..], |class| class == Class::Joiner);
        at += joiners;
        let is_picture = match classes.get(at) {
            Some(Class::Pictograph | Class::LetterPictograph) => true,
            Some(Class::Modifier) if joiners == 0 => false,
            _ => return len,
        };
        at += 1;
        at += run(&classes[at..], Class::is_emoji_mark);
        len = at;
        if is_picture && classes.get(at) == Some(&Class::EmojiSelector) {
            len += 1;
            if is_first && let Some(tags) = tags(&classes[len..]) {
                return len + tags;
            }
            if classes.get(len) != Some(&Class::Joiner) {
                return len;
            }
            at = len + 1;
        } else if classes[at - 1] != Class::Joiner {
            return len;
        }
    }
}

/// The length of the tags at the start, with their end.
fn tags(classes: &[Class]) -> Option<usize> {
    let len = run(classes, |class| class == Class::Tag);
    (len > 0 && classes.get(len) == Some(&Class::TagEnd)).then_some(len + 1)
}

/// The length of the `#` or `*` with a keycap at the start, or 0.
fn keycap(classes: &[Class]) -> usize {
    let bare = 1 + run(&classes[1..], Class::is_emoji_mark);
    match classes[bare..] {
        [Class::EmojiSelector, Class::Keycap, ..] => {
            bare + 1 + run(&classes[bare + 1..], Class::is_emoji_mark)
        }
        _ if classes[..bare].contains(&Class::Keycap) => bare,
        _ => 0,
    }
}

/// The length of the flag at the start, which is two regions, or 0.
fn flag(classes: &[Class]) -> usize {
    let at = 1 + run(&classes[1..], Class::is_mark);
    let is_flag = classes.get(at) == Some(&Class::Region);
    if is_flag { at + 1 + run(&classes[at + 1..], Class::is_mark) } else { 0 }
}

/// The number of classes at the start that `is_in` accepts.
fn run(classes: &[Class], is_in: impl Fn(Class) -> bool) -> usize {
    classes.iter().position(|&class| !is_in(class)).unwrap_or(classes.len())
}
