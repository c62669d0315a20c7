//! The shape of functions and lines: parameters that are destructured, too many parameters, lines that are
//! too long.

use syn::spanned::Spanned;
use syn::visit::{self, Visit};

/// The maximum number of parameters of a function, including `self`.
const PARAMETERS: usize = 6;

/// The maximum number of characters of a line.
const COLUMNS: usize = 110;

/// A rule broken at a line: the line, the rule, and what breaks it.
pub type Broken = (usize, &'static str, String);

/// Functions with destructured parameters, or with too many parameters.
pub fn parameters(file: &syn::File) -> Vec<Broken> {
    let mut found = Signatures(Vec::new());
    found.visit_file(file);
    found.0
}

/// Lines longer than [`COLUMNS`]. Text in string literals that cannot be cut, such as test data, needs a
/// reason.
pub fn long_lines(text: &str) -> Vec<Broken> {
    let lines = text.lines().enumerate().map(|(at, line)| (at + 1, line.chars().count()));
    let long = lines.filter(|&(_, length)| length > COLUMNS);
    long.map(|(line, length)| (line, "line length", format!("{length} characters, at most {COLUMNS}")))
        .collect()
}

struct Signatures(Vec<Broken>);

impl<'ast> Visit<'ast> for Signatures {
    fn visit_signature(&mut self, signature: &'ast syn::Signature) {
        let line = signature.span().start().line;
        let name = &signature.ident;
        let count = signature.inputs.len();
        if count > PARAMETERS {
            let what = format!("{name} has {count} parameters, at most {PARAMETERS}: give a struct a name");
            self.0.push((line, "parameters", what));
        }
        let is_tuple = |input: &syn::FnArg| {
            let syn::FnArg::Typed(typed) = input else { return false };
            let pattern = match &*typed.pat {
                syn::Pat::Reference(reference) => &*reference.pat,
                pattern => pattern,
            };
            matches!(pattern, syn::Pat::Tuple(_))
        };
        if signature.inputs.iter().any(is_tuple) {
            let what = format!("{name} takes a tuple apart: give a struct with names, or parameters");
            self.0.push((line, "tuple parameter", what));
        }
        visit::visit_signature(self, signature);
    }
}
