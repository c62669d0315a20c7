//! Character entities of SGML collections and of HTML: `&name;`, `&#number;`, `&#xnumber;`.
//!
//! The names are those of ISO Latin 1 (ISO 8879), the signs of HTML 4 that texts use, and those of the DTDs
//! of the TREC disks (`&hyph;`, `&blank;`, `&cir;`, `&racute;`…). An accent on a letter that has no
//! character of its own gives the letter.

use crate::record::corpus::latin1::push_char;

/// The longest text between `&` and `;`.
const NAME_MAX: usize = 10;

/// The characters from 160 to 255.
const LATIN1: [&str; 96] = [
    "nbsp", "iexcl", "cent", "pound", "curren", "yen", "brvbar", "sect", "uml", "copy", "ordf", "laquo",
    "not", "shy", "reg", "macr", "deg", "plusmn", "sup2", "sup3", "acute", "micro", "para", "middot",
    "cedil", "sup1", "ordm", "raquo", "frac14", "frac12", "frac34", "iquest", "Agrave", "Aacute", "Acirc",
    "Atilde", "Auml", "Aring", "AElig", "Ccedil", "Egrave", "Eacute", "Ecirc", "Euml", "Igrave", "Iacute",
    "Icirc", "Iuml", "ETH", "Ntilde", "Ograve", "Oacute", "Ocirc", "Otilde", "Ouml", "times", "Oslash",
    "Ugrave", "Uacute", "Ucirc", "Uuml", "Yacute", "THORN", "szlig", "agrave", "aacute", "acirc", "atilde",
    "auml", "aring", "aelig", "ccedil", "egrave", "eacute", "ecirc", "euml", "igrave", "iacute", "icirc",
    "iuml", "eth", "ntilde", "ograve", "oacute", "ocirc", "otilde", "ouml", "divide", "oslash", "ugrave",
    "uacute", "ucirc", "uuml", "yacute", "thorn", "yuml",
];

/// Other names.
const SIGNS: [(&str, char); 68] = [
    ("amp", '&'),
    ("lt", '<'),
    ("gt", '>'),
    ("quot", '"'),
    ("apos", '\''),
    ("hyph", '-'),
    ("hyphen", '-'),
    ("dash", '-'),
    ("blank", ' '),
    ("cir", '○'),
    ("bull", '•'),
    ("lsquo", '‘'),
    ("rsquo", '’'),
    ("sbquo", '‚'),
    ("ldquo", '“'),
    ("rdquo", '”'),
    ("bdquo", '„'),
    ("ndash", '–'),
    ("mdash", '—'),
    ("hellip", '…'),
    ("ensp", ' '),
    ("emsp", ' '),
    ("thinsp", ' '),
    ("dagger", '†'),
    ("Dagger", '‡'),
    ("permil", '‰'),
    ("prime", '′'),
    ("Prime", '″'),
    ("lsaquo", '‹'),
    ("rsaquo", '›'),
    ("euro", '€'),
    ("trade", '™'),
    ("ge", '≥'),
    ("le", '≤'),
    ("ne", '≠'),
    ("asymp", '≈'),
    ("equiv", '≡'),
    ("minus", '−'),
    ("infin", '∞'),
    ("radic", '√'),
    ("sum", '∑'),
    ("part", '∂'),
    ("larr", '←'),
    ("uarr", '↑'),
    ("rarr", '→'),
    ("darr", '↓'),
    ("check", '✓'),
    ("alpha", 'α'),
    ("beta", 'β'),
    ("gamma", 'γ'),
    ("delta", 'δ'),
    ("Delta", 'Δ'),
    ("epsilon", 'ε'),
    ("lambda", 'λ'),
    ("mu", 'µ'),
    ("pi", 'π'),
    ("rho", 'ρ'),
    ("sigma", 'σ'),
    ("Sigma", 'Σ'),
    ("tau", 'τ'),
    ("theta", 'θ'),
    ("omega", 'ω'),
    ("Omega", 'Ω'),
    ("OElig", 'Œ'),
    ("oelig", 'œ'),
    ("Scaron", 'Š'),
    ("scaron", 'š'),
    ("Yuml", 'Ÿ'),
];

/// Accents that the DTDs put behind any letter.
const ACCENTS: [&[u8]; 8] = [b"acute", b"grave", b"circ", b"uml", b"tilde", b"cedil", b"ring", b"caron"];

/// What an `&` begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entity {
    /// A character, and the length of the entity with `&` and `;`.
    Known(char, usize),
    /// An entity with an unknown name or number, and its length.
    Unknown(usize),
    /// Text.
    No,
}

/// Reads the entity that `bytes` begin with.
pub fn entity_at(bytes: &[u8]) -> Entity {
    let name = bytes.get(1..).unwrap_or_default();
    let Some(end) = name.iter().take(NAME_MAX + 1).position(|byte| *byte == b';') else {
        return Entity::No;
    };
    let Some(name) = name.get(..end).filter(|name| is_entity_name(name)) else {
        return Entity::No;
    };
    let letter = name.strip_prefix(b"#").map_or_else(|| named(name), numbered);
    letter.map_or(Entity::Unknown(end + 2), |letter| Entity::Known(letter, end + 2))
}

fn is_entity_name(name: &[u8]) -> bool {
    let body = name.strip_prefix(b"#").unwrap_or(name);
    !body.is_empty() && body.iter().all(u8::is_ascii_alphanumeric)
}

fn named(name: &[u8]) -> Option<char> {
    let sign = SIGNS.iter().find(|entry| entry.0.as_bytes() == name);
    if let Some(&(_, letter)) = sign {
        return Some(letter);
    }
    if let Some(place) = LATIN1.iter().position(|known| known.as_bytes() == name) {
        return u8::try_from(160 + place).ok().map(char::from);
    }
    let (letter, accent) = name.split_first()?;
    (letter.is_ascii_alphabetic() && ACCENTS.contains(&accent)).then(|| char::from(*letter))
}

fn numbered(digits: &[u8]) -> Option<char> {
    let digits = std::str::from_utf8(digits).ok()?;
    let number = match digits.strip_prefix(['x', 'X']) {
        Some(digits) => u32::from_str_radix(digits, 16).ok()?,
        None => digits.parse().ok()?,
    };
    char::from_u32(number).filter(|letter| *letter != '\0')
}

/// Appends `bytes` with the entities of XML and numbers replaced; other entities stay.
/// Returns whether all `&` began such an entity.
pub fn push_xml_text(bytes: &[u8], into: &mut Vec<u8>) -> bool {
    let mut all_known = true;
    let mut rest = bytes;
    while let Some(at) = memchr::memchr(b'&', rest) {
        let (text, after) = rest.split_at_checked(at).unwrap_or((rest, b""));
        into.extend_from_slice(text);
        let length = if let Entity::Known(letter, length) = entity_at(after) {
            push_char(letter, into);
            length
        } else {
            all_known = false;
            into.push(b'&');
            1
        };
        rest = after.get(length..).unwrap_or_default();
    }
    into.extend_from_slice(rest);
    all_known
}
