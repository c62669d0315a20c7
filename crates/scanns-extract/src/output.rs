//! What the extractors write to: the text and the fields of a file, up to limits.

/// The most bytes of a field's value.
const MOST_VALUE: usize = 1_000;

/// Takes what is found in a file: its text and its fields, up to limits.
#[derive(Debug)]
pub struct Output {
    text: String,
    fields: Vec<(&'static str, String)>,
    most_text: usize,
    most_fields: usize,
    cut: bool,
    unread: bool,
}

impl Output {
    /// An empty output for `most_text` bytes of text and `most_fields` fields.
    pub fn new(most_text: usize, most_fields: usize) -> Self {
        Self { text: String::new(), fields: Vec::new(), most_text, most_fields, cut: false, unread: false }
    }

    /// Appends text. Text over the limit is cut at a character's end.
    pub fn text(&mut self, text: &str) {
        let kept = beginning(text, self.room());
        self.cut |= kept.len() < text.len();
        self.text.push_str(kept);
    }

    /// Appends text and a line feed.
    pub fn line(&mut self, text: &str) {
        self.text(text);
        self.text("\n");
    }

    /// Adds a field. Runs of whitespace and control characters become one space; an empty value is dropped.
    pub fn field(&mut self, name: &'static str, value: &str) {
        let value = one_line(value);
        if !value.is_empty() && self.fields.len() < self.most_fields {
            self.fields.push((name, value));
        }
    }

    /// Notes that not all of the file was read. Text can still be appended.
    pub fn note_unread(&mut self) {
        self.unread = true;
    }

    /// Whether the limit of the text is reached, so that reading on is useless.
    pub fn is_full(&self) -> bool {
        self.cut || self.room() == 0
    }

    /// The bytes of text that still fit.
    pub fn room(&self) -> usize {
        self.most_text.saturating_sub(self.text.len())
    }

    /// The text, the fields, and whether text is missing.
    pub fn into_parts(self) -> (String, Vec<(&'static str, String)>, bool) {
        (self.text, self.fields, self.cut || self.unread)
    }
}

/// The longest beginning of `text` of at most `most` bytes that ends at a character's end.
fn beginning(text: &str, most: usize) -> &str {
    let end = (0..=most.min(text.len())).rev().find(|&end| text.is_char_boundary(end)).unwrap_or(0);
    text.get(..end).unwrap_or_default()
}

/// `value` on one line and without a long tail.
fn one_line(value: &str) -> String {
    let mut line = String::new();
    for word in value.split(|letter: char| letter.is_whitespace() || letter.is_control()) {
        if word.is_empty() {
            continue;
        }
        if line.len() >= MOST_VALUE {
            break;
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(beginning(word, MOST_VALUE - line.len().min(MOST_VALUE)));
    }
    line.truncate(line.trim_end().len());
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_cut_at_the_end_of_a_character() {
        let mut output = Output::new(4, 9);
        output.text("añ");
        assert!(!output.is_full());
        output.text("é");
        assert!(output.is_full());
        assert_eq!(output.into_parts(), ("añ".to_owned(), Vec::new(), true));
    }

    #[test]
    fn text_that_fills_the_limit_exactly_is_not_cut() {
        let mut output = Output::new(4, 9);
        output.line("abc");
        assert!(output.is_full());
        assert_eq!(output.into_parts(), ("abc\n".to_owned(), Vec::new(), false));
    }

    #[test]
    fn a_field_is_one_line_of_at_most_a_thousand_bytes() {
        let mut output = Output::new(9, 2);
        output.field("title", " a\r\n\u{0}\tb ");
        output.field("author", "\n");
        output.field("subject", &"é ".repeat(900));
        output.field("keywords", "dropped");
        let (_, fields, _) = output.into_parts();
        assert_eq!(fields.len(), 2);
        assert_eq!(fields[0], ("title", "a b".to_owned()));
        assert!(fields[1].1.len() <= MOST_VALUE && fields[1].1.len() > 990);
    }
}
