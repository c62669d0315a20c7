//! Shell patterns of `-name`, `-path` and `-lname`: fnmatch(3) over bytes in the C locale, without flags
//! (or with FNM_CASEFOLD for the forms with `i`). A leading dot is not special and `/` is a byte like others.
//!
//! A pattern is compiled once. Literal, prefix, suffix and substring patterns compare bytes; the others run
//! through steps with the usual retreat to the last `*`, which is linear for each star. Patterns with a
//! malformed bracket, whose reading depends on the byte that is compared, go through [`GlobPlan::Odd`].

use memchr::memmem::Finder;

use super::bracket::bracket_end;

/// A compiled shell pattern.
#[derive(Clone, Debug)]
pub struct Glob {
    plan: GlobPlan,
    fold: bool,
}

/// What a pattern says about every name that it matches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GlobForm<'a> {
    /// The name is this.
    Equal(&'a [u8]),
    /// The name begins with this.
    Prefix(&'a [u8]),
    /// The name ends with this.
    Suffix(&'a [u8]),
    /// The name contains this.
    Contains(&'a [u8]),
}

#[derive(Clone, Debug)]
enum GlobPlan {
    Equal(Vec<u8>),
    Prefix(Vec<u8>),
    Suffix(Vec<u8>),
    Contains(Box<Finder<'static>>),
    Steps(Vec<GlobStep>),
    /// The pattern as it stands.
    Odd(Vec<u8>),
}

#[derive(Clone, Debug)]
enum GlobStep {
    Byte(u8),
    Any,
    Many,
    Set(Box<[bool; 256]>),
    Never,
}

impl GlobStep {
    fn matches(&self, byte: u8, fold: bool) -> bool {
        match self {
            GlobStep::Byte(expected) if fold => expected.eq_ignore_ascii_case(&byte),
            GlobStep::Byte(expected) => *expected == byte,
            GlobStep::Any => true,
            GlobStep::Set(set) => set.get(usize::from(byte)).copied().unwrap_or(false),
            GlobStep::Many | GlobStep::Never => false,
        }
    }
}

impl Glob {
    /// Compiles a pattern; `fold` ignores the case of ASCII letters.
    pub fn new(pattern: &[u8], fold: bool) -> Self {
        let plan = match steps(pattern, fold) {
            Some(steps) => simplify(steps, fold),
            None => GlobPlan::Odd(pattern.to_vec()),
        };
        Glob { plan, fold }
    }

    /// Whether the pattern matches the whole name.
    pub fn matches(&self, name: &[u8]) -> bool {
        match &self.plan {
            GlobPlan::Equal(text) => self.same(text, name),
            GlobPlan::Prefix(text) => name.get(..text.len()).is_some_and(|start| self.same(text, start)),
            GlobPlan::Suffix(text) => name
                .len()
                .checked_sub(text.len())
                .and_then(|at| name.get(at..))
                .is_some_and(|end| self.same(text, end)),
            GlobPlan::Contains(finder) => finder.find(name).is_some(),
            GlobPlan::Steps(steps) => run(steps, name, self.fold),
            GlobPlan::Odd(pattern) => run_odd(pattern, name, self.fold),
        }
    }

    /// What the pattern says about every name that it matches, where case counts.
    pub fn form(&self) -> Option<GlobForm<'_>> {
        match &self.plan {
            _ if self.fold => None,
            GlobPlan::Equal(text) => Some(GlobForm::Equal(text)),
            GlobPlan::Prefix(text) => Some(GlobForm::Prefix(text)),
            GlobPlan::Suffix(text) => Some(GlobForm::Suffix(text)),
            GlobPlan::Contains(finder) => Some(GlobForm::Contains(finder.needle())),
            GlobPlan::Steps(_) | GlobPlan::Odd(_) => None,
        }
    }

    fn same(&self, text: &[u8], name: &[u8]) -> bool {
        if self.fold { text.eq_ignore_ascii_case(name) } else { text == name }
    }
}

/// The steps of a pattern; none where a bracket ends at different places for different bytes.
fn steps(pattern: &[u8], fold: bool) -> Option<Vec<GlobStep>> {
    let mut steps = Vec::new();
    let mut position = 0;
    while let Some(&byte) = pattern.get(position) {
        position += 1;
        steps.push(match byte {
            b'*' if matches!(steps.last(), Some(GlobStep::Many)) => continue,
            b'*' => GlobStep::Many,
            b'?' => GlobStep::Any,
            b'\\' => {
                position += 1;
                pattern.get(position - 1).map_or(GlobStep::Never, |&byte| GlobStep::Byte(byte))
            }
            b'[' => {
                let (step, end) = bracket_step(pattern, position - 1, fold)?;
                position = end;
                step
            }
            _ => GlobStep::Byte(byte),
        });
    }
    Some(steps)
}

/// A bracket as one step, with the position after it; none where it has no single position.
fn bracket_step(pattern: &[u8], open: usize, fold: bool) -> Option<(GlobStep, usize)> {
    let mut set = Box::new([false; 256]);
    let mut end = None;
    for (byte, is_in) in (0..=u8::MAX).zip(set.iter_mut()) {
        let Some(position) = bracket_end(pattern, open, byte, fold) else { continue };
        if *end.get_or_insert(position) != position {
            return None;
        }
        *is_in = true;
    }
    Some(end.map_or((GlobStep::Never, pattern.len()), |end| (GlobStep::Set(set), end)))
}

/// The cheapest plan of the steps.
fn simplify(steps: Vec<GlobStep>, fold: bool) -> GlobPlan {
    let starts = matches!(steps.first(), Some(GlobStep::Many));
    let ends = steps.len() > 1 && matches!(steps.last(), Some(GlobStep::Many));
    let inner = steps.get(usize::from(starts)..steps.len() - usize::from(ends)).unwrap_or_default();
    let bytes = inner.iter().map(|step| if let GlobStep::Byte(byte) = step { Some(*byte) } else { None });
    let Some(text) = bytes.collect::<Option<Vec<u8>>>() else { return GlobPlan::Steps(steps) };
    match (starts, ends) {
        (false, false) => GlobPlan::Equal(text),
        (false, true) => GlobPlan::Prefix(text),
        (true, false) => GlobPlan::Suffix(text),
        (true, true) if fold => GlobPlan::Steps(steps),
        (true, true) => GlobPlan::Contains(Box::new(Finder::new(&text).into_owned())),
    }
}

/// Runs the steps; a mismatch returns to the last star and lets it take one byte more.
fn run(steps: &[GlobStep], name: &[u8], fold: bool) -> bool {
    let (mut step, mut position) = (0, 0);
    let mut retreat = None;
    loop {
        match (steps.get(step), name.get(position)) {
            (Some(GlobStep::Many), _) => {
                step += 1;
                retreat = Some((step, position));
                continue;
            }
            (None, None) => return true,
            (Some(_), None) => return false,
            (Some(expected), Some(&byte)) if expected.matches(byte, fold) => {
                step += 1;
                position += 1;
                continue;
            }
            _ => {}
        }
        let Some((after, taken)) = retreat else { return false };
        retreat = Some((after, taken + 1));
        (step, position) = (after, taken + 1);
    }
}

/// Keeps all positions of the pattern that the name can have reached. Only malformed patterns come here.
fn run_odd(pattern: &[u8], name: &[u8], fold: bool) -> bool {
    let mut reached = vec![0];
    pass_stars(pattern, &mut reached);
    for &byte in name {
        reached = reached.iter().filter_map(|&position| odd_step(pattern, position, byte, fold)).collect();
        pass_stars(pattern, &mut reached);
        reached.sort_unstable();
        reached.dedup();
    }
    reached.contains(&pattern.len())
}

/// The position after one byte of the name.
fn odd_step(pattern: &[u8], position: usize, byte: u8, fold: bool) -> Option<usize> {
    let same = |expected: u8| expected == byte || (fold && expected.eq_ignore_ascii_case(&byte));
    match pattern.get(position)? {
        b'*' => Some(position),
        b'?' => Some(position + 1),
        b'[' => bracket_end(pattern, position, byte, fold),
        b'\\' => pattern.get(position + 1).filter(|&&expected| same(expected)).map(|_| position + 2),
        &expected => same(expected).then_some(position + 1),
    }
}

/// A star that is reached may take nothing.
fn pass_stars(pattern: &[u8], reached: &mut Vec<usize>) {
    let mut next = 0;
    while let Some(&position) = reached.get(next) {
        if pattern.get(position) == Some(&b'*') {
            reached.push(position + 1);
        }
        next += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_patterns_are_compared_without_steps() {
        let cases: [(&[u8], Option<GlobForm>); 7] = [
            (b"abc", Some(GlobForm::Equal(b"abc"))),
            (b"*.h5", Some(GlobForm::Suffix(b".h5"))),
            (b"a\\*b**", Some(GlobForm::Prefix(b"a*b"))),
            (b"*mid*", Some(GlobForm::Contains(b"mid"))),
            (b"*", Some(GlobForm::Suffix(b""))),
            (b"a?b", None),
            (b"a*b", None),
        ];
        for (pattern, form) in cases {
            assert_eq!(Glob::new(pattern, false).form(), form, "{}", pattern.escape_ascii());
        }
        assert_eq!(Glob::new(b"*.h5", true).form(), None);
    }

    #[test]
    fn a_pattern_with_many_stars_takes_no_exponential_time() {
        let glob = Glob::new(&b"*a".repeat(50), false);
        assert!(!glob.matches(&b"a".repeat(49)));
        assert!(glob.matches(&b"ba".repeat(5_000)));
    }

    #[test]
    fn a_bracket_that_ends_at_different_places_is_read_for_each_byte() {
        let glob = Glob::new(b"[a[-[=b=]]::", false);
        assert!(matches!(glob.plan, GlobPlan::Odd(_)));
        let names = ["a::", "a]::", "b::", "[::", "[]::", "]::", "=]::", "=::", "b]::", "-::", "[=b=]]::"];
        let matching: Vec<&str> = names.into_iter().filter(|name| glob.matches(name.as_bytes())).collect();
        assert_eq!(matching, ["a::", "[]::", "=]::", "b]::"], "as fnmatch of the GNU C library 2.36");
        assert!(Glob::new(b"[ab", false).matches(b"[ab"));
        assert!(!Glob::new(b"[ab", false).matches(b"a"));
    }
}
