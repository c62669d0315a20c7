//! A header of any array format, and its text in the manner of `ncdump -h`.
//!
//! Each name and each string is a word of the text, so a search finds what a user sees with the tools of the
//! format. The fields are `var`, `dtype`, `shape`, `dim`, `units`, `attr`, `title` and `author`.

use std::collections::HashSet;

use crate::output::Output;

/// An attribute of a group or of a variable.
#[derive(Debug, Default)]
pub(crate) struct Attribute {
    pub(crate) name: String,
    pub(crate) value: String,
    /// Whether the value is text.
    pub(crate) is_text: bool,
    /// What the file says about the attribute.
    pub(crate) note: String,
}

impl Attribute {
    /// An attribute whose value is text.
    pub(crate) fn text(name: impl Into<String>, value: impl Into<String>) -> Self {
        Self { name: name.into(), value: value.into(), is_text: true, note: String::new() }
    }

    /// An attribute whose value is a number or a list of numbers.
    pub(crate) fn number(name: impl Into<String>, value: impl Into<String>) -> Self {
        Self { name: name.into(), value: value.into(), is_text: false, note: String::new() }
    }
}

/// A dimension. The length of an unlimited one is what it is now.
#[derive(Debug)]
pub(crate) struct Dim {
    pub(crate) name: String,
    pub(crate) length: u64,
    pub(crate) unlimited: bool,
}

/// An array, or a column of a table.
#[derive(Debug, Default)]
pub(crate) struct Variable {
    pub(crate) name: String,
    pub(crate) dtype: String,
    /// Names of the dimensions, where the format has them; otherwise empty.
    pub(crate) dims: Vec<String>,
    pub(crate) shape: Vec<u64>,
    pub(crate) attributes: Vec<Attribute>,
}

/// A group of variables, or a whole file.
#[derive(Debug, Default)]
pub(crate) struct Group {
    pub(crate) name: String,
    pub(crate) dims: Vec<Dim>,
    pub(crate) variables: Vec<Variable>,
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) groups: Vec<Group>,
}

/// Writes a file's header: `format` is the first word of the text.
pub(crate) fn write(format: &str, root: &Group, out: &mut Output) {
    out.line(&format!("{format} {} {{", root.name));
    let mut writer = Writer { out, seen: HashSet::new() };
    writer.group(root, "", 0);
    writer.out.line("}");
}

/// Writes a shape as `180x360`; a scalar has none.
pub(crate) fn shape_text(shape: &[u64]) -> String {
    shape.iter().map(u64::to_string).collect::<Vec<_>>().join("x")
}

struct Writer<'a> {
    out: &'a mut Output,
    /// Fields that were given: most variables of a file share shapes and types.
    seen: HashSet<(&'static str, String)>,
}

impl Writer<'_> {
    fn field(&mut self, name: &'static str, value: String) {
        if !value.is_empty() && self.seen.insert((name, value.clone())) {
            self.out.field(name, &value);
        }
    }

    fn group(&mut self, group: &Group, path: &str, depth: usize) {
        let pad = "  ".repeat(depth);
        if !group.dims.is_empty() {
            self.out.line(&format!("{pad}dimensions:"));
        }
        for dim in &group.dims {
            self.dim(dim, &pad);
        }
        if !group.variables.is_empty() {
            self.out.line(&format!("{pad}variables:"));
        }
        for variable in &group.variables {
            if self.out.is_full() {
                return;
            }
            self.variable(variable, path, &pad);
        }
        for attribute in &group.attributes {
            self.attribute(attribute, "", &pad);
        }
        for child in &group.groups {
            if self.out.is_full() {
                return;
            }
            self.out.line(&format!("{pad}group: {} {{", child.name));
            self.group(child, &join(path, &child.name), depth + 1);
            self.out.line(&format!("{pad}}}"));
        }
    }

    fn dim(&mut self, dim: &Dim, pad: &str) {
        self.field("dim", format!("{}={}", dim.name, dim.length));
        if dim.unlimited {
            self.out.line(&format!("{pad}  {} = UNLIMITED ; // ({} currently)", dim.name, dim.length));
        } else {
            self.out.line(&format!("{pad}  {} = {} ;", dim.name, dim.length));
        }
    }

    fn variable(&mut self, variable: &Variable, path: &str, pad: &str) {
        self.field("var", variable.name.clone());
        self.field("var", join(path, &variable.name));
        self.field("dtype", variable.dtype.clone());
        let shape = shape_text(&variable.shape);
        self.field("shape", shape.clone());
        let dims = if variable.dims.is_empty() { shape } else { variable.dims.join(", ") };
        let brackets = if dims.is_empty() { String::new() } else { format!("({dims})") };
        self.out.line(&format!("{pad}  {} {}{brackets} ;", variable.dtype, variable.name));
        for attribute in &variable.attributes {
            self.attribute(attribute, &variable.name, &format!("{pad}  "));
        }
    }

    fn attribute(&mut self, attribute: &Attribute, variable: &str, pad: &str) {
        let Attribute { name, value, is_text, note } = attribute;
        self.field("attr", format!("{name}={value}"));
        match (name.to_ascii_lowercase().as_str(), variable.is_empty()) {
            ("units" | "unit", _) => self.field("units", value.clone()),
            ("title", true) => self.field("title", value.clone()),
            ("author" | "authors" | "creator" | "creator_name", true) => self.field("author", value.clone()),
            _ => {}
        }
        let quote = if *is_text { "\"" } else { "" };
        let note = if note.is_empty() { String::new() } else { format!(" // {note}") };
        self.out.line(&format!("{pad}  {variable}:{name} = {quote}{value}{quote} ;{note}"));
    }
}

fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_string() } else { format!("{path}/{name}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_in_a_group_is_found_by_its_name_and_by_its_path() {
        let units = Attribute::text("units", "K");
        let sst = Variable {
            name: "sst".into(),
            dtype: "float32".into(),
            dims: vec!["lat".into(), "lon".into()],
            shape: vec![2, 3],
            attributes: vec![units],
        };
        let ocean = Group { name: "ocean".into(), variables: vec![sst], ..Group::default() };
        let mut root = Group { groups: vec![ocean], ..Group::default() };
        root.attributes.push(Attribute::text("title", "A b"));
        let mut out = Output::new(10_000, 100);
        write("netCDF", &root, &mut out);
        let (text, fields, _) = out.into_parts();
        assert!(text.contains("float32 sst(lat, lon) ;"), "{text}");
        for (name, value) in [
            ("var", "sst"),
            ("var", "ocean/sst"),
            ("units", "K"),
            ("shape", "2x3"),
            ("attr", "units=K"),
            ("title", "A b"),
        ] {
            assert!(fields.contains(&(name, value.to_string())), "{name} {value} {fields:?}");
        }
    }
}
