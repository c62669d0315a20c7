//! Porter's stemmer for English, with the changes of Lucene's `PorterStemFilter`.
//!
//! The algorithm is M. F. Porter, "An algorithm for suffix stripping", Program 14 (1980), as its author later
//! published it in C and Java: words of one or two letters stay as they are, `bli` becomes `ble` where the
//! paper has `abli` to `able`, and `logi` becomes `log`. Lucene runs this version, so stems, and with them
//! scores, can be compared. Snowball's `english`, or Porter2, gives other stems.

/// Stems words; its buffer is reused.
#[derive(Default)]
pub(super) struct Porter {
    /// The remaining letters of the word. A non-ASCII character is one byte from 0x80 on. Adjacent different
    /// characters have different bytes; the rules do not depend on anything else.
    word: Vec<u8>,
    /// Number of letters before the suffix that matched last.
    stem: usize,
}

/// A suffix and its replacement.
type SuffixRule = (&'static str, &'static str);

/// Rules for double suffixes, by the last letter but one.
fn double_suffixes(penultimate: u8) -> &'static [SuffixRule] {
    match penultimate {
        b'a' => &[("ational", "ate"), ("tional", "tion")],
        b'c' => &[("enci", "ence"), ("anci", "ance")],
        b'e' => &[("izer", "ize")],
        b'l' => &[("bli", "ble"), ("alli", "al"), ("entli", "ent"), ("eli", "e"), ("ousli", "ous")],
        b'o' => &[("ization", "ize"), ("ation", "ate"), ("ator", "ate")],
        b's' => &[("alism", "al"), ("iveness", "ive"), ("fulness", "ful"), ("ousness", "ous")],
        b't' => &[("aliti", "al"), ("iviti", "ive"), ("biliti", "ble")],
        b'g' => &[("logi", "log")],
        _ => &[],
    }
}

/// Rules for further suffixes, by the last letter.
fn further_suffixes(last: u8) -> &'static [SuffixRule] {
    match last {
        b'e' => &[("icate", "ic"), ("ative", ""), ("alize", "al")],
        b'i' => &[("iciti", "ic")],
        b'l' => &[("ical", "ic"), ("ful", "")],
        b's' => &[("ness", "")],
        _ => &[],
    }
}

/// Suffixes that a long stem loses, by the last letter but one. The first that matches counts.
fn last_suffixes(penultimate: u8) -> &'static [&'static str] {
    match penultimate {
        b'a' => &["al"],
        b'c' => &["ance", "ence"],
        b'e' => &["er"],
        b'i' => &["ic"],
        b'l' => &["able", "ible"],
        b'n' => &["ant", "ement", "ment", "ent"],
        b'o' => &["ion", "ou"],
        b's' => &["ism"],
        b't' => &["ate", "iti"],
        b'u' => &["ous"],
        b'v' => &["ive"],
        b'z' => &["ize"],
        _ => &[],
    }
}

impl Porter {
    /// Replaces a word in lower case with its stem.
    pub(super) fn apply(&mut self, word: &mut Vec<u8>) {
        self.word.clear();
        if word.is_ascii() {
            std::mem::swap(&mut self.word, word);
            self.run();
            std::mem::swap(&mut self.word, word);
            return;
        }
        // A word that was cut may end within a character: it is unchanged, as with Snowball.
        let Ok(text) = std::str::from_utf8(word) else { return };
        let mut before = ('\0', 0x80);
        for c in text.chars() {
            let letter = u8::try_from(c).ok().filter(u8::is_ascii).unwrap_or_else(|| {
                if c != before.0 {
                    before = (c, before.1 ^ 1);
                }
                before.1
            });
            self.word.push(letter);
        }
        self.run();
        // The rules never insert characters that are not ASCII, so the ones left are the word's.
        let letters = self.word.iter().zip(text.chars());
        let stem: String =
            letters.map(|(&letter, c)| if letter.is_ascii() { char::from(letter) } else { c }).collect();
        *word = stem.into_bytes();
    }

    fn run(&mut self) {
        if self.word.len() <= 2 {
            return;
        }
        self.plurals();
        self.participles();
        self.final_y();
        let rules = double_suffixes(self.last_but(1));
        self.replace_first(rules);
        let rules = further_suffixes(self.last_but(0));
        self.replace_first(rules);
        self.drop_suffix();
        self.final_e_and_double_l();
    }

    /// The letter `back` letters before the last; 0 before the first.
    fn last_but(&self, back: usize) -> u8 {
        let at = self.word.len().checked_sub(back + 1);
        at.and_then(|at| self.word.get(at)).copied().unwrap_or(0)
    }

    fn is_consonant(&self, at: usize) -> bool {
        let vowel = |at: usize| matches!(self.word.get(at), Some(b'a' | b'e' | b'i' | b'o' | b'u'));
        if self.word.get(at) != Some(&b'y') {
            return !vowel(at);
        }
        // A y after a consonant is a vowel, so every second y of a run is one.
        let run = self.word.iter().take(at).rev().take_while(|&&letter| letter == b'y').count();
        let first = at - run;
        let first_is_consonant = first == 0 || vowel(first - 1);
        first_is_consonant == run.is_multiple_of(2)
    }

    /// How many times a vowel is followed by a consonant in the stem.
    fn measure(&self) -> usize {
        let (mut count, mut vowel_before) = (0, false);
        let mut consonant_before = false;
        for at in 0..self.stem {
            // The same as `is_consonant`, which would scan back over a run of y each time.
            let consonant = match self.word.get(at) {
                Some(b'a' | b'e' | b'i' | b'o' | b'u') => false,
                Some(b'y') => at == 0 || !consonant_before,
                _ => true,
            };
            count += usize::from(consonant && vowel_before);
            (vowel_before, consonant_before) = (!consonant, consonant);
        }
        count
    }

    fn stem_has_vowel(&self) -> bool {
        let mut consonant_before = false;
        (0..self.stem).any(|at| {
            let vowel = match self.word.get(at) {
                Some(b'a' | b'e' | b'i' | b'o' | b'u') => true,
                Some(b'y') => at > 0 && consonant_before,
                _ => false,
            };
            consonant_before = !vowel;
            vowel
        })
    }

    /// True if the word ends in the same consonant twice.
    fn ends_double(&self) -> bool {
        let len = self.word.len();
        len >= 2 && self.last_but(0) == self.last_but(1) && self.is_consonant(len - 1)
    }

    /// True if the first `len` letters end in consonant, vowel, consonant, and the last one is not w, x or y.
    fn ends_short(&self, len: usize) -> bool {
        len >= 3
            && self.is_consonant(len - 1)
            && !self.is_consonant(len - 2)
            && self.is_consonant(len - 3)
            && !matches!(self.word.get(len - 1), Some(b'w' | b'x' | b'y'))
    }

    /// True if the word ends with `suffix`; the stem is then the part before it.
    fn ends(&mut self, suffix: &str) -> bool {
        let found = self.word.ends_with(suffix.as_bytes());
        if found {
            self.stem = self.word.len() - suffix.len();
        }
        found
    }

    /// Appends `suffix` to the stem.
    fn set(&mut self, suffix: &str) {
        self.word.truncate(self.stem);
        self.word.extend_from_slice(suffix.as_bytes());
    }

    /// Step 1a.
    fn plurals(&mut self) {
        if self.last_but(0) != b's' {
            return;
        }
        if self.ends("sses") {
            self.set("ss");
        } else if self.ends("ies") {
            self.set("i");
        } else if self.last_but(1) != b's' {
            self.word.pop();
        }
    }

    /// Step 1b.
    fn participles(&mut self) {
        if self.ends("eed") {
            if self.measure() > 0 {
                self.word.pop();
            }
            return;
        }
        if !((self.ends("ed") || self.ends("ing")) && self.stem_has_vowel()) {
            return;
        }
        self.set("");
        if self.ends("at") || self.ends("bl") || self.ends("iz") {
            self.word.push(b'e');
        } else if self.ends_double() {
            if !matches!(self.last_but(0), b'l' | b's' | b'z') {
                self.word.pop();
            }
        } else if self.measure() == 1 && self.ends_short(self.word.len()) {
            self.word.push(b'e');
        }
    }

    /// Step 1c.
    fn final_y(&mut self) {
        if self.ends("y") && self.stem_has_vowel() {
            self.set("i");
        }
    }

    /// Steps 2 and 3: only the first rule whose suffix matches counts.
    fn replace_first(&mut self, rules: &[SuffixRule]) {
        for (suffix, replacement) in rules {
            if self.ends(suffix) {
                if self.measure() > 0 {
                    self.set(replacement);
                }
                return;
            }
        }
    }

    /// Step 4.
    fn drop_suffix(&mut self) {
        for suffix in last_suffixes(self.last_but(1)) {
            if self.ends(suffix) {
                let before = self.stem.checked_sub(1).and_then(|at| self.word.get(at));
                if *suffix == "ion" && !matches!(before, Some(b's' | b't')) {
                    continue;
                }
                if self.measure() > 1 {
                    self.set("");
                }
                return;
            }
        }
    }

    /// Step 5.
    fn final_e_and_double_l(&mut self) {
        // The measure is of the word with its last letter, as in the published programs.
        self.stem = self.word.len();
        if self.last_but(0) == b'e' {
            let measure = self.measure();
            if measure > 1 || measure == 1 && !self.ends_short(self.word.len() - 1) {
                self.word.pop();
            }
        }
        if self.last_but(0) == b'l' && self.ends_double() && self.measure() > 1 {
            self.word.pop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stem(word: &str) -> String {
        let mut bytes = word.as_bytes().to_vec();
        Porter::default().apply(&mut bytes);
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn the_examples_of_the_paper_are_stemmed_as_it_says() {
        // Single rules of the paper, carried through to the end of the algorithm.
        let examples = "caresses:caress ponies:poni ties:ti caress:caress cats:cat feed:feed agreed:agre \
                        plastered:plaster bled:bled motoring:motor sing:sing conflated:conflat \
                        troubled:troubl sized:size hopping:hop tanned:tan falling:fall hissing:hiss \
                        fizzed:fizz failing:fail filing:file happy:happi sky:sky relational:relat \
                        conditional:condit rational:ration valenci:valenc hesitanci:hesit \
                        digitizer:digit conformabli:conform radicalli:radic differentli:differ \
                        vileli:vile analogousli:analog vietnamization:vietnam predication:predic \
                        operator:oper feudalism:feudal decisiveness:decis hopefulness:hope \
                        callousness:callous formaliti:formal sensitiviti:sensit sensibiliti:sensibl \
                        triplicate:triplic formative:form formalize:formal electriciti:electr \
                        electrical:electr hopeful:hope goodness:good revival:reviv allowance:allow \
                        inference:infer airliner:airlin gyroscopic:gyroscop adjustable:adjust \
                        defensible:defens irritant:irrit replacement:replac adjustment:adjust \
                        dependent:depend adoption:adopt homologou:homolog communism:commun \
                        activate:activ angulariti:angular homologous:homolog effective:effect \
                        bowdlerize:bowdler probate:probat rate:rate cease:ceas controll:control \
                        roll:roll generalizations:gener oscillators:oscil";
        for example in examples.split_whitespace() {
            let (word, expected) = example.split_once(':').unwrap();
            assert_eq!(stem(word), expected, "{word}");
        }
    }

    #[test]
    fn departures_from_the_paper_are_those_of_the_published_programs() {
        for (word, expected) in [
            ("is", "is"),
            ("s", "s"),
            ("possibly", "possibl"),
            ("archaeology", "archaeolog"),
            ("yyyys", "yyyi"),
        ] {
            assert_eq!(stem(word), expected, "{word}");
        }
    }

    #[test]
    fn words_are_stemmed_as_lucene_stems_them() {
        // Made with EnglishAnalyzer of Lucene 10.6 from words of technical documents.
        for line in include_str!("tests/porter.tsv").lines() {
            let (word, expected) = line.split_once('\t').unwrap();
            assert_eq!(stem(word), expected, "{word}");
        }
    }

    #[test]
    fn letters_that_are_not_ascii_are_consonants_and_stay() {
        for (word, expected) in [
            ("cafés", "café"),
            ("naïveness", "naïv"),
            ("éés", "éé"),
            ("aééing", "aé"),
            ("aéèing", "aéè"),
            ("日本語s", "日本語"),
            ("über", "über"),
            ("xéings", "xéing"),
        ] {
            assert_eq!(stem(word), expected, "{word}");
        }
    }
}
