//! What a character is to the rules of words: UAX #29, with the additions of Lucene's StandardTokenizer for
//! emoji, Southeast Asian scripts, and Chinese and Japanese.

use std::sync::LazyLock;

use super::class_table::RUNS;

/// The class of a character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum WordClass {
    /// White space, punctuation, symbols, and whatever is not assigned.
    Other,
    /// Letters that form words, Hangul too.
    Letter,
    Hebrew,
    Number,
    /// `_` and the like.
    Connector,
    Katakana,
    /// Han and Hiragana: each character is a word.
    Single,
    /// Thai, Lao, Khmer, Burmese and others without spaces: a run of them is a word.
    Southeast,
    /// Joins letters: `:`, `·`.
    MidLetter,
    /// Joins digits: `,`, `;`.
    MidNumber,
    /// Joins either: `.`, `’`.
    MidBoth,
    /// `'`, which joins either, and ends a Hebrew word.
    Quote,
    /// `"`, which joins Hebrew letters.
    DoubleQuote,
    /// `#` and `*`, which with [`WordClass::Keycap`] are emoji. Digits are too, but are words anyway.
    KeycapBase,
    Pictograph,
    /// A letter and a pictograph: `Ⓜ`.
    LetterPictograph,
    /// Half of a flag.
    Region,
    // From here on, the character belongs to the one before it.
    /// A colour of skin, which is an emoji if it comes first.
    Modifier,
    /// Combining marks and format characters.
    Mark,
    SoutheastMark,
    /// U+200D, which joins emoji.
    Joiner,
    /// U+20E3.
    Keycap,
    /// U+FE0E.
    TextSelector,
    /// U+FE0F.
    EmojiSelector,
    /// U+E0020 to U+E007E: the names of regions that have a flag.
    Tag,
    TagEnd,
}

/// All classes by number.
pub(super) const ALL: [WordClass; 26] = {
    use WordClass::*;
    [
        Other,
        Letter,
        Hebrew,
        Number,
        Connector,
        Katakana,
        Single,
        Southeast,
        MidLetter,
        MidNumber,
        MidBoth,
        Quote,
        DoubleQuote,
        KeycapBase,
        Pictograph,
        LetterPictograph,
        Region,
        Modifier,
        Mark,
        SoutheastMark,
        Joiner,
        Keycap,
        TextSelector,
        EmojiSelector,
        Tag,
        TagEnd,
    ]
};

impl WordClass {
    /// The class of `c`.
    #[inline]
    pub(super) fn of(c: char) -> Self {
        match BASIC.get(c as usize) {
            Some(class) => *class,
            None => Self::search(c as u32),
        }
    }

    fn search(code_point: u32) -> Self {
        let after = RUNS.partition_point(|run| run >> 8 <= code_point);
        RUNS[..after].last().map_or(WordClass::Other, |run| ALL[(run & 0xff) as usize])
    }

    /// True if a character of this class belongs to the word before it (WB4).
    #[inline]
    pub(super) fn is_mark(self) -> bool {
        self as u8 >= WordClass::Modifier as u8
    }

    /// True if it belongs to the emoji before it: the selectors end an element.
    #[inline]
    pub(super) fn is_emoji_mark(self) -> bool {
        self.is_mark() && !matches!(self, WordClass::TextSelector | WordClass::EmojiSelector)
    }
}

/// The classes of the Basic Multilingual Plane by code point, since a search among the runs costs more than
/// the rest of what is done with a character.
static BASIC: LazyLock<Box<[WordClass]>> = LazyLock::new(|| (0..0x1_0000).map(WordClass::search).collect());
