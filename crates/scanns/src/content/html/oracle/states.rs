//! The steps of the slow tokenizer, one function for each group of states.

use super::{OracleRun, S, blank};

impl OracleRun<'_> {
    /// One step of the tokenizer. False if the byte is to be read again.
    pub(super) fn step(&mut self, byte: u8) -> bool {
        if byte == b'<' {
            self.skip_feed = false;
        }
        match self.state {
            S::Data | S::Rcdata | S::Rawtext | S::Script if byte == b'<' => {
                self.state = match self.state {
                    S::Data => S::TagOpen,
                    S::Script => S::ScriptLess,
                    _ => S::RawLess,
                };
                self.name.clear();
            }
            S::Data | S::Rcdata | S::Rawtext | S::Plaintext => self.emit_raw(byte),
            S::Script => {}
            S::TagOpen | S::EndTagOpen | S::TagName | S::SelfClosing => return self.step_tag(byte),
            S::RawLess | S::RawEndOpen | S::RawEndName => return self.step_raw(byte),
            S::ScriptLess | S::ScriptEscapeStart | S::ScriptEscapeStartDash => return self.step_script(byte),
            S::Escaped | S::EscapedDash | S::EscapedDashDash | S::EscapedLess | S::DoubleEscapeStart => {
                return self.step_escaped(byte);
            }
            S::DoubleEscaped
            | S::DoubleEscapedDash
            | S::DoubleEscapedDashDash
            | S::DoubleEscapedLess
            | S::DoubleEscapeEnd => return self.step_double_escaped(byte),
            S::BeforeAttributeName
            | S::AttributeName
            | S::AfterAttributeName
            | S::BeforeValue
            | S::QuotedValue(_)
            | S::UnquotedValue
            | S::AfterQuotedValue => return self.step_attribute(byte),
            _ => return self.step_comment(byte),
        }
        true
    }

    fn go(&mut self, state: S) -> bool {
        self.state = state;
        true
    }

    fn again(&mut self, state: S) -> bool {
        self.state = state;
        false
    }

    fn start_tag(&mut self, is_end: bool) -> bool {
        self.is_end = is_end;
        self.name.clear();
        self.attributes.clear();
        self.self_closing = false;
        self.again(S::TagName)
    }

    fn step_tag(&mut self, byte: u8) -> bool {
        match (self.state, byte) {
            (S::TagOpen, b'!') => self.go(S::MarkupDeclaration),
            (S::TagOpen, b'/') => self.go(S::EndTagOpen),
            (S::TagOpen, b'?') => self.again(S::BogusComment),
            (S::TagOpen | S::EndTagOpen, _) if byte.is_ascii_alphabetic() => {
                self.start_tag(self.state == S::EndTagOpen)
            }
            (S::TagOpen, _) => {
                self.emit(b'<', true);
                self.again(S::Data)
            }
            (S::EndTagOpen, b'>') => self.go(S::Data),
            (S::EndTagOpen, _) => self.again(S::BogusComment),
            (S::TagName, _) if blank(byte) => self.go(S::BeforeAttributeName),
            (S::TagName, b'/') => self.go(S::SelfClosing),
            (S::TagName, b'>') => self.finish_tag(),
            (S::TagName, _) => {
                self.name.push(byte.to_ascii_lowercase());
                true
            }
            (_, b'>') => {
                self.self_closing = true;
                self.finish_tag()
            }
            _ => self.again(S::BeforeAttributeName),
        }
    }

    fn step_raw(&mut self, byte: u8) -> bool {
        match (self.state, byte) {
            (S::RawLess, b'/') => return self.go(S::RawEndOpen),
            (S::RawEndOpen, _) if byte.is_ascii_alphabetic() => return self.again(S::RawEndName),
            (S::RawEndName, _) if byte.is_ascii_alphabetic() => {
                self.name.push(byte);
                return true;
            }
            (S::RawEndName, _)
                if (blank(byte) || byte == b'/' || byte == b'>')
                    && self.name.eq_ignore_ascii_case(&self.raw_name) =>
            {
                self.at -= self.name.len();
                return self.start_tag(true);
            }
            _ => {}
        }
        let text = [if self.state == S::RawLess { "<" } else { "</" }.as_bytes(), &self.name].concat();
        text.iter().for_each(|&byte| self.emit(byte, true));
        self.again(self.raw)
    }

    fn step_script(&mut self, byte: u8) -> bool {
        match (self.state, byte) {
            (S::ScriptLess, b'/') => {
                self.raw = S::Script;
                self.go(S::RawEndOpen)
            }
            (S::ScriptLess, b'!') => self.go(S::ScriptEscapeStart),
            (S::ScriptEscapeStart, b'-') => self.go(S::ScriptEscapeStartDash),
            (S::ScriptEscapeStartDash, b'-') => self.go(S::EscapedDashDash),
            _ => self.again(S::Script),
        }
    }

    fn step_escaped(&mut self, byte: u8) -> bool {
        match (self.state, byte) {
            (S::EscapedLess, b'/') => {
                self.raw = S::Escaped;
                self.name.clear();
                self.go(S::RawEndOpen)
            }
            (S::EscapedLess, _) if byte.is_ascii_alphabetic() => {
                self.word.clear();
                self.again(S::DoubleEscapeStart)
            }
            (S::EscapedLess, _) => self.again(S::Escaped),
            (S::DoubleEscapeStart, _) if blank(byte) || byte == b'/' || byte == b'>' => {
                self.go(if self.word == b"script" { S::DoubleEscaped } else { S::Escaped })
            }
            (S::DoubleEscapeStart, _) if byte.is_ascii_alphabetic() => {
                self.word.push(byte.to_ascii_lowercase());
                true
            }
            (S::DoubleEscapeStart, _) => self.again(S::Escaped),
            (S::EscapedDashDash, b'>') => self.go(S::Script),
            (S::Escaped, b'-') => self.go(S::EscapedDash),
            (_, b'-') => self.go(S::EscapedDashDash),
            (_, b'<') => self.go(S::EscapedLess),
            _ => self.go(S::Escaped),
        }
    }

    fn step_double_escaped(&mut self, byte: u8) -> bool {
        match (self.state, byte) {
            (S::DoubleEscapedLess, b'/') => {
                self.word.clear();
                self.go(S::DoubleEscapeEnd)
            }
            (S::DoubleEscapedLess, _) => self.again(S::DoubleEscaped),
            (S::DoubleEscapeEnd, _) if blank(byte) || byte == b'/' || byte == b'>' => {
                self.go(if self.word == b"script" { S::Escaped } else { S::DoubleEscaped })
            }
            (S::DoubleEscapeEnd, _) if byte.is_ascii_alphabetic() => {
                self.word.push(byte.to_ascii_lowercase());
                true
            }
            (S::DoubleEscapeEnd, _) => self.again(S::DoubleEscaped),
            (S::DoubleEscapedDashDash, b'>') => self.go(S::Script),
            (S::DoubleEscaped, b'-') => self.go(S::DoubleEscapedDash),
            (_, b'-') => self.go(S::DoubleEscapedDashDash),
            (_, b'<') => self.go(S::DoubleEscapedLess),
            _ => self.go(S::DoubleEscaped),
        }
    }

    fn step_attribute(&mut self, byte: u8) -> bool {
        let in_value = matches!(self.state, S::QuotedValue(_) | S::UnquotedValue);
        match (self.state, byte) {
            (S::QuotedValue(quote), _) if byte == quote => self.go(S::AfterQuotedValue),
            (S::UnquotedValue, _) if blank(byte) => self.go(S::BeforeAttributeName),
            (S::UnquotedValue, b'>') => self.finish_tag(),
            _ if in_value => {
                self.attributes.last_mut().unwrap().1.push(byte);
                true
            }
            (S::BeforeValue, b'"' | b'\'') => self.go(S::QuotedValue(byte)),
            (S::BeforeValue, b'>') => self.finish_tag(),
            (S::BeforeValue, _) if !blank(byte) => self.again(S::UnquotedValue),
            (S::AfterQuotedValue, b'/') => self.go(S::SelfClosing),
            (S::AfterQuotedValue, b'>') => self.finish_tag(),
            (S::AfterQuotedValue, _) => self.again(S::BeforeAttributeName),
            (S::AttributeName, b'=') => self.go(S::BeforeValue),
            (S::AttributeName, _) if blank(byte) || byte == b'/' || byte == b'>' => {
                self.again(S::AfterAttributeName)
            }
            (S::AttributeName, _) => {
                self.attributes.last_mut().unwrap().0.push(byte.to_ascii_lowercase());
                true
            }
            (S::BeforeAttributeName, b'/' | b'>') => self.again(S::AfterAttributeName),
            (S::AfterAttributeName, b'/') => self.go(S::SelfClosing),
            (S::AfterAttributeName, b'=') => self.go(S::BeforeValue),
            (S::AfterAttributeName, b'>') => self.finish_tag(),
            _ if blank(byte) => true,
            (S::BeforeAttributeName, b'=') => {
                self.attributes.push((vec![b'='], Vec::new()));
                self.go(S::AttributeName)
            }
            _ => {
                self.attributes.push((Vec::new(), Vec::new()));
                self.again(S::AttributeName)
            }
        }
    }

    fn step_comment(&mut self, byte: u8) -> bool {
        let rest = &self.html[self.at..];
        match (self.state, byte) {
            (S::MarkupDeclaration, _) if rest.starts_with(b"--") => {
                self.at += 1;
                self.go(S::CommentStart)
            }
            (S::MarkupDeclaration, _) if self.foreign > 0 && rest.starts_with(b"[CDATA[") => {
                self.at += 6;
                self.go(S::Cdata)
            }
            (S::MarkupDeclaration, _) => self.again(S::BogusComment),
            (S::Cdata, _) if rest.starts_with(b"]]>") => {
                self.at += 2;
                self.go(S::Data)
            }
            (S::Cdata, _) => {
                self.emit(byte, true);
                true
            }
            (S::BogusComment | S::CommentStart | S::CommentStartDash, b'>') => self.go(S::Data),
            (S::CommentEnd | S::CommentEndBang, b'>') => self.go(S::Data),
            (S::BogusComment, _) => true,
            (S::CommentStart, b'-') => self.go(S::CommentStartDash),
            (S::CommentStartDash | S::CommentEndDash | S::CommentEnd, b'-') => self.go(S::CommentEnd),
            (S::Comment | S::CommentEndBang, b'-') => self.go(S::CommentEndDash),
            (S::CommentEnd, b'!') => self.go(S::CommentEndBang),
            _ => self.go(S::Comment),
        }
    }
}
