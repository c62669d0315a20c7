//! Generated queries: those of the grammar mean what was generated, and any changes of their text are read or
//! refused at a place inside of it.

use std::fmt;

use fastrand::Rng;

use crate::error::Error;
use crate::query::{Operator, Pattern, Query, QueryText, WeightedField, parse, parse_json};
use crate::schema::{Field, FieldKind};

/// Fields: `text`, 0, the default; `title`, 1; the columns `size`, 2, and `name`, 3.
struct Small;

const NAMES: [&str; 4] = ["text", "title", "size", "name"];

fn numbered(number: usize) -> Field {
    Field::new(u16::try_from(number).unwrap()).unwrap()
}

impl QueryText for Small {
    fn default_fields(&self) -> &[WeightedField] {
        &[WeightedField::FIRST]
    }

    fn field(&self, name: &str) -> Result<Field, Vec<String>> {
        let known = NAMES[..2].iter().position(|known| *known == name);
        known.map(numbered).ok_or_else(|| NAMES.map(str::to_owned).to_vec())
    }

    fn column(&self, name: &str) -> Option<(Field, FieldKind)> {
        match name {
            "size" => Some((numbered(2), FieldKind::Unsigned)),
            "name" => Some((numbered(3), FieldKind::Keyword)),
            _ => None,
        }
    }

    fn terms(&mut self, _field: Field, text: &str) -> Vec<(u32, Vec<u8>)> {
        (0..).zip(text.split_whitespace().map(|word| word.as_bytes().to_vec())).collect()
    }

    fn spelling(&self, _field: Field, text: &str) -> String {
        text.to_owned()
    }
}

/// A clause of the grammar, which prints as its text.
#[derive(Debug)]
enum Node {
    Word(char),
    /// With the number of places.
    Phrase(u32),
    /// With the number of edits.
    Fuzzy(u8),
    Wildcard,
    Regex,
    Range,
    Set,
    Everything,
    /// `size` with a sign and a number, written in one of several ways.
    Size(&'static str, u64),
    Name(&'static str),
    Title(Box<Node>),
    /// With the text between the clauses, and the number that must match.
    Group(Vec<Node>, &'static str, Option<usize>),
    Boost(Box<Node>, f32),
    Signed(&'static str, Box<Node>),
}

impl fmt::Display for Node {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Node::Word(char) => write!(out, "{char}"),
            Node::Phrase(0) => write!(out, "\"a b\""),
            Node::Phrase(slop) => write!(out, "\"a b\"~{slop}"),
            Node::Fuzzy(edits) => write!(out, "abcd~{edits}"),
            Node::Wildcard => write!(out, "a?b*c"),
            Node::Regex => write!(out, "re\"a+ \\\"b\""),
            Node::Range => write!(out, "[a TO b}}"),
            Node::Set => write!(out, "in(a b)"),
            Node::Everything => write!(out, "*"),
            Node::Size(before, number) => write!(out, "size{before}{number}"),
            Node::Name(value) => write!(out, "name:{value}"),
            Node::Title(inner) => write!(out, "title:{inner}"),
            Node::Group(nodes, between, least) => {
                write!(out, "(")?;
                for (number, node) in nodes.iter().enumerate() {
                    write!(out, "{}{node}", if number > 0 { between } else { "" })?;
                }
                write!(out, ")")?;
                least.map_or(Ok(()), |least| write!(out, "@{least}"))
            }
            Node::Boost(inner, boost) => write!(out, "{inner}^{boost}"),
            Node::Signed(sign, inner) => write!(out, "{sign}{inner}"),
        }
    }
}

fn node(random: &mut Rng, depth: usize) -> Node {
    let inner = |random: &mut Rng| Box::new(node(random, depth - 1));
    match random.usize(..if depth == 0 { 11 } else { 15 }) {
        0 | 1 => Node::Word(random.char('a'..='e')),
        2 => Node::Phrase([0, 1, 3, u32::MAX][random.usize(..4)]),
        3 => Node::Fuzzy(random.u8(1..3)),
        4 => Node::Wildcard,
        5 => Node::Regex,
        6 => Node::Range,
        7 => Node::Set,
        8 => Node::Everything,
        9 => {
            let signs = [":", "=", ":>", ": >", " > ", ">=", " <= ", ":<", ": ", " = "];
            Node::Size(signs[random.usize(..signs.len())], random.u64(..))
        }
        10 => {
            let values = ["*.html", "a*", "re\"x|y\"", "abc~1", "\"a*\"", "in(a b*)", "<m", "*", "?"];
            Node::Name(values[random.usize(..values.len())])
        }
        11 => match node(random, 0) {
            Node::Size(..) | Node::Name(_) | Node::Everything => Node::Title(Box::new(Node::Word('a'))),
            plain => Node::Title(Box::new(plain)),
        },
        12 => {
            let count = random.usize(1..4);
            let between = [" ", " OR ", " AND "][random.usize(..3)];
            let nodes = (0..count).map(|_| *inner(random)).collect();
            Node::Group(nodes, between, None)
        }
        13 => match *inner(random) {
            boosted @ (Node::Boost(..) | Node::Signed(..)) => boosted,
            plain => Node::Boost(Box::new(plain), [0.5, 1.0, 2.25, 1e-18, 1e18][random.usize(..5)]),
        },
        _ => match random.usize(..4) {
            0 => match *inner(random) {
                signed @ Node::Signed(..) => signed,
                plain => Node::Signed("-", Box::new(plain)),
            },
            1 => Node::Signed("NOT ", inner(random)),
            2 => Node::Signed("+", Box::new(Node::Word('a'))),
            _ => {
                let nodes = ['a', 'b', 'c'].map(Node::Word).into();
                Node::Group(nodes, [" ", " OR "][random.usize(..2)], Some(random.usize(1..=3)))
            }
        },
    }
}

/// The numbers of a query: edits, places, counts and boosts.
#[derive(Debug, Default, PartialEq)]
struct SuffixNumbers {
    edits: Vec<u8>,
    places: Vec<u32>,
    least: Vec<usize>,
    boosts: Vec<f32>,
}

impl SuffixNumbers {
    fn of_node(&mut self, node: &Node) {
        match node {
            Node::Phrase(places) => self.places.push(*places),
            Node::Fuzzy(edits) => self.edits.push(*edits),
            Node::Name("abc~1") => self.edits.push(1),
            Node::Title(inner) | Node::Signed(_, inner) => self.of_node(inner),
            Node::Group(nodes, _, least) => {
                self.least.extend(least);
                nodes.iter().for_each(|node| self.of_node(node));
            }
            Node::Boost(inner, boost) => {
                self.boosts.push(*boost);
                self.of_node(inner);
            }
            _ => {}
        }
    }

    fn of_query(&mut self, query: &Query) {
        for clause in query.clauses() {
            match clause {
                Query::Pattern { pattern: Pattern::Fuzzy { edits, .. }, .. }
                | Query::ValuePattern { pattern: Pattern::Fuzzy { edits, .. }, .. } => {
                    self.edits.push(*edits)
                }
                Query::Phrase(phrase) => self.places.push(phrase.slop),
                Query::Boost(_, boost) => self.boosts.push(*boost),
                Query::Bool(list) if list.at_least > 0 => self.least.push(list.at_least),
                _ => {}
            }
        }
    }

    fn sorted(mut self) -> Self {
        self.edits.sort_unstable();
        self.places.sort_unstable();
        self.least.sort_unstable();
        self.boosts.sort_by(f32::total_cmp);
        self
    }
}

/// Asserts that a query is read from its own JSON as the same query.
fn assert_reads_back(query: &Query, text: &str) {
    let name = |field: Field| NAMES.get(usize::from(field.number())).map(|name| (*name).to_owned());
    let json = query.to_json(Some(Field::default()), &name).unwrap();
    let back = parse_json(&json, Operator::Or, &mut Small);
    assert_eq!(back.as_ref().ok(), Some(query), "{text}: {json}: {back:?}");
}

/// Whether a term ends with a number after the sign of a suffix.
fn has_suffix(term: &[u8]) -> bool {
    let term = String::from_utf8_lossy(term);
    let Some((before, number)) = term.rsplit_once(['^', '~']) else { return false };
    !before.is_empty()
        && number.parse::<f64>().is_ok()
        && number.ends_with(|char: char| char.is_ascii_digit())
}

fn changed(text: &str, random: &mut Rng) -> String {
    const PIECES: [&str; 30] = [
        "^",
        "~",
        "@",
        "-",
        "+",
        "1",
        "99999999999999999999",
        "1e400",
        "0",
        ".5",
        "(",
        ")",
        "\"",
        " ",
        ":",
        "=",
        "<",
        ">",
        "*",
        "?",
        "[",
        "]",
        "{",
        " TO ",
        "OR",
        "NOT ",
        "size",
        "name:",
        "é",
        "\\",
    ];
    let mut chars: Vec<String> = text.chars().map(String::from).collect();
    for _ in 0..random.usize(1..4) {
        let at = random.usize(..=chars.len());
        match random.usize(..3) {
            0 if at < chars.len() => drop(chars.remove(at)),
            1 if at < chars.len() => chars[at] = PIECES[random.usize(..PIECES.len())].to_owned(),
            _ => chars.insert(at, PIECES[random.usize(..PIECES.len())].to_owned()),
        }
    }
    chars.concat()
}

#[test]
fn twenty_thousand_generated_queries_mean_what_they_say_or_are_refused_at_a_place() {
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    let mut random = Rng::with_seed(seed);
    let (mut refused, mut read) = (0, 0);
    for _ in 0..10_000 {
        let nodes: Vec<Node> = (0..random.usize(1..4)).map(|_| node(&mut random, 3)).collect();
        let text = nodes.iter().map(Node::to_string).collect::<Vec<_>>().join(" ");
        let operator = if random.bool() { Operator::And } else { Operator::Or };
        let query = match parse(&text, operator, &mut Small) {
            Ok(query) => query,
            Err(error) => panic!("{text}: {error}"),
        };
        assert_reads_back(&query, &text);
        let (mut said, mut found) = (SuffixNumbers::default(), SuffixNumbers::default());
        nodes.iter().for_each(|node| said.of_node(node));
        found.of_query(&query);
        let (said, found) = (said.sorted(), found.sorted());
        assert_eq!(
            (said.edits, said.places, said.boosts),
            (found.edits, found.places, found.boosts),
            "{text}"
        );
        // A list of words beside conditions also has a least number, which is 1.
        let several = |least: Vec<usize>| least.into_iter().filter(|least| *least > 1).collect::<Vec<_>>();
        assert_eq!(several(said.least), several(found.least), "{text}");
        let text = changed(&text, &mut random);
        match parse(&text, operator, &mut Small) {
            Ok(query) => {
                read += 1;
                assert_reads_back(&query, &text);
                let is_quoted = text.contains(['"', '\\']);
                let is_word = |clause: &Query| matches!(clause, Query::Term(term) if has_suffix(&term.text));
                assert!(is_quoted || !query.clauses().any(is_word), "{text}: {query:?}");
            }
            Err(Error::Query { at, query, .. }) => {
                refused += 1;
                assert!(query == text && at >= 1 && at <= text.chars().count() + 1, "{text}: {at}");
            }
            Err(error) => panic!("{text}: {error}"),
        }
    }
    assert!(refused > 1_000 && read > 1_000, "{refused} were refused, {read} were read");
}
