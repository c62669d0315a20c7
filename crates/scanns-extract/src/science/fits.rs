//! Headers of FITS files, the files of astronomy.
//!
//! ```text
//! file = hdu*                 hdu = header data, each padded to blocks of 2,880 bytes
//! header = card* "END"        card = 80 bytes: keyword of 8, "= ", value, "/ comment"
//! ```
//! A string stands between quotes, and `''` is a quote in it. `CONTINUE` adds to a string that ends with `&`.
//! `HIERARCH long name = value` has a longer keyword. Source: the FITS standard 4.0 of the IAU.

use std::io::{Read, Seek};

use super::bytes::Source;
use super::cdl::{self, Attribute, Group, Variable};
use crate::error::ExtractError;
use crate::output::Output;

const FORMAT: &str = "FITS";
const BLOCK: usize = 2880;
const CARD: usize = 80;
/// The most parts of a file and the most blocks of a header that are read.
const MOST_HDUS: usize = 10_000;
const MOST_BLOCKS: usize = 10_000;
/// The most cards of a file that are kept.
const MOST_CARDS: usize = 1_000_000;

/// Writes the headers of all parts of a file.
pub(crate) fn extract(
    source: &mut Source<'_, impl Read + Seek>,
    out: &mut Output,
) -> Result<(), ExtractError> {
    let mut root = Group::default();
    let done = read_all(source, &mut root);
    cdl::write(FORMAT, &root, out);
    done
}

fn read_all(source: &mut Source<'_, impl Read + Seek>, root: &mut Group) -> Result<(), ExtractError> {
    let mut offset = 0u64;
    let mut kept = 0;
    while offset < source.size() && root.groups.len() < MOST_HDUS && kept < MOST_CARDS {
        let (cards, ended, blocks) = read_cards(source, offset)?;
        // Some writers leave other bytes after the last part.
        let is_hdu = cards.iter().any(|card| card.name == "SIMPLE" || card.name == "XTENSION");
        if !is_hdu && !root.groups.is_empty() {
            break;
        }
        kept += cards.len();
        let group = group_of(&cards, root.groups.len());
        // An image is a variable of the file; columns belong to their table.
        if group.variables.is_empty() {
            root.variables.extend(image(&cards, &group.name));
        }
        root.groups.push(group);
        if !ended {
            return Err(ExtractError::damaged(FORMAT, "a header has no END card"));
        }
        let block = BLOCK as u64;
        let data = data_len(&cards).and_then(|len| len.checked_next_multiple_of(block));
        let next = data.and_then(|data| (blocks * block).checked_add(data)?.checked_add(offset));
        offset = next.ok_or_else(|| ExtractError::damaged(FORMAT, "the size of the data is not a number"))?;
    }
    Ok(())
}

/// One keyword with its value.
#[derive(Debug, Default, PartialEq)]
struct Card {
    name: String,
    value: String,
    is_text: bool,
    comment: String,
}

/// The cards of one header, whether it has an END card, and the number of its blocks.
fn read_cards(
    source: &mut Source<'_, impl Read + Seek>,
    offset: u64,
) -> Result<(Vec<Card>, bool, u64), ExtractError> {
    let mut cards: Vec<Card> = Vec::new();
    let mut at = offset;
    for blocks in 1..=MOST_BLOCKS as u64 {
        let block = source.read_at(at, BLOCK)?;
        at = at.saturating_add(BLOCK as u64);
        for bytes in block.chunks_exact(CARD) {
            let text: String = bytes.iter().map(|&byte| char::from(byte)).collect();
            if text.trim_end() == "END" {
                return Ok((cards, true, blocks));
            }
            add_card(&text, &mut cards);
        }
        if block.len() < BLOCK {
            return Ok((cards, false, blocks));
        }
    }
    Ok((cards, false, MOST_BLOCKS as u64))
}

fn add_card(text: &str, cards: &mut Vec<Card>) {
    let (keyword, rest) = split_at_char(text, 8);
    let keyword = keyword.trim_end();
    if keyword == "CONTINUE" {
        let (value, _, comment) = value_of(rest);
        if let Some(last) = cards.last_mut().filter(|card| card.value.ends_with('&')) {
            last.value.pop();
            last.value.push_str(&value);
            last.comment = [last.comment.as_str(), comment.as_str()].join(" ").trim().to_string();
            return;
        }
    }
    let (name, rest) = match (keyword, rest.strip_prefix("= "), rest.split_once('=')) {
        ("HIERARCH", _, Some((name, rest))) => (name.trim(), Some(rest)),
        (_, rest, _) => (keyword, rest),
    };
    let Some(rest) = rest else {
        let text = rest_of_comment(text);
        if !text.is_empty() {
            let name = if keyword.is_empty() { "COMMENT" } else { keyword };
            cards.push(Card { name: name.to_string(), value: text, is_text: true, comment: String::new() });
        }
        return;
    };
    let (value, is_text, comment) = value_of(rest);
    cards.push(Card { name: name.to_string(), value, is_text, comment });
}

fn rest_of_comment(text: &str) -> String {
    split_at_char(text, 8).1.trim().to_string()
}

/// Splits before the character with this number.
fn split_at_char(text: &str, chars: usize) -> (&str, &str) {
    let at = text.char_indices().nth(chars).map_or(text.len(), |(at, _)| at);
    text.split_at_checked(at).unwrap_or((text, ""))
}

/// The value of a card, whether it is a string, and the comment.
fn value_of(text: &str) -> (String, bool, String) {
    let text = text.trim();
    let Some(quoted) = text.strip_prefix('\'') else {
        let (value, comment) = text.split_once('/').unwrap_or((text, ""));
        return (value.trim().to_string(), false, comment.trim().to_string());
    };
    let mut value = String::new();
    let mut rest = quoted;
    loop {
        let Some((part, after)) = rest.split_once('\'') else {
            value.push_str(rest);
            return (value.trim_end().to_string(), true, String::new());
        };
        value.push_str(part);
        rest = after;
        match rest.strip_prefix('\'') {
            Some(after) => rest = after,
            None => break,
        }
        value.push('\'');
    }
    let comment = rest.split_once('/').map_or("", |(_, comment)| comment);
    (value.trim_end().to_string(), true, comment.trim().to_string())
}

fn card<'a>(cards: &'a [Card], name: &str) -> Option<&'a str> {
    cards.iter().find(|card| card.name == name).map(|card| card.value.as_str())
}

fn number(cards: &[Card], name: &str) -> Option<u64> {
    card(cards, name)?.parse().ok()
}

/// The lengths of the axes, the first one first.
fn axes(cards: &[Card]) -> Vec<u64> {
    let count = number(cards, "NAXIS").unwrap_or(0).min(999);
    (1..=count).map_while(|axis| number(cards, &format!("NAXIS{axis}"))).collect()
}

/// The bytes of the data of a part without its padding; `None` where they are too many.
fn data_len(cards: &[Card]) -> Option<u64> {
    let axes = axes(cards);
    if axes.is_empty() {
        return Some(0);
    }
    let bits: i64 = card(cards, "BITPIX").and_then(|bits| bits.parse().ok()).unwrap_or(0);
    let is_groups = card(cards, "GROUPS") == Some("T") && axes.first() == Some(&0);
    let skipped = usize::from(is_groups);
    let elements = axes.iter().skip(skipped).try_fold(1u64, |all, &axis| all.checked_mul(axis))?;
    let group = elements.checked_add(number(cards, "PCOUNT").unwrap_or(0))?;
    group.checked_mul(number(cards, "GCOUNT").unwrap_or(1))?.checked_mul(bits.unsigned_abs() / 8)
}

fn group_of(cards: &[Card], number_of_part: usize) -> Group {
    let name = match (card(cards, "EXTNAME"), number_of_part) {
        (Some(name), _) => name.to_string(),
        (None, 0) => "PRIMARY".to_string(),
        (None, number) => format!("HDU{number}"),
    };
    let attribute = |card: &Card| Attribute {
        name: card.name.clone(),
        value: card.value.clone(),
        is_text: card.is_text,
        note: card.comment.clone(),
    };
    let mut group = Group { attributes: cards.iter().map(attribute).collect(), ..Group::default() };
    group.variables = columns(cards);
    group.name = name;
    group
}

/// The columns of a table.
fn columns(cards: &[Card]) -> Vec<Variable> {
    let rows = number(cards, "NAXIS2").unwrap_or(0);
    let count = number(cards, "TFIELDS").unwrap_or(0).min(999);
    let column = |at: u64| {
        let unit = card(cards, &format!("TUNIT{at}"));
        Some(Variable {
            name: card(cards, &format!("TTYPE{at}"))?.to_string(),
            dtype: column_type(card(cards, &format!("TFORM{at}")).unwrap_or("")),
            shape: vec![rows],
            attributes: unit.map(|unit| Attribute::text("units", unit)).into_iter().collect(),
            ..Variable::default()
        })
    };
    (1..=count).filter_map(column).collect()
}

/// The type of a column of a binary table, `10E`; of a text table it stays as it is, `F8.3`.
fn column_type(form: &str) -> String {
    let letters = form.trim_start_matches(|c: char| c.is_ascii_digit());
    let count = form.strip_suffix(letters).unwrap_or("");
    let name = match letters {
        "L" => "bool",
        "X" => "bit",
        "B" => "uint8",
        "I" => "int16",
        "J" => "int32",
        "K" => "int64",
        "A" => return format!("string{count}"),
        "E" => "float32",
        "D" => "float64",
        "C" => "complex64",
        "M" => "complex128",
        _ => return form.to_string(),
    };
    if matches!(count, "" | "1") { name.to_string() } else { format!("{name} x {count}") }
}

/// The image of a part that has one.
fn image(cards: &[Card], name: &str) -> Option<Variable> {
    let mut shape = axes(cards);
    if shape.is_empty() {
        return None;
    }
    shape.reverse();
    let dtype = match card(cards, "BITPIX")? {
        "8" => "uint8",
        "16" => "int16",
        "32" => "int32",
        "64" => "int64",
        "-32" => "float32",
        "-64" => "float64",
        other => other,
    };
    let unit = card(cards, "BUNIT").map(|unit| Attribute::text("units", unit));
    Some(Variable {
        name: name.to_string(),
        dtype: dtype.to_string(),
        shape,
        attributes: unit.into_iter().collect(),
        ..Variable::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cards(lines: &[&str]) -> Vec<Card> {
        let mut cards = Vec::new();
        for line in lines {
            add_card(line, &mut cards);
        }
        cards
    }

    #[test]
    fn a_long_string_goes_on_in_continue_cards() {
        let found =
            cards(&["OBJECT  = 'it''s &'", "CONTINUE  'M 31  ' / galaxy", "HIERARCH ESO TEL = 4 / n"]);
        assert_eq!(found[0].value, "it's M 31");
        assert_eq!(found[0].comment, "galaxy");
        assert_eq!((found[1].name.as_str(), found[1].value.as_str()), ("ESO TEL", "4"));
    }

    #[test]
    fn the_size_of_the_data_follows_from_the_axes() {
        let found = cards(&["BITPIX  = -32", "NAXIS   = 2", "NAXIS1  = 10", "NAXIS2  = 3 / rows"]);
        assert_eq!(data_len(&found), Some(120));
        let lying = cards(&["BITPIX  = -64", "NAXIS   = 1", "NAXIS1  = 18446744073709551615"]);
        assert_eq!(data_len(&lying), None);
    }
}
