//! In which language a text is written, by its first letters. The crate `whatlang` compares their trigrams
//! with those of 70 languages.

use whatlang::{Lang, detect};

/// The bytes of a text that are looked at.
const SAMPLE: usize = 4 << 10;

/// The fewest characters that say something.
const LEAST: usize = 40;

/// The first bytes of a text, which comes in parts.
#[derive(Clone, Debug, Default)]
pub(crate) struct LanguageSample {
    bytes: Vec<u8>,
}

impl LanguageSample {
    /// Begins another text.
    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
    }

    /// Adds the next part of the text.
    pub(crate) fn add(&mut self, part: &[u8]) {
        let room = SAMPLE - self.bytes.len();
        self.bytes.extend_from_slice(part.get(..room).unwrap_or(part));
    }

    /// The language of the text: its code in ISO 639-1, or in ISO 639-3 if it has none there. `None` if the
    /// text is too short or not certainly in one language.
    pub(crate) fn language(&self) -> Option<&'static str> {
        language_of(&self.bytes)
    }
}

/// The language of a text, of which the first 4 KiB are looked at, as [`LanguageSample::language`].
pub(crate) fn language_of(text: &[u8]) -> Option<&'static str> {
    let start = text.get(..SAMPLE).unwrap_or(text);
    let text = match std::str::from_utf8(start) {
        Ok(text) => text,
        // The end may be within a character.
        Err(error) if start.len() - error.valid_up_to() < 4 => {
            std::str::from_utf8(start.get(..error.valid_up_to())?).ok()?
        }
        Err(_) => return None,
    };
    text.chars().filter(|character| character.is_alphabetic()).nth(LEAST - 1)?;
    let found = detect(text).filter(|found| found.is_reliable())?;
    Some(code(found.lang()))
}

/// The codes of whatlang's languages in ISO 639-1, beside those in ISO 639-3.
const CODES: [(&str, &str); 70] = [
    ("afr", "af"),
    ("aka", "ak"),
    ("amh", "am"),
    ("ara", "ar"),
    ("aze", "az"),
    ("bel", "be"),
    ("ben", "bn"),
    ("bul", "bg"),
    ("cat", "ca"),
    ("ces", "cs"),
    ("cmn", "zh"),
    ("cym", "cy"),
    ("dan", "da"),
    ("deu", "de"),
    ("ell", "el"),
    ("eng", "en"),
    ("epo", "eo"),
    ("est", "et"),
    ("fin", "fi"),
    ("fra", "fr"),
    ("guj", "gu"),
    ("heb", "he"),
    ("hin", "hi"),
    ("hrv", "hr"),
    ("hun", "hu"),
    ("hye", "hy"),
    ("ind", "id"),
    ("ita", "it"),
    ("jav", "jv"),
    ("jpn", "ja"),
    ("kan", "kn"),
    ("kat", "ka"),
    ("khm", "km"),
    ("kor", "ko"),
    ("lat", "la"),
    ("lav", "lv"),
    ("lit", "lt"),
    ("mal", "ml"),
    ("mar", "mr"),
    ("mkd", "mk"),
    ("mya", "my"),
    ("nep", "ne"),
    ("nld", "nl"),
    ("nob", "nb"),
    ("ori", "or"),
    ("pan", "pa"),
    ("pes", "fa"),
    ("pol", "pl"),
    ("por", "pt"),
    ("ron", "ro"),
    ("rus", "ru"),
    ("sin", "si"),
    ("slk", "sk"),
    ("slv", "sl"),
    ("sna", "sn"),
    ("spa", "es"),
    ("srp", "sr"),
    ("swe", "sv"),
    ("tam", "ta"),
    ("tel", "te"),
    ("tgl", "tl"),
    ("tha", "th"),
    ("tuk", "tk"),
    ("tur", "tr"),
    ("ukr", "uk"),
    ("urd", "ur"),
    ("uzb", "uz"),
    ("vie", "vi"),
    ("yid", "yi"),
    ("zul", "zu"),
];

fn code(language: Lang) -> &'static str {
    let long = language.code();
    CODES.iter().find(|(known, _)| *known == long).map_or(long, |(_, short)| short)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENGLISH: &str =
        "The whale swam slowly through the cold water, and nobody on the ship had seen it before.";
    const GERMAN: &str = "Der Wal schwamm langsam durch das kalte Wasser, und niemand hatte ihn je gesehen.";
    const RUSSIAN: &str = "Кит медленно плыл по холодной воде, и никто на корабле раньше его не видел.";

    #[test]
    fn the_language_of_a_text_is_found_and_that_of_a_short_or_mixed_one_is_not() {
        for (text, language) in [
            (ENGLISH, Some("en")),
            (GERMAN, Some("de")),
            (RUSSIAN, Some("ru")),
            ("The whale.", None),
            ("", None),
            ("0123456789 0123456789 0123456789 0123456789 0123456789 0123456789", None),
        ] {
            assert_eq!(language_of(text.as_bytes()), language, "{text}");
        }
        assert_eq!(language_of(&[GERMAN.as_bytes(), b"\xff\xff\xff\xff\xff"].concat()), None);
    }

    #[test]
    fn a_text_in_parts_is_a_text_and_its_end_may_be_within_a_character() {
        let long = RUSSIAN.repeat(100);
        let mut sample = LanguageSample::default();
        for step in [1, 7, 5_000] {
            sample.clear();
            long.as_bytes().chunks(step).for_each(|part| sample.add(part));
            assert_eq!(sample.bytes.len(), SAMPLE);
            assert_eq!(sample.language(), Some("ru"));
        }
    }

    #[test]
    fn every_language_has_a_code_of_two_letters_but_one() {
        let long: Vec<&str> =
            Lang::all().iter().map(|&language| code(language)).filter(|code| code.len() != 2).collect();
        assert_eq!(long, Vec::<&str>::new());
        assert!(CODES.is_sorted());
    }
}
