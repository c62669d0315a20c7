//! Texts of queries: by the grammar, such texts with changes, and any characters.

use fastrand::Rng;

use super::columns;
use super::world::{World, word};

/// Text with a meaning to the parser.
const SIGNS: [&str; 40] = [
    "(",
    ")",
    "\"",
    "~",
    "^",
    "@",
    "*",
    "?",
    ":",
    "\\",
    "[",
    "]",
    "{",
    "}",
    "+",
    "-",
    " ",
    " AND ",
    " OR ",
    " NOT ",
    " TO ",
    "in(",
    "re\"",
    "\"~2",
    "~1",
    "^2",
    "^1e9",
    "@2",
    "~99999999999",
    "^.",
    "text:",
    "*:",
    "\t",
    "\n",
    "\0",
    "\u{a0}",
    "\u{301}",
    "\u{fffd}",
    "\u{10ffff}",
    "ß",
];

/// A text.
pub fn text(random: &mut Rng, world: &World) -> String {
    let mut text = String::new();
    match random.u8(0..20) {
        0..12 => list(random, world, 0, &mut text),
        12..16 => {
            list(random, world, 0, &mut text);
            for _ in 0..random.usize(1..=4) {
                text = changed(random, &text);
            }
        }
        16..18 => (0..random.usize(0..30)).for_each(|_| text.push_str(SIGNS[random.usize(0..SIGNS.len())])),
        18 => {
            let bytes: Vec<u8> = (0..random.usize(0..60)).map(|_| random.u8(..)).collect();
            text = String::from_utf8_lossy(&bytes).into_owned();
        }
        _ => long(random, &mut text),
    }
    text
}

/// Repeats something, often beyond a limit.
fn long(random: &mut Rng, text: &mut String) {
    let part = match random.u8(0..8) {
        0 => "(".into(),
        1 => "-(".into(),
        2 => "text:".into(),
        3 => "\"a b\"~9 ".into(),
        4 => "a* ".into(),
        5 => format!("{}~ ", word(random)),
        6 => "[".into(),
        _ => format!("{} ", SIGNS[random.usize(0..SIGNS.len())]),
    };
    let most = if random.u8(0..20) == 0 { 20_000 } else { 200 };
    (0..random.usize(1..most)).for_each(|_| text.push_str(&part));
    if random.bool() {
        text.push_str("a)");
    }
}

/// The text with a character removed, doubled or replaced, or with a part of it moved.
fn changed(random: &mut Rng, text: &str) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    let at = random.usize(0..=chars.len());
    let end = (at + random.usize(0..6)).min(chars.len());
    match random.u8(0..5) {
        0 => drop(chars.drain(at..end)),
        1 => {
            let part: Vec<char> = chars[at..end].to_vec();
            let to = random.usize(0..=chars.len());
            chars.splice(to..to, part);
        }
        2 => drop(chars.splice(at..end, SIGNS[random.usize(0..SIGNS.len())].chars())),
        3 => chars.insert(at, random.char(..)),
        _ => chars.truncate(at),
    }
    chars.into_iter().collect()
}

fn list(random: &mut Rng, world: &World, depth: usize, text: &mut String) {
    for at in 0..random.usize(1..=4) {
        if at > 0 {
            text.push_str([" ", " ", " AND ", " OR "][random.usize(0..4)]);
        }
        text.push_str(["", "", "", "", "+", "-", "NOT "][random.usize(0..7)]);
        clause(random, world, depth, text);
    }
}

fn clause(random: &mut Rng, world: &World, depth: usize, text: &mut String) {
    if random.u8(0..6) == 0 {
        let names = world.names();
        text.push_str(&names[random.usize(0..names.len())]);
        text.push(':');
    }
    match random.u8(0..24) {
        0..4 if depth < 4 => {
            text.push('(');
            list(random, world, depth + 1, text);
            text.push(')');
            if random.u8(0..4) == 0 {
                text.push_str(&format!("@{}", random.usize(0..4)));
            }
        }
        4..7 => {
            let words: Vec<&str> = (0..random.usize(0..5)).map(|_| word(random)).collect();
            text.push_str(&format!("\"{}\"", words.join(" ").replace('"', "\\\"")));
            if random.bool() {
                text.push_str(&format!("~{}", [0, 1, 3, 100, u32::MAX][random.usize(0..5)]));
            }
        }
        // Building the automata of patterns takes longer than everything else.
        7 => text.push_str(&pattern(random)),
        8 if random.bool() => text.push_str(&format!("re\"{}\"", regex(random))),
        9 => text.push_str(&format!("{}~{}", word(random), ["", "0", "1", "2", "3"][random.usize(0..5)])),
        12 => {
            let (open, close) = (["[", "{"][random.usize(0..2)], ["]", "}"][random.usize(0..2)]);
            let mut bound = || if random.u8(0..4) == 0 { "*" } else { word(random) };
            let (from, to) = (bound(), bound());
            text.push_str(&format!("{open}{from} TO {to}{close}"));
        }
        13 => {
            let words: Vec<&str> = (0..random.usize(0..5)).map(|_| word(random)).collect();
            text.push_str(&format!("in({})", words.join(" ")));
        }
        14 => text.push('*'),
        15 => text.push_str(&columns::text(random)),
        _ => text.push_str(word(random)),
    }
    if random.u8(0..10) == 0 {
        text.push_str(
            ["^2", "^0.5", "^0", "^1e9", "^99999999999999999999999999999999999999999"][random.usize(0..5)],
        );
    }
    if random.u8(0..20) == 0 {
        text.push_str(&columns::score_text(random));
    }
}

/// A word with wildcards in it.
pub fn pattern(random: &mut Rng) -> String {
    let mut chars: Vec<char> = word(random).chars().collect();
    for _ in 0..random.usize(1..4) {
        let at = random.usize(0..=chars.len());
        chars.insert(at, if random.bool() { '*' } else { '?' });
    }
    chars.into_iter().collect()
}

/// A regular expression, mostly a valid one.
pub fn regex(random: &mut Rng) -> String {
    const PARTS: [&str; 24] = [
        ".",
        ".*",
        "[a-z]+",
        "(a|b)",
        "\\w",
        "\\d{2}",
        "[^x]",
        "é?",
        "(?i)ru",
        "x{0,3}",
        "a*?",
        "\\.",
        "^",
        "$",
        "|",
        "(",
        ")",
        "[",
        "{3",
        "(?-u:\\xff)",
        "\\p{Greek}",
        "(.{0,9}){0,9}",
        "\\b",
        "*",
    ];
    let usable = if random.u8(0..5) > 0 { 14 } else { PARTS.len() };
    (0..random.usize(0..5))
        .map(|_| {
            if random.bool() {
                PARTS[random.usize(0..usable)].to_string()
            } else {
                word(random).chars().take(3).filter(|char| char.is_alphanumeric()).collect()
            }
        })
        .collect()
}
