//! Reads the arguments of a find command.
//!
//! Grammar: options such as `-P`, start points, and then the expression, which begins with the first
//! argument that starts with a dash or is `(` or `!`:
//!
//! ```text
//! list := or ("," or)*
//! or   := and (("-o" | "-or") and)*
//! and  := term (["-a" | "-and"] term)*
//! term := ("!" | "-not") term | "(" list ")" | test | action | option
//! ```
//!
//! An option within the expression is true. Without an action that prints, the whole expression gets
//! `-print`.

use super::date::Setting;
use super::error::{FindError, follows_links, text};
use super::expression::{Action, Expression, FindCommand, FindNode};
use super::facts::FindFacts;
use super::primary::Primaries;

/// The deepest nesting of parentheses and negations.
const DEEPEST: usize = 200;

/// Reads the arguments that follow the name of the index.
pub fn parse<A: AsRef<[u8]>>(
    arguments: &[A],
    setting: Setting,
    facts: &dyn FindFacts,
) -> Result<FindCommand, FindError> {
    let words: Vec<&[u8]> = arguments.iter().map(AsRef::as_ref).collect();
    let start = leading_options(&words)?;
    let paths = words.get(start..).unwrap_or_default();
    let count = paths.iter().take_while(|word| !begins_expression(word, true)).count();
    let (start_points, words) = paths.split_at(count);
    let mut parser = Parser { primaries: Primaries::new(words, setting, facts), depth: 0 };
    let root = parser.expression()?;
    let Primaries { traversal, outputs, contents, mut leaves, setting, warnings, .. } = parser.primaries;
    let root = match root {
        None => default_print(None, &mut leaves),
        Some(root) if root.any_action(&Action::is_output) => root,
        Some(root) => default_print(Some(root), &mut leaves),
    };
    let start_points = start_points.iter().map(|path| path.to_vec()).collect();
    let expression = Expression { root, traversal, outputs, contents, leaves, setting };
    Ok(FindCommand { start_points, expression, warnings })
}

/// The expression with `-print` after it.
fn default_print(root: Option<FindNode>, leaves: &mut Vec<Vec<u8>>) -> FindNode {
    let print = FindNode::Action(leaves.len(), Action::Print(0));
    leaves.push(b"-print".to_vec());
    match root {
        Some(root) => FindNode::And(vec![root, print]),
        None => print,
    }
}

/// The number of options before the start points.
fn leading_options(words: &[&[u8]]) -> Result<usize, FindError> {
    for (position, word) in words.iter().enumerate() {
        match *word {
            b"-P" => {}
            b"-L" | b"-H" => return Err(follows_links(word)),
            b"--" => return Ok(position + 1),
            [b'-', b'O', level @ ..] => {
                if level.is_empty() || !level.iter().all(u8::is_ascii_digit) {
                    return Err(FindError::new("-O needs a level after it: write -O1"));
                }
            }
            [b'-', b'D', ..] => return Err(FindError::new("-D is not there: leave it out")),
            _ => return Ok(position),
        }
    }
    Ok(words.len())
}

/// Whether an argument belongs to the expression. Before the expression, `)` and `,` are paths.
fn begins_expression(word: &[u8], is_leading: bool) -> bool {
    match word {
        [b'-', _, ..] | b"(" | b"!" => true,
        b")" | b"," => !is_leading,
        _ => false,
    }
}

/// An operator at the current position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FindOperator {
    Not,
    Open,
    Close,
    And,
    Or,
    Comma,
}

/// The operator that a word is.
fn operator(word: &[u8]) -> Option<FindOperator> {
    Some(match word {
        b"!" | b"-!" | b"-not" => FindOperator::Not,
        b"(" | b"-(" => FindOperator::Open,
        b")" | b"-)" => FindOperator::Close,
        b"," | b"-," => FindOperator::Comma,
        b"-a" | b"-and" => FindOperator::And,
        b"-o" | b"-or" => FindOperator::Or,
        _ => return None,
    })
}

struct Parser<'a> {
    primaries: Primaries<'a>,
    depth: usize,
}

impl Parser<'_> {
    /// The whole expression; none where there are no words.
    fn expression(&mut self) -> Result<Option<FindNode>, FindError> {
        self.primaries.skip_day_start();
        if self.primaries.word().is_none() {
            return Ok(None);
        }
        let root = self.list()?;
        match self.primaries.word() {
            None => Ok(Some(root)),
            Some(_) => Err(FindError::new("there is a ')' without a '(': write both, quoted, or neither")),
        }
    }

    fn operator(&self) -> Option<FindOperator> {
        operator(self.primaries.word()?)
    }

    /// Passes an operator.
    fn advance(&mut self) {
        self.primaries.at += 1;
        self.primaries.skip_day_start();
    }

    /// Takes the operator, if it comes next.
    fn takes(&mut self, expected: FindOperator) -> bool {
        let is_next = self.operator() == Some(expected);
        if is_next {
            self.advance();
        }
        is_next
    }

    fn list(&mut self) -> Result<FindNode, FindError> {
        let mut nodes = vec![self.or()?];
        while self.takes(FindOperator::Comma) {
            nodes.push(self.or()?);
        }
        Ok(joined(nodes, FindNode::Comma))
    }

    fn or(&mut self) -> Result<FindNode, FindError> {
        let mut nodes = vec![self.and()?];
        while self.takes(FindOperator::Or) {
            nodes.push(self.and()?);
        }
        Ok(joined(nodes, FindNode::Or))
    }

    fn and(&mut self) -> Result<FindNode, FindError> {
        let mut nodes = vec![self.term()?];
        loop {
            match self.operator() {
                Some(FindOperator::And) => self.advance(),
                Some(FindOperator::Or | FindOperator::Comma | FindOperator::Close) => break,
                Some(FindOperator::Not | FindOperator::Open) => {}
                None if self.primaries.word().is_none() => break,
                None => {}
            }
            nodes.push(self.term()?);
        }
        Ok(joined(nodes, FindNode::And))
    }

    fn term(&mut self) -> Result<FindNode, FindError> {
        let Some(word) = self.primaries.word() else {
            let last = text(self.primaries.words.last().copied().unwrap_or_default());
            return Err(FindError::new(format!("the expression ends after '{last}': write a test after it")));
        };
        if !begins_expression(word, false) {
            let word = text(word);
            return Err(FindError::new(format!(
                "'{word}' is a path after the expression began: write paths first, and quote patterns"
            )));
        }
        let Some(operator) = operator(word) else {
            let node = self.primaries.primary()?;
            self.primaries.skip_day_start();
            return Ok(node);
        };
        self.advance();
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(FindError::new(format!("the expression is nested more than {DEEPEST} levels deep")));
        }
        let node = match operator {
            FindOperator::Not => FindNode::Not(Box::new(self.term()?)),
            FindOperator::Open => self.group()?,
            FindOperator::Close | FindOperator::And | FindOperator::Or | FindOperator::Comma => {
                let word = text(word);
                return Err(FindError::new(format!("'{word}' has nothing before it: write a test there")));
            }
        };
        self.depth -= 1;
        Ok(node)
    }

    fn group(&mut self) -> Result<FindNode, FindError> {
        if self.operator() == Some(FindOperator::Close) {
            return Err(FindError::new("the parentheses are empty: write a test between them"));
        }
        let node = self.list()?;
        match self.takes(FindOperator::Close) {
            true => Ok(node),
            false => Err(FindError::new(
                "there is a '(' without a ')': write ')' as an argument of its own, quoted",
            )),
        }
    }
}

/// One node, or an operator over several.
fn joined(mut nodes: Vec<FindNode>, operator: fn(Vec<FindNode>) -> FindNode) -> FindNode {
    match nodes.len() {
        1 => nodes.pop().unwrap_or(FindNode::Constant(true)),
        _ => operator(nodes),
    }
}
