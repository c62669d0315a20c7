//! Letters in place of their presentation forms.
//!
//! A PDF file names glyphs, and pdftotext writes some of them as the characters U+FB00 to U+FEFC that Unicode
//! has for glyphs: `ﬁ` for `fi`, and a form of each Arabic letter for each place in a word. A search is for
//! letters, so these are what becomes text.

use std::borrow::Cow;

use unicode_normalization::char::decompose_compatible;

/// The first byte of a presentation form in UTF-8; few other characters have it.
const FIRST_BYTE: u8 = 0xef;

/// `text` with letters in place of ligatures of Latin, Armenian and Hebrew and of forms of Arabic letters.
pub(super) fn to_letters(text: &str) -> Cow<'_, str> {
    if !text.as_bytes().contains(&FIRST_BYTE) || !text.contains(is_presentation_form) {
        return Cow::Borrowed(text);
    }
    let mut letters = String::with_capacity(text.len());
    for letter in text.chars() {
        if is_presentation_form(letter) {
            decompose_compatible(letter, |letter| letters.push(letter));
        } else {
            letters.push(letter);
        }
    }
    Cow::Owned(letters)
}

/// Whether a character is a form of letters. Marks that stand alone, which would become blanks with marks,
/// are not.
fn is_presentation_form(letter: char) -> bool {
    matches!(letter, '\u{fb00}'..='\u{fc5d}' | '\u{fc64}'..='\u{fdf9}' | '\u{fe80}'..='\u{fefc}')
}

#[cfg(test)]
mod tests {
    use unicode_normalization::UnicodeNormalization;

    use super::*;

    #[test]
    fn ligatures_and_forms_become_letters() {
        assert_eq!(to_letters("ﬁrst oﬃce ﬀ ﬂ ﬄ ﬅ ﬆ"), "first office ff fl ffl st st");
        assert_eq!(to_letters("اﻧﻮاع اﳋﻄﻮط اﻟﻌﺮﺑﻴﺔ"), "انواع الخطوط العربية");
        assert_eq!(to_letters("ﻻ ﭘ"), "لا پ");
        assert_eq!(to_letters("שּׁ"), "\u{5e9}\u{5bc}\u{5c1}");
    }

    #[test]
    fn other_text_is_borrowed() {
        for text in ["", "größe ½ x²", "\u{feff}\u{fffd} ！", "\u{fe0f}\u{fc5e}\u{fe70}"] {
            assert!(matches!(to_letters(text), Cow::Borrowed(same) if same == text), "{text}");
        }
    }

    #[test]
    fn a_form_becomes_its_compatibility_decomposition_without_blanks() {
        for form in ('\u{f000}'..='\u{ffff}').filter(|letter| is_presentation_form(*letter)) {
            let text = form.to_string();
            let letters = to_letters(&text);
            assert_eq!(letters, text.nfkd().collect::<String>(), "{form}");
            assert!(!letters.contains(' '), "{form}");
        }
    }
}
