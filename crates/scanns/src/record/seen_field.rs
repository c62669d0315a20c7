//! One field of a sample: statistics of its values, and the kind of field that can hold them.

use std::collections::BTreeSet;

use hashbrown::HashSet;
use xxhash_rust::xxh3::xxh3_64;

use super::counts::excerpt;
use super::json::number;
use super::scalar::{Scalar, parse_boolean};
use super::seen_name::{is_path, names_moments, names_paths};
use crate::schema::{
    Analyzer, EpochUnit, FieldKind, MAX_KEY, Postings, ValueFormat, parse_date, parse_epoch,
};

/// A text field is a keyword if its values have at most this many bytes and words on average.
const KEYWORD_BYTES: u64 = 64;
const KEYWORD_WORDS: u64 = 3;

/// The number of smallest hashes that are used to estimate the number of distinct values.
const SKETCH: usize = 256;

/// A field has a kind if at least this many percent of its values fit. This is the share below which a build
/// of all records fails, so a build with an inferred schema only fails if the sample was not typical.
const MAJORITY: u64 = 99;

/// With fewer values than this, a short text is searched both as a whole and by its words.
const SMALL: u64 = 100;

/// The minimum number of paths, all different, that suggests that a field is the key.
pub(super) const KEYS: u64 = 20;

/// The digits of a fraction of seconds that `find -printf %T@` prints.
const FIND_DIGITS: usize = 10;

/// Statistics of one field in the sample.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldFigures {
    /// Values, nulls not counted.
    pub values: u64,
    /// Nulls; in CSV, empty values.
    pub nulls: u64,
    /// Number of distinct values, estimated above 256.
    pub distinct: u64,
    /// Bytes of all values, as text.
    pub bytes: u64,
    /// Bytes of the longest value.
    pub longest: u64,
    /// Values that do not fit the kind of the field.
    pub misfits: u64,
    /// The first of them, cut to 80 bytes.
    pub misfit: Option<String>,
    /// Formats of numbers in which the texts of the field would be numbers.
    pub number_formats: Vec<ValueFormat>,
}

/// What a value is, apart from a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ValueClass {
    Boolean,
    Number,
    Date,
}

/// Values of one class.
#[derive(Default)]
struct ClassFigures {
    count: u64,
    /// The first value of another class.
    misfit: Option<String>,
}

/// Numbers that may be moments, by unit.
#[derive(Clone, Copy, Default)]
struct EpochFigures {
    /// Numbers in the years 1990 to 2100.
    recent: u64,
    /// Numbers that are dates at all.
    valid: u64,
}

/// A name of the sample, with the properties of its values.
#[derive(Default)]
pub(super) struct SeenField {
    pub name: String,
    pub source: String,
    /// True if records have several names for this field.
    pub several: bool,
    pub figures: FieldFigures,
    words: u64,
    classes: [ClassFigures; 3],
    /// Numbers with a fraction or an exponent.
    fractions: u64,
    /// Integers outside of the range of unsigned numbers.
    not_unsigned: u64,
    not_signed: u64,
    epochs: [EpochFigures; 4],
    /// Moments in seconds with the fraction that `find` prints.
    find_times: u64,
    /// Texts that are numbers, by decimal format.
    formatted: [u64; ValueFormat::DECIMALS.len()],
    /// Texts that look like paths.
    paths: u64,
    /// The hashes of all values, as long as they differ.
    different: Option<HashSet<u64>>,
    /// The smallest hashes of values.
    sketch: BTreeSet<u64>,
}

/// The field that suits the values of a name.
#[derive(Debug, PartialEq)]
pub(super) struct SeenKind {
    pub kind: FieldKind,
    pub format: ValueFormat,
    /// Another field with the same values, which are searched by their words.
    pub words: Option<Analyzer>,
    /// True if the values can be the keys of documents.
    pub is_key: bool,
}

impl SeenField {
    /// Creates a field without values.
    pub fn new(name: String, source: String) -> Self {
        SeenField { name, source, different: Some(HashSet::new()), ..SeenField::default() }
    }

    /// Counts one value.
    pub fn add(&mut self, scalar: Scalar<'_>, is_json: bool) {
        let text = scalar.as_text();
        let trimmed = text.trim_ascii();
        let class = match scalar {
            Scalar::Boolean(_) => Some(ValueClass::Boolean),
            Scalar::Number(..) => Some(ValueClass::Number),
            Scalar::Text(_) if !is_json && parse_boolean(text).is_some() => Some(ValueClass::Boolean),
            Scalar::Text(_) if !is_json && number::is_plain(trimmed) => Some(ValueClass::Number),
            Scalar::Text(_) => parse_date(trimmed).map(|_| ValueClass::Date),
        };
        for (of, figures) in
            [ValueClass::Boolean, ValueClass::Number, ValueClass::Date].into_iter().zip(&mut self.classes)
        {
            if class == Some(of) {
                figures.count += 1;
            } else if figures.misfit.is_none() {
                figures.misfit = Some(excerpt(text, 0));
            }
        }
        match class {
            Some(ValueClass::Number) => self.add_number(trimmed),
            None => self.add_text(trimmed),
            _ => {}
        }
        self.add_size(text);
    }

    fn add_size(&mut self, text: &[u8]) {
        let len = text.len() as u64;
        let words = text.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).count();
        self.words += words as u64;
        self.figures.values += 1;
        self.figures.bytes += len;
        self.figures.longest = self.figures.longest.max(len);
        let hash = xxh3_64(text);
        self.different = self.different.take().filter(|_| !self.sketch.contains(&hash));
        self.different =
            self.different.take().and_then(|mut different| different.insert(hash).then_some(different));
        if self.sketch.len() < SKETCH || self.sketch.last().is_some_and(|last| hash < *last) {
            self.sketch.insert(hash);
            if self.sketch.len() > SKETCH {
                self.sketch.pop_last();
            }
        }
    }

    fn add_text(&mut self, text: &[u8]) {
        self.paths += u64::from(is_path(text));
        if text.first().is_some_and(|first| matches!(first, b'0'..=b'9' | b'-' | b'+')) {
            let mut plain = Vec::new();
            for (format, count) in ValueFormat::DECIMALS.into_iter().zip(&mut self.formatted) {
                *count += u64::from(format.plain_number(text, &mut plain));
            }
        }
    }

    fn add_number(&mut self, text: &[u8]) {
        if number::is_plain_integer(text) {
            self.not_unsigned += u64::from(number::unsigned(text).is_none());
            self.not_signed += u64::from(number::signed(text).is_none());
        } else {
            self.fractions += 1;
        }
        let recent = EpochUnit::guess(text);
        for (unit, figures) in EpochUnit::ALL.into_iter().zip(&mut self.epochs) {
            figures.recent += u64::from(recent == Some(unit));
            figures.valid += u64::from(parse_epoch(text, unit).is_some());
        }
        let digits = memchr::memchr(b'.', text).map(|point| text.len() - point - 1);
        self.find_times += u64::from(digits == Some(FIND_DIGITS) && recent == Some(EpochUnit::Seconds));
        let mut plain = Vec::new();
        for (format, count) in ValueFormat::DECIMALS.into_iter().zip(&mut self.formatted) {
            *count += u64::from(format.plain_number(text, &mut plain));
        }
    }

    /// True if the kind of the field follows from this number of values.
    fn is_majority(&self, count: u64) -> bool {
        count > 0 && count * 100 >= self.figures.values * MAJORITY
    }

    /// The class that most values have.
    fn class(&self) -> Option<ValueClass> {
        let classes =
            [ValueClass::Boolean, ValueClass::Number, ValueClass::Date].into_iter().zip(&self.classes);
        classes.into_iter().find(|(_, figures)| self.is_majority(figures.count)).map(|(class, _)| class)
    }

    /// The unit of numbers that are moments.
    fn epoch_unit(&self) -> Option<EpochUnit> {
        if self.is_majority(self.find_times) {
            return Some(EpochUnit::Seconds);
        }
        let units = EpochUnit::ALL.into_iter().zip(&self.epochs);
        // Dumps of files have times of 0 and 1, which mean that the time is not known.
        let (unit, figures) = units.max_by_key(|(_, figures)| figures.recent)?;
        let fits = figures.recent * 2 >= self.figures.values && self.is_majority(figures.valid);
        (fits && names_moments(&self.name)).then_some(unit)
    }

    /// The field that suits the values.
    pub fn kind(&self) -> SeenKind {
        let FieldFigures { values, bytes, longest, .. } = self.figures;
        let is_short = bytes <= KEYWORD_BYTES * values && self.words <= KEYWORD_WORDS * values;
        let plain = |kind| SeenKind { kind, format: ValueFormat::Auto, words: None, is_key: false };
        match self.class() {
            Some(ValueClass::Boolean) => return plain(FieldKind::Boolean),
            Some(ValueClass::Date) => return plain(FieldKind::Date),
            Some(ValueClass::Number) => {
                return match self.epoch_unit() {
                    Some(unit) => SeenKind { format: ValueFormat::Epoch(unit), ..plain(FieldKind::Date) },
                    None if self.fractions == 0 && self.not_unsigned == 0 => plain(FieldKind::Unsigned),
                    None if self.fractions == 0 && self.not_signed == 0 => plain(FieldKind::Signed),
                    None => plain(FieldKind::Float),
                };
            }
            None => {}
        }
        let is_distinct = self.different.is_some() && self.figures.nulls == 0;
        let are_paths = self.is_majority(self.paths) && (is_distinct || names_paths(&self.name));
        if are_paths && longest <= MAX_KEY as u64 {
            let words = Analyzer::parse("paths").ok();
            return SeenKind { words, is_key: is_distinct && values >= KEYS, ..plain(FieldKind::Keyword) };
        }
        if is_short && longest <= MAX_KEY as u64 {
            let has_words = self.words > values + values / 100 || values < SMALL;
            return SeenKind { words: has_words.then_some(Analyzer::Standard), ..plain(FieldKind::Keyword) };
        }
        plain(FieldKind::Text { analyzer: Analyzer::Standard, postings: Postings::Frequencies })
    }

    /// The statistics of the field.
    pub fn figures(&self) -> FieldFigures {
        let class = self.class();
        let misfit = class.and_then(|class| self.classes.get(class as usize));
        let is_text = class.is_none() && !self.kind().is_key;
        let formats = ValueFormat::DECIMALS.into_iter().zip(self.formatted);
        FieldFigures {
            distinct: self.distinct(),
            misfits: misfit.map_or(0, |of| self.figures.values - of.count),
            misfit: misfit.and_then(|of| of.misfit.clone()),
            number_formats: formats
                .filter(|(_, count)| is_text && self.is_majority(*count))
                .map(|(format, _)| format)
                .collect(),
            ..self.figures.clone()
        }
    }

    /// The number of distinct values. Hashes are spread evenly, so the range of the 256 smallest shows how
    /// dense they are (Z. Bar-Yossef and others, "Counting distinct elements in a data stream", 2002).
    fn distinct(&self) -> u64 {
        match self.sketch.last() {
            Some(last) if self.sketch.len() == SKETCH => {
                let all = u128::from(u64::MAX) * (SKETCH as u128 - 1) / u128::from(*last).max(1);
                u64::try_from(all).unwrap_or(u64::MAX).min(self.figures.values)
            }
            _ => self.sketch.len() as u64,
        }
    }
}
