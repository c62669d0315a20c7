//! Reads bytes by a grammar that is parsed from `docs/FORMAT.md`.
//!
//! A production is `name = item | item …`. An item is an integer with its name and size (`documents u64`, or
//! several of one size), `varint(name)`, `bytes` with the length in the varint before it, the name of another
//! production, or such a name with `…`, repeated according to the integer directly before it. An item with a
//! question mark and the content of a chain depend on values that the prose explains: `words?` exists for a
//! field of kind 0, `chain?` for analyzer 8, `dialect?` for records 3.

use std::collections::BTreeMap;

/// The values of a production: integers, texts and nested productions, in order.
#[derive(Debug, Default)]
pub struct Parsed {
    numbers: Vec<(String, u128)>,
    bytes: Vec<(String, Vec<u8>)>,
    nested: Vec<(String, Parsed)>,
}

impl Parsed {
    /// The integer with this name.
    pub fn number(&self, name: &str) -> u128 {
        self.numbers.iter().find(|(own, _)| own == name).unwrap_or_else(|| panic!("no {name} in {self:?}")).1
    }

    /// The nested productions with this name.
    pub fn all(&self, name: &str) -> Vec<&Parsed> {
        self.nested.iter().filter(|(own, _)| own == name).map(|(_, parsed)| parsed).collect()
    }

    /// The bytes of the first nested production with this name, as text.
    pub fn text(&self, name: &str) -> String {
        let bytes = &self.all(name)[0].bytes[0].1;
        String::from_utf8(bytes.clone()).unwrap()
    }
}

/// The productions of a section of the document.
pub struct Grammar(BTreeMap<String, Vec<String>>);

impl Grammar {
    /// The first indented block of productions under a heading.
    pub fn of_section(document: &str, heading: &str) -> Self {
        let section = document.split(heading).nth(1).unwrap();
        let block = section.lines().skip_while(|line| !line.starts_with("    "));
        let mut productions: BTreeMap<String, String> = BTreeMap::new();
        let mut current = String::new();
        for line in block.take_while(|line| line.starts_with("    ")) {
            let rest = match line.split_once(" = ") {
                Some((name, rest)) => {
                    current = name.trim().to_owned();
                    rest
                }
                None => line.trim(),
            };
            let text = productions.entry(current.clone()).or_default();
            text.push(' ');
            text.push_str(rest);
        }
        let items = |text: String| {
            text.split(" | ")
                .flat_map(|part| part.split('|'))
                .map(|item| item.trim().to_owned())
                .collect::<Vec<_>>()
        };
        let items = |text| items(text).into_iter().filter(|item| !item.is_empty()).collect();
        Grammar(productions.into_iter().map(|(name, text)| (name, items(text))).collect())
    }

    /// Reads all of `bytes` as a production.
    pub fn read(&self, production: &str, bytes: &[u8]) -> Parsed {
        let mut reader = Reader { bytes, at: 0 };
        let parsed = self.production(production, &mut reader, 0);
        assert_eq!(reader.at, bytes.len(), "bytes follow what the grammar of {production} reads");
        parsed
    }

    fn production(&self, name: &str, reader: &mut Reader, kind: u128) -> Parsed {
        let items = self.0.get(name).unwrap_or_else(|| panic!("no production {name}"));
        let mut parsed = Parsed::default();
        let mut last = kind;
        for item in items {
            let words: Vec<_> = item.split_whitespace().collect();
            match &words[..] {
                [name, "…"] => {
                    for _ in 0..last {
                        parsed.nested.push(((*name).to_owned(), self.production(name, reader, 0)));
                    }
                }
                [name, sizes @ ..]
                    if sizes.first().is_some_and(|size| size.starts_with('u') || *size == "i64") =>
                {
                    last = self.integers(name, sizes, reader, &mut parsed);
                }
                [name @ .., size] if !name.is_empty() && width(size).is_some() => {
                    last = reader.integer(width(size).unwrap());
                    parsed.numbers.push((name.join(" "), last));
                }
                [name, "varint"] => {
                    last = reader.varint();
                    parsed.numbers.push(((*name).to_owned(), last));
                }
                [text] if text.starts_with("varint(") => {
                    last = reader.varint();
                    parsed.numbers.push((text[7..text.len() - 1].to_owned(), last));
                }
                ["bytes"] => {
                    parsed.bytes.push(("bytes".to_owned(), reader.take(usize::try_from(last).unwrap())))
                }
                [name] if name.ends_with('?') => {
                    let name = name.trim_end_matches('?');
                    let is_there = match name {
                        "words" => parsed.number("kind") == 0,
                        "dialect" => parsed.number("records") == 3,
                        "chain" => parsed.number("analyzer") == 8,
                        other => panic!("the grammar does not say when {other} is there"),
                    };
                    if is_there {
                        parsed.nested.push((name.to_owned(), self.production(name, reader, 0)));
                    }
                }
                [name] => parsed.nested.push(((*name).to_owned(), self.production(name, reader, 0))),
                other => panic!("cannot read the item {other:?} of {name}"),
            }
        }
        parsed
    }

    /// One or more integers under one name; returns the last.
    fn integers(&self, name: &str, sizes: &[&str], reader: &mut Reader, parsed: &mut Parsed) -> u128 {
        let mut last = 0;
        for size in sizes {
            last = reader.integer(width(size).unwrap_or_else(|| panic!("{size} is not a size")));
            parsed.numbers.push((name.to_owned(), last));
        }
        last
    }
}

/// Bytes of an integer of a size such as `u32`.
fn width(size: &str) -> Option<usize> {
    match size {
        "u8" => Some(1),
        "u32" => Some(4),
        "u64" | "i64" => Some(8),
        "u128" => Some(16),
        _ => None,
    }
}

struct Reader<'b> {
    bytes: &'b [u8],
    at: usize,
}

impl Reader<'_> {
    fn take(&mut self, count: usize) -> Vec<u8> {
        let bytes = self.bytes[self.at..self.at + count].to_vec();
        self.at += count;
        bytes
    }

    fn integer(&mut self, width: usize) -> u128 {
        self.take(width).iter().rev().fold(0, |sum, &byte| sum << 8 | u128::from(byte))
    }

    fn varint(&mut self) -> u128 {
        let mut value = 0;
        for shift in (0..).step_by(7) {
            let byte = self.take(1)[0];
            value |= u128::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                break;
            }
        }
        value
    }
}
