//! Text with breaks between its pieces: words, cells, lines.
//!
//! Document formats mark where a paragraph or a cell ends, often several times at one place. A flow keeps the
//! strongest break and writes it when text follows, so the output has no empty lines and no blanks at the
//! ends.

use crate::output::Output;

/// What parts two pieces of text, from the weakest to the strongest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Break {
    /// The pieces are one word.
    None,
    /// A blank.
    Space,
    /// A tab: the next cell of a row.
    Tab,
    /// A line feed: the next paragraph or row.
    Line,
}

/// Writes pieces of text and the breaks between them.
pub(super) struct Flow<'o> {
    output: &'o mut Output,
    pending: Break,
    started: bool,
}

impl<'o> Flow<'o> {
    /// A flow that appends to `output`.
    pub(super) fn new(output: &'o mut Output) -> Self {
        Self { output, pending: Break::None, started: false }
    }

    /// Appends text as it is.
    pub(super) fn text(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        let between = match self.pending {
            Break::None => "",
            Break::Space => " ",
            Break::Tab => "\t",
            Break::Line => "\n",
        };
        self.pending = Break::None;
        self.started = true;
        self.output.text(between);
        self.output.text(text);
    }

    /// Appends text whose runs of whitespace each stand for one blank.
    pub(super) fn words(&mut self, text: &str) {
        let is_blank = |letter: char| letter.is_ascii_whitespace();
        for (at, word) in text.split(is_blank).enumerate() {
            if at > 0 {
                self.part(Break::Space);
            }
            self.text(word);
        }
    }

    /// Parts the text so far from the text to come.
    pub(super) fn part(&mut self, with: Break) {
        if self.started {
            self.pending = self.pending.max(with);
        }
    }

    /// Adds a field to the output.
    pub(super) fn field(&mut self, name: &'static str, value: &str) {
        self.output.field(name, value);
    }

    /// Whether more text would be cut.
    pub(super) fn is_full(&self) -> bool {
        self.output.is_full()
    }

    /// The bytes of text that still fit.
    pub(super) fn room(&self) -> usize {
        self.output.room()
    }
}

impl Drop for Flow<'_> {
    /// Ends the last line.
    fn drop(&mut self) {
        if self.started {
            self.output.text("\n");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_strongest_break_parts_two_pieces() {
        let mut output = Output::new(99, 0);
        let mut flow = Flow::new(&mut output);
        flow.part(Break::Line);
        flow.words("  a\n b ");
        flow.part(Break::Tab);
        flow.part(Break::Line);
        flow.part(Break::Space);
        flow.text("c");
        flow.part(Break::Tab);
        flow.text("d ");
        flow.part(Break::Line);
        drop(flow);
        assert_eq!(output.into_parts().0, "a b\nc\td \n");
    }
}
