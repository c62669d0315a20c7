//! The lists of stop words that a chain can remove.
//!
//! The lists are part of the format of an index: with other lists, the same text has other terms. The crate
//! that provides them therefore stays at one version, and a test checks all lists.

use std::borrow::Cow;

use crate::schema::Language;

/// The stop words of Lucene's `EnglishAnalyzer`.
const ENGLISH: [&str; 33] = [
    "a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "if", "in", "into", "is", "it", "no",
    "not", "of", "on", "or", "such", "that", "the", "their", "then", "there", "these", "they", "this", "to",
    "was", "will", "with",
];

/// The names of the other [`LANGUAGES`](crate::schema::LANGUAGES) in the crate, in their order. Its lists are
/// from Snowball and NLTK.
const CODES: [&str; 17] =
    ["ar", "da", "nl", "", "fi", "fr", "de", "hu", "it", "no", "pt", "ro", "ru", "es", "sv", "ta", "tr"];

/// Letters that lists have in place of others, as single-byte encodings did: Romanian lists have a cedilla
/// instead of a comma below, Hungarian lists a tilde instead of a double acute.
const MISSPELLED: [(&str, [(&str, &str); 2]); 2] =
    [("romanian", [("ş", "ș"), ("ţ", "ț")]), ("hungarian", [("õ", "ő"), ("û", "ű")])];

/// The stop words of a language, in lower case; words with [`MISSPELLED`] letters in both spellings.
pub(super) fn stop_words(language: Language) -> Vec<Cow<'static, str>> {
    let listed = match CODES.get(language.number()) {
        Some(code) if !code.is_empty() => stop_words::lookup(code).unwrap_or_default(),
        _ => &ENGLISH,
    };
    let mut words: Vec<Cow<'static, str>> = listed.iter().copied().map(Cow::Borrowed).collect();
    if let Some((_, letters)) = MISSPELLED.iter().find(|(name, _)| *name == language.name()) {
        let odd = listed.iter().filter(|word| letters.iter().any(|(wrong, _)| word.contains(wrong)));
        words.extend(odd.map(|word| {
            letters.iter().fold(word.to_string(), |word, (wrong, right)| word.replace(wrong, right)).into()
        }));
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::LANGUAGES;
    use xxhash_rust::xxh3::xxh3_64;

    #[test]
    fn the_lists_never_change() {
        let known = [
            ("arabic", 754, 0x78d9_8e05_83f9_4611),
            ("danish", 94, 0x0b6b_6776_b29b_5e25),
            ("dutch", 101, 0x39a5_05ec_7e20_fceb),
            ("english", 33, 0x67a0_1b6d_7155_338c),
            ("finnish", 235, 0x0404_7795_696a_f3f5),
            ("french", 157, 0x2720_aaa9_267b_d768),
            ("german", 232, 0xdc21_7166_b39e_4016),
            ("hungarian", 206, 0x2d6e_b47b_636b_ed96),
            ("italian", 279, 0xbe46_2e80_dc05_f067),
            ("norwegian", 176, 0xfdaa_0930_e528_3476),
            ("portuguese", 207, 0x7992_e439_a27e_7467),
            ("romanian", 381, 0xb5b6_d0b0_1010_48be),
            ("russian", 151, 0x5992_4c45_19ab_02f3),
            ("spanish", 313, 0x3f63_47fb_59f4_b67e),
            ("swedish", 114, 0x2e13_1500_8eb3_842e),
            ("tamil", 125, 0x9472_a0da_08d1_e050),
            ("turkish", 53, 0x68e9_0842_fa46_fe59),
        ];
        let found = LANGUAGES.map(|name| {
            let words = stop_words(Language::parse(name).unwrap());
            (name, words.len(), xxh3_64(words.join("\n").as_bytes()))
        });
        assert_eq!(found, known);
    }

    #[test]
    fn every_list_has_the_words_of_its_language() {
        for (language, words) in [
            ("arabic", ["من", "في"]),
            ("danish", ["og", "ikke"]),
            ("dutch", ["het", "niet"]),
            ("english", ["the", "with"]),
            ("finnish", ["ja", "ei"]),
            ("french", ["et", "dans"]),
            ("german", ["und", "nicht"]),
            ("hungarian", ["előtt", "nem"]),
            ("italian", ["il", "non"]),
            ("norwegian", ["og", "ikke"]),
            ("portuguese", ["e", "não"]),
            ("romanian", ["și", "ţie"]),
            ("russian", ["и", "не"]),
            ("spanish", ["y", "del"]),
            ("swedish", ["och", "inte"]),
            ("tamil", ["ஒரு", "என்று"]),
            ("turkish", ["ve", "için"]),
        ] {
            let all = stop_words(Language::parse(language).unwrap());
            assert!(words.iter().all(|word| all.iter().any(|one| one == word)), "{language}");
            assert!(all.iter().all(|word| !word.is_empty() && word.trim() == word.as_ref()), "{language}");
        }
    }
}
