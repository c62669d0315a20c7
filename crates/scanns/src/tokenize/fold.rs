//! Removes diacritics, ligatures and other variants of letters: `Größe` becomes `Grosse`, `ﬁn` becomes `fin`,
//! `Ａ` becomes `A`.
//!
//! A character is decomposed by Unicode's compatibility decomposition, NFKD. Marks that only modify a letter
//! are removed. Unicode does not decompose Latin letters with a stroke, or letters that combine two others;
//! they are replaced as ASCII folding does. The rest is composed again, NFC. Marks that are letters in their
//! own right stay: vowel signs of India and Southeast Asia, and voicing marks of kana.
//!
//! Hundreds of characters have no lower case, but their decomposition has one: `𝐇`, `ℝ`, `ᴬ`. If words are in
//! lower case, decompositions are therefore lower-cased too. The result for each character is part of the
//! format of an index: the crate that decomposes stays at one version, and a test checks all results.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::{canonical_combining_class, decompose_compatible, is_combining_mark};

/// The maximum length of a decomposition, in characters. Characters with a longer one are whole phrases, and
/// are unchanged: text must not grow many times over, because the memory of index threads is limited.
const MOST_CHARACTERS: usize = 4;

/// Folds text; its buffer is reused.
pub(super) struct Fold {
    /// True if the text is in lower case, and the result must be.
    lower: bool,
    spare: String,
}

impl Fold {
    pub(super) fn new(lower: bool) -> Self {
        Fold { lower, spare: String::new() }
    }

    /// Appends `text` after folding it.
    pub(super) fn apply(&mut self, text: &str, out: &mut Vec<u8>) {
        let Fold { lower, spare } = self;
        spare.clear();
        for c in text.chars() {
            if c.is_ascii() {
                spare.push(c);
            } else {
                fold_one(c, *lower, spare);
            }
        }
        if spare.is_ascii() {
            out.extend_from_slice(spare.as_bytes());
        } else {
            spare.nfc().for_each(|c| out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()));
        }
    }
}

fn fold_one(c: char, lower: bool, out: &mut String) {
    let mut characters = 0;
    decompose_compatible(c, |_| characters += 1);
    if characters > MOST_CHARACTERS {
        return out.push(c);
    }
    decompose_compatible(c, |part| {
        // Accents on their own are decomposed into a space and a mark.
        let beside = part == ' ' && !c.is_whitespace();
        if beside || modifies(part) {
            return;
        }
        let part = if lower { part.to_lowercase().next().unwrap_or(part) } else { part };
        match plain(part) {
            Some(letters) => out.push_str(letters),
            None => out.push(part),
        }
    });
}

/// True for marks and other characters that only modify the character before them.
fn modifies(c: char) -> bool {
    match c {
        // The soft hyphen, the grapheme joiner, and variation selectors.
        '\u{ad}' | '\u{34f}' | '\u{fe00}'..='\u{fe0f}' => true,
        // Overlays; points of Hebrew, Arabic and Syriac; marks attached to a letter, or below, beside or
        // above it. The classes between these are vowel signs; 0 and 7 to 9 belong to a letter.
        _ => is_combining_mark(c) && matches!(canonical_combining_class(c), 1 | 10..=36 | 200..=240),
    }
}

/// The replacement of Latin letters and punctuation that have no decomposition.
fn plain(c: char) -> Option<&'static str> {
    Some(match c {
        'Æ' => "AE",
        'æ' => "ae",
        'Œ' => "OE",
        'œ' => "oe",
        'ẞ' => "SS",
        'ß' => "ss",
        'Þ' => "TH",
        'þ' => "th",
        'Ⱥ' => "A",
        'ⱥ' => "a",
        'Ƀ' | 'Ɓ' => "B",
        'ƀ' | 'ɓ' => "b",
        'Ȼ' | 'Ƈ' => "C",
        'ȼ' | 'ƈ' => "c",
        'Đ' | 'Ð' | 'Ɖ' | 'Ɗ' => "D",
        'đ' | 'ð' | 'ɖ' | 'ɗ' => "d",
        'Ɇ' => "E",
        'ɇ' => "e",
        'Ƒ' => "F",
        'ƒ' => "f",
        'Ǥ' | 'Ɠ' => "G",
        'ǥ' | 'ɠ' => "g",
        'Ħ' => "H",
        'ħ' => "h",
        'Ɨ' => "I",
        'ı' | 'ɨ' => "i",
        'Ɉ' => "J",
        'ȷ' | 'ɉ' => "j",
        'Ƙ' => "K",
        'ƙ' => "k",
        'Ł' | 'Ƚ' => "L",
        'ł' | 'ƚ' => "l",
        'Ŋ' | 'Ɲ' => "N",
        'ŋ' | 'ɲ' => "n",
        'Ø' | 'Ɵ' => "O",
        'ø' | 'ɵ' => "o",
        'Ƥ' => "P",
        'ƥ' => "p",
        'ĸ' => "q",
        'Ɍ' => "R",
        'ɍ' => "r",
        'Ŧ' | 'Ƭ' | 'Ʈ' | 'Ⱦ' => "T",
        'ŧ' | 'ƭ' | 'ʈ' | 'ⱦ' => "t",
        'Ʉ' => "U",
        'ʉ' => "u",
        'Ʋ' => "V",
        'ʋ' => "v",
        'Ƴ' | 'Ɏ' => "Y",
        'ƴ' | 'ɏ' => "y",
        'Ƶ' | 'Ȥ' => "Z",
        'ƶ' | 'ȥ' => "z",
        '‘' | '’' | '‚' | '‛' | 'ʼ' => "'",
        '“' | '”' | '„' | '‟' => "\"",
        '‐' | '‑' | '‒' | '–' | '—' | '―' | '−' => "-",
        '⁄' => "/",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use fastrand::Rng;

    use xxhash_rust::xxh3::Xxh3Default;

    fn folded_by(fold: &mut Fold, text: &str) -> String {
        let mut out = Vec::new();
        fold.apply(text, &mut out);
        String::from_utf8(out).unwrap()
    }

    fn folded(text: &str) -> String {
        folded_by(&mut Fold::new(false), text)
    }

    fn not_ascii() -> impl Iterator<Item = char> {
        (0x80..=0x10_ffff).filter_map(char::from_u32)
    }

    #[test]
    fn the_result_for_every_character_never_changes() {
        let hash = |lower| {
            let (mut fold, mut hash) = (Fold::new(lower), Xxh3Default::new());
            for c in not_ascii() {
                hash.update(folded_by(&mut fold, c.encode_utf8(&mut [0; 4])).as_bytes());
                hash.update(b"\n");
            }
            hash.digest()
        };
        assert_eq!([hash(false), hash(true)], [0x7ef1_b4af_994f_c314, 0x2f0b_26bb_0a39_985c]);
    }

    #[test]
    fn text_in_lower_case_stays_so() {
        let mut fold = Fold::new(true);
        for (text, expected) in
            [("𝐇ello", "hello"), ("ℝ ℌ ᴬ ϒ", "r h a υ"), ("™ ㎒", "tm mhz"), ("ß æ", "ss ae")]
        {
            assert_eq!(folded_by(&mut fold, text), expected);
        }
        let lower = |c: char| c.to_lowercase().next().unwrap();
        for c in not_ascii().filter(|&c| lower(c) == c) {
            let once = folded_by(&mut fold, c.encode_utf8(&mut [0; 4]));
            assert!(once.chars().all(|c| lower(c) == c), "{c:?}");
            assert_eq!(folded_by(&mut fold, &once), once, "{c:?}");
            // The order makes no difference.
            let capitals = folded(c.encode_utf8(&mut [0; 4]));
            assert!(once.chars().eq(capitals.chars().map(lower)), "{c:?}");
        }
    }

    #[test]
    fn words_lose_their_diacritics_and_other_forms() {
        for (text, expected) in [
            ("Größe", "Grosse"),
            ("ẞ", "SS"),
            ("Ærøskøbing", "AEroskobing"),
            ("ǽ Ǿ ĳ ŉ", "ae O ij 'n"),
            ("Łódź", "Lodz"),
            ("naïve façade Ångström", "naive facade Angstrom"),
            ("e\u{301}t\u{e9}", "ete"),
            ("Việt Đà Nẵng", "Viet Da Nang"),
            ("ﬁn ﬀﬃ", "fin ffffi"),
            ("Ａｂｃ１２３", "Abc123"),
            ("x² ½ № ™ Ⅷ …", "x2 1/2 No TM VIII ..."),
            ("don’t “well-known” a–b", "don't \"well-known\" a-b"),
            ("Άλφα ελληνικά", "Αλφα ελληνικα"),
            ("ёлка йод", "елка иод"),
            ("שָׁלוֹם", "שלום"),
            ("مُحَمَّد أحمد آخر", "محمد احمد اخر"),
            ("Donau\u{ad}dampf ❤\u{fe0f}", "Donaudampf ❤"),
            // These are other letters, and stay.
            ("ガギグ がぎぐ", "ガギグ がぎぐ"),
            ("ｶﾞ", "ガ"),
            ("한국어", "한국어"),
            ("हिन्दी ज़", "हिन्दी ज़"),
            ("ภาษาไทย", "ภาษาไทย"),
            ("தமிழ்", "தமிழ்"),
            ("日本語", "日本語"),
            ("\u{fdfa}", "\u{fdfa}"),
            ("\u{301}", ""),
            ("´ ¨", " "),
        ] {
            // NFC always writes nukta letters decomposed.
            let expected: String = expected.nfc().collect();
            assert_eq!(folded(text), expected, "{text}");
        }
    }

    #[test]
    fn folding_a_folded_character_changes_nothing() {
        for c in not_ascii() {
            let once = folded(c.encode_utf8(&mut [0; 4]));
            assert_eq!(folded(&once), once, "{c:?}");
            assert!(once.chars().count() <= MOST_CHARACTERS, "{c:?}");
            let decomposed: String = std::iter::once(c).nfkd().collect();
            // Characters without marks and variants stay as they are.
            if decomposed.chars().eq([c]) && !is_combining_mark(c) && plain(c).is_none() && c != '\u{ad}' {
                assert!(once.chars().eq([c]), "{c:?}");
            }
        }
    }

    #[test]
    fn folding_equals_a_decomposition_without_marks_and_a_composition() {
        let seed = 0x5eed_0a11;
        let mut random = Rng::with_seed(seed);
        let ranges =
            [(0x61, 26), (0xc0, 512), (0x300, 112), (0x370, 200), (0x590, 400), (0x1e00, 512), (0xac00, 99)];
        for round in 0..4000 {
            let text: String = (0..random.usize(..12))
                .filter_map(|_| {
                    let (first, count) = ranges[random.usize(..ranges.len())];
                    char::from_u32(first + random.u32(..count))
                })
                .collect();
            let slow: String = text
                .chars()
                .flat_map(|c| {
                    let parts =
                        std::iter::once(c).nfkd().filter(move |&part| part != ' ' || c.is_whitespace());
                    parts.collect::<Vec<char>>()
                })
                .filter(|&part| !modifies(part))
                .flat_map(|part| plain(part).map_or_else(|| vec![part], |letters| letters.chars().collect()))
                .nfc()
                .collect();
            assert_eq!(folded(&text), slow, "seed {seed:x} round {round} {text:?}");
        }
    }
}
