//! How text looks on a terminal: colours, links and the width of a line.

use std::borrow::Cow;
use std::ffi::OsStr;

use crate::args::{DisplayArgs, WhenArg};

/// The width of a terminal that does not say its width.
const USUAL_WIDTH: usize = 80;

/// Parts of the output that have their own colour.
#[derive(Clone, Copy, Debug)]
pub enum Shade {
    /// The key of a hit.
    Key,
    /// Ranks, scores, and names of values.
    Aside,
    /// A word that matches the query.
    Match,
    /// The head of a table.
    Head,
}

/// How to show text.
#[derive(Clone, Debug, Default)]
pub struct Look {
    color: bool,
    /// The name of this machine, if paths are links.
    links: Option<String>,
    /// The number of columns of the terminal; `None` if the output is not a terminal.
    width: Option<usize>,
}

impl Look {
    /// The look of standard output, as requested and as the environment has it.
    pub fn of(args: &DisplayArgs, is_terminal: bool) -> Self {
        let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        let able = is_terminal && set("TERM").is_none_or(|term| term != "dumb");
        let wanted = |when: WhenArg, auto: bool| match when {
            WhenArg::Auto => auto,
            WhenArg::Always => true,
            WhenArg::Never => false,
        };
        let color = wanted(args.color, able && set("NO_COLOR").is_none());
        let links = wanted(args.hyperlink, able).then(host);
        Look { color, links, width: is_terminal.then(|| width(set("COLUMNS").as_deref())) }
    }

    /// The number of columns of the terminal; `None` if the output is not a terminal.
    pub fn width(&self) -> Option<usize> {
        self.width
    }

    /// The sequences that begin and end a part; empty without colours.
    pub fn marks(&self, part: Shade) -> [&'static str; 2] {
        let begin = match part {
            _ if !self.color => return ["", ""],
            Shade::Key => "\x1b[1m",
            Shade::Aside => "\x1b[2m",
            Shade::Match => "\x1b[1;31m",
            Shade::Head => "\x1b[4m",
        };
        [begin, "\x1b[0m"]
    }

    /// Text in the colour of a part.
    pub fn paint<'t>(&self, part: Shade, text: &'t str) -> Cow<'t, str> {
        match self.marks(part) {
            ["", ""] => text.into(),
            [begin, end] => format!("{begin}{text}{end}").into(),
        }
    }

    /// Text as a link to a file, if links are wanted and the path is absolute.
    pub fn link<'t>(&self, path: &[u8], text: &'t str) -> Cow<'t, str> {
        match &self.links {
            Some(host) if path.starts_with(b"/") => {
                format!("\x1b]8;;file://{host}{}\x1b\\{text}\x1b]8;;\x1b\\", percent_encoded(path)).into()
            }
            _ => text.into(),
        }
    }
}

/// The number of columns: of the terminal, else of the environment.
fn width(environment: Option<&OsStr>) -> usize {
    let of_terminal = terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    let of_environment = || environment?.to_str()?.parse().ok();
    of_terminal.filter(|&width| width > 0).or_else(of_environment).unwrap_or(USUAL_WIDTH).max(20)
}

/// The number of lines of the terminal.
pub fn height() -> usize {
    terminal_size::terminal_size().map_or(24, |(_, height)| usize::from(height.0)).max(2)
}

/// The name of this machine, which links to its files contain.
fn host() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    percent_encoded(name.trim().as_bytes())
}

fn percent_encoded(path: &[u8]) -> String {
    let mut text = String::with_capacity(path.len());
    for &byte in path {
        if byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte) {
            text.push(char::from(byte));
        } else {
            text.push_str(&format!("%{byte:02X}"));
        }
    }
    text
}

/// The number of columns that a text takes on a terminal; wide characters take two.
pub fn columns(text: &str) -> usize {
    text.chars().map(columns_of).sum()
}

/// The longest beginning of a text that takes at most this number of columns.
pub fn beginning(text: &str, most: usize) -> &str {
    let mut taken = 0;
    let fits = |c: char| {
        taken += columns_of(c);
        taken <= most
    };
    let end = text.char_indices().zip(text.chars().map(fits)).find(|(_, fits)| !fits);
    end.map_or(text, |((at, _), _)| text.get(..at).unwrap_or(text))
}

/// Two for the scripts and symbols that terminals show wide, else one.
fn columns_of(c: char) -> usize {
    let wide = matches!(u32::from(c),
        0x1100..=0x115f | 0x2e80..=0xa4cf | 0xac00..=0xd7a3 | 0xf900..=0xfaff | 0xfe30..=0xfe6f
        | 0xff00..=0xff60 | 0xffe0..=0xffe6 | 0x1f300..=0x1faff | 0x2_0000..=0x3_fffd);
    1 + usize::from(wide)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_cut_by_the_columns_that_it_takes() {
        assert_eq!(columns("a日本é"), 6);
        for (most, begins) in
            [(0, ""), (1, "a"), (2, "a"), (3, "a日"), (5, "a日本"), (6, "a日本é"), (9, "a日本é")]
        {
            assert_eq!(beginning("a日本é", most), begins, "{most}");
        }
    }

    #[test]
    fn links_are_percent_encoded_and_only_to_absolute_paths() {
        let look = Look { links: Some("host".into()), ..Look::default() };
        assert_eq!(look.link(b"/a b\xff", "x"), "\x1b]8;;file://host/a%20b%FF\x1b\\x\x1b]8;;\x1b\\");
        assert_eq!(look.link(b"key", "x"), "x");
        assert_eq!(Look::default().link(b"/a", "x"), "x");
        assert_eq!(Look::default().paint(Shade::Key, "x"), "x");
    }
}
