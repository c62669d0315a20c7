//! The marks of wikitext that count at the start of a line: headings, lists, rules and tables.

use super::stripper::Stripper;
use memchr::{memchr, memrchr};

impl Stripper<'_> {
    /// Looks at the line once; a template or region may have ended in another line than it began.
    pub(super) fn look_at_line(&mut self) {
        if self.at <= self.lines.end && self.lines.end > 0 {
            return;
        }
        let rest = self.rest();
        let line = rest.get(..memchr(b'\n', rest).unwrap_or(rest.len())).unwrap_or(rest);
        let end = self.at + line.len();
        let last_close = memrchr(b']', line).map(|close| self.at + close);
        self.lines.end = end;
        self.lines.last_close = last_close;
    }

    /// Leaves out the marks at the start of a line.
    pub(super) fn begin_line(&mut self) {
        self.lines.heading_end = None;
        self.look_at_line();
        let indent = self.run_of(b" \t:");
        let marks = self.rest().get(indent..).unwrap_or_default();
        if marks.starts_with(b"{|") {
            self.lines.tables += 1;
            self.at = self.lines.end;
        } else if self.lines.tables > 0 && marks.first().is_some_and(|mark| matches!(mark, b'|' | b'!')) {
            self.at += indent;
            self.begin_table_line();
        } else if self.follows(b"=") {
            self.begin_heading();
        } else if self.follows(b"----") {
            self.at += self.run_of(b"-");
        } else {
            let marks = self.run_of(b"*#:;");
            self.at += marks;
            self.at += if marks > 0 { self.run_of(b" \t") } else { 0 };
        }
    }

    fn begin_table_line(&mut self) {
        if self.follows(b"|}") {
            self.lines.tables -= 1;
            self.at += 2;
        } else if self.follows(b"|-") {
            self.at = self.lines.end;
        } else {
            self.begin_cell(if self.follows(b"|+") { 2 } else { 1 });
        }
    }

    /// Leaves out the mark of a cell and its attributes, which end with a single `|`.
    pub(super) fn begin_cell(&mut self, mark: usize) {
        self.into.push(b' ');
        self.at += mark;
        let rest = self.rest();
        let end = rest.iter().position(|byte| b"\n|[{<!".contains(byte)).unwrap_or(rest.len());
        let is_attributes = rest.get(end) == Some(&b'|') && rest.get(end + 1) != Some(&b'|');
        self.at += if is_attributes { end + 1 } else { 0 };
        self.at += self.run_of(b" \t");
    }

    fn begin_heading(&mut self) {
        let line = self.text.get(self.at..self.lines.end).unwrap_or_default().trim_ascii_end();
        let level = self.run_of(b"=");
        let after = line.iter().rev().take_while(|byte| **byte == b'=').count();
        if after == 0 || level + after > line.len() {
            return;
        }
        self.lines.heading_end = Some(self.at + line.len() - after);
        self.at += level;
        self.at += self.run_of(b" \t");
    }
}
