//! Reads the text of a pattern.

use crate::source::ignore::byte_set::BracketBytes;
use crate::source::ignore::glob::{GlobDamage, GlobMove};

const UNCLOSED: GlobDamage = "a '[' has no ']'";
const NO_CLASS: GlobDamage = "a class such as [:alpha:] has an unknown name";
const LONE_ESCAPE: GlobDamage = "a '\\' at the end escapes nothing";

/// The moves of a pattern for paths, or for names if `start` is `None`. In a pattern for paths, `**` is more
/// than `*` only after a slash or at `start`.
///
/// # Errors
/// The pattern is damaged, and git lets it match nothing.
pub(super) fn moves(pattern: &[u8], start: Option<usize>) -> Result<Vec<GlobMove>, GlobDamage> {
    let mut moves = Vec::with_capacity(pattern.len());
    let mut at = 0;
    while let Some(&byte) = pattern.get(at) {
        let step = match byte {
            b'*' => {
                let (step, end) = stars(pattern, at, start);
                at = end;
                // The same again matches no more.
                if moves.last() != Some(&step) {
                    moves.push(step);
                }
                continue;
            }
            b'?' => GlobMove::AnyByte,
            b'[' => {
                let (bytes, end) = bracket(pattern, at + 1)?;
                at = end;
                GlobMove::OneOf(bytes)
            }
            b'\\' => {
                at += 1;
                GlobMove::Byte(*pattern.get(at).ok_or(LONE_ESCAPE)?)
            }
            byte => GlobMove::Byte(byte),
        };
        moves.push(step);
        at += 1;
    }
    Ok(moves)
}

/// The number of bytes before the first that is special in patterns.
pub(super) fn plain_start(pattern: &[u8]) -> usize {
    pattern.iter().position(|byte| matches!(byte, b'*' | b'?' | b'[' | b'\\')).unwrap_or(pattern.len())
}

/// What the stars at a place mean, and the place behind them.
fn stars(pattern: &[u8], at: usize, start: Option<usize>) -> (GlobMove, usize) {
    let rest = pattern.get(at..).unwrap_or_default();
    let count = rest.iter().take_while(|&&byte| byte == b'*').count();
    let end = at + count;
    let follows_slash = start == Some(at) || at > 0 && pattern.get(at - 1) == Some(&b'/');
    if start.is_none() || count < 2 || !follows_slash {
        return (GlobMove::Name, end);
    }
    match rest.get(count..) {
        Some([b'/', ..]) => (GlobMove::Directories, end + 1),
        Some([] | [b'\\', b'/', ..]) => (GlobMove::Everything, end),
        _ => (GlobMove::Name, end),
    }
}

/// Reads a bracket expression from the byte behind its `[`; returns the place of its `]`.
fn bracket(pattern: &[u8], mut at: usize) -> Result<(BracketBytes, usize), GlobDamage> {
    let byte_at = |at: usize| pattern.get(at).copied().ok_or(UNCLOSED);
    let mut bytes = BracketBytes::default();
    let negated = matches!(byte_at(at)?, b'!' | b'^');
    at += usize::from(negated);
    let mut previous = None;
    // The next `]`, which is looked for again only behind it, so that the time is linear.
    let mut closing = 0;
    loop {
        let byte = byte_at(at)?;
        previous = match (byte, previous) {
            (b'\\', _) => {
                at += 1;
                bytes.add(byte_at(at)?);
                Some(byte_at(at)?)
            }
            (b'-', Some(first)) if byte_at(at + 1)? != b']' => {
                at += 1;
                at += usize::from(byte_at(at)? == b'\\');
                bytes.add_range(first..=byte_at(at)?);
                None
            }
            (b'[', _) if byte_at(at + 1)? == b':' => {
                let start = at + 2;
                if closing < start {
                    let rest = pattern.get(start..).unwrap_or_default();
                    closing = start + memchr::memchr(b']', rest).ok_or(UNCLOSED)?;
                }
                match pattern.get(start..closing).and_then(|inside| inside.strip_suffix(b":")) {
                    Some(name) if bytes.add_class(name) => {
                        at = closing;
                        None
                    }
                    Some(_) => return Err(NO_CLASS),
                    None => {
                        bytes.add(b'[');
                        Some(b'[')
                    }
                }
            }
            (byte, _) => {
                bytes.add(byte);
                Some(byte)
            }
        };
        at += 1;
        if byte_at(at)? == b']' {
            return Ok((bytes.within_names(negated), at));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damaged_patterns_say_what_is_wrong() {
        for (pattern, reason) in [
            ("a[b", UNCLOSED),
            ("a[", UNCLOSED),
            ("[!]", UNCLOSED),
            ("[a-", UNCLOSED),
            ("[[:alpha:", UNCLOSED),
            ("[\\]", UNCLOSED),
            ("[[:word:]]", NO_CLASS),
            ("[[::]]", NO_CLASS),
            ("a\\", LONE_ESCAPE),
        ] {
            assert_eq!(moves(pattern.as_bytes(), Some(0)), Err(reason), "{pattern}");
        }
    }

    #[test]
    fn two_stars_are_directories_only_after_a_slash_or_at_the_start() {
        use GlobMove::{Byte, Directories, Everything, Name};
        let of = |pattern: &str, start| moves(pattern.as_bytes(), start).unwrap();
        assert_eq!(of("**/", Some(0)), [Directories]);
        assert_eq!(of("a**/", Some(0)), [Byte(b'a'), Name, Byte(b'/')]);
        assert_eq!(of("a**/", Some(1)), [Byte(b'a'), Directories]);
        assert_eq!(of("**/***/**", Some(0)), [Directories, Everything]);
        assert_eq!(of("**\\/", Some(0)), [Everything, Byte(b'/')]);
        assert_eq!(of("**a", Some(0)), [Name, Byte(b'a')]);
        assert_eq!(of("**", None), [Name]);
    }

    #[test]
    fn mutated_patterns_are_read_to_their_end() {
        let seed = fastrand::u64(..);
        println!("seed {seed}");
        let mut random = fastrand::Rng::with_seed(seed);
        let parts: [&[u8]; 14] =
            [b"[", b"]", b"[:", b":]", b"alpha", b"-", b"!", b"\\", b"*", b"**/", b"?", b"a", b"/", b"\xff"];
        for _ in 0..100_000 {
            let count = random.usize(..12);
            let pattern = (0..count).flat_map(|_| parts[random.usize(..parts.len())]).copied();
            let pattern: Vec<u8> = pattern.collect();
            let start = random.bool().then(|| random.usize(..3));
            assert!(moves(&pattern, start).is_ok_and(|moves| moves.len() <= pattern.len()) || count > 0);
        }
        // Many starts of classes that are none, and one end: the end is looked for once.
        let long = b"[".iter().copied().chain(b"[:".repeat(1 << 20)).chain(*b"x]").collect::<Vec<_>>();
        assert!(moves(&long, Some(0)).is_ok());
    }
}
