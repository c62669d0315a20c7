//! Names as records have them, names as schemas allow them, and which fields they lead to.
//!
//! A record may call a member anything. A field has a *source*: the name in records whose values it takes, which is
//! its own name unless something else is said. Several fields may have one source, as in a title that is searched by
//! its words and sorted by as a whole. A name of a record leads to the fields whose source it is. If there are none, it
//! is mapped as [`map_name`] says, and leads to the fields whose source is that. So names that are mapped to the same
//! are one field.

use hashbrown::HashMap;

use crate::schema::{Field, MAX_NAME, Schema, fits_name};

/// Appends to a name that of a member, behind a dot if it is not the first; what is longer than a name may be is cut off.
pub(super) fn push_name(name: &mut String, inside: bool, member: &str) {
    if inside && name.len() < MAX_NAME {
        name.push('.');
    }
    name.push_str(cut(member, MAX_NAME - name.len().min(MAX_NAME)));
}

/// As many characters of a text as fit `most` bytes.
pub(super) fn cut(text: &str, most: usize) -> &str {
    let ends = text.char_indices().map(|(at, c)| at + c.len_utf8());
    let end = ends.take_while(|&end| end <= most).last().unwrap_or(0);
    text.get(..end).unwrap_or_default()
}

/// What a schema calls what records call `source`.
///
/// Other characters than letters, digits, `_`, `-` and `.` become `_`; so does an empty name, and each that is empty
/// before or behind a dot stays empty. What is longer than 255 bytes is cut off.
pub fn map_name(source: &str) -> String {
    if source.is_empty() {
        return "_".into();
    }
    cut(source, MAX_NAME).chars().map(|c| if fits_name(c) { c } else { '_' }).collect()
}

/// Which fields take the values of which names of records.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sources {
    fields: Vec<(String, Field)>,
}

impl Sources {
    /// Every field of a schema takes the values of its own name.
    pub fn of(schema: &Schema) -> Self {
        Sources { fields: schema.fields().map(|(field, entry)| (entry.name.clone(), field)).collect() }
    }

    /// Makes a field take the values that records call `source`, and no others.
    pub fn set(&mut self, field: Field, source: &str) {
        self.fields.retain(|(_, other)| *other != field);
        self.fields.push((source.into(), field));
        // So those that say the same are equal.
        self.fields.sort_unstable_by_key(|(_, field)| *field);
    }

    /// What records call the values of a field.
    pub fn source(&self, field: Field) -> Option<&str> {
        self.fields.iter().find(|(_, other)| *other == field).map(|(source, _)| source.as_str())
    }
}

/// The fields that a name leads to, as a stretch of [`Targets`]; empty for an unknown name.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Target {
    start: u16,
    end: u16,
}

impl Target {
    pub fn is_unknown(self) -> bool {
        self.start == self.end
    }
}

/// [`Sources`], to be looked up.
pub(super) struct Targets {
    fields: Vec<Field>,
    names: HashMap<String, Target>,
}

impl Targets {
    pub fn new(sources: &Sources) -> Self {
        let mut sorted = sources.fields.clone();
        sorted.sort();
        let mut names = HashMap::<String, Target>::new();
        // There are at most 64 fields.
        for (at, (source, _)) in (0..).zip(&sorted) {
            let fresh = Target { start: at, end: at };
            names.entry(source.clone()).or_insert(fresh).end = at + 1;
        }
        Targets { fields: sorted.into_iter().map(|(_, field)| field).collect(), names }
    }

    /// Where a name of a record leads.
    pub fn find(&self, source: &str) -> Target {
        let known = self.names.get(source).or_else(|| self.names.get(&map_name(source)));
        known.copied().unwrap_or_default()
    }

    /// The fields there.
    #[inline]
    pub fn fields(&self, target: Target) -> &[Field] {
        self.fields.get(target.start.into()..target.end.into()).unwrap_or_default()
    }
}
