//! What the readers of SGML and of web pages share.

use crate::content::html::HtmlPage;
use crate::record::corpus::latin1::push_text;
use crate::record::deviations::Deviations;
use crate::record::made_record::MadeRecord;

pub(super) const DOCNO: u32 = 0;
pub(super) const HEADLINE: u32 = 1;
pub(super) const DATE: u32 = 2;
pub(super) const TEXT: u32 = 3;
pub(super) const URL: u32 = 4;
pub(super) const STATUS: u32 = 5;
pub(super) const MIME: u32 = 6;

/// The deviation of a text that is not UTF-8.
pub(super) const LATIN1: &str = "text is not UTF-8: read as Latin-1";

/// Reads the documents of a TREC file.
#[derive(Clone, Debug, Default)]
pub struct TrecReader {
    pub(super) page: HtmlPage,
    pub(super) deviations: Deviations,
}

impl TrecReader {
    /// Puts a value that is not part of the text: a name or a line of a header.
    pub(super) fn put_value(&mut self, name: u32, value: &[u8], into: &mut MadeRecord) {
        let is_latin1 = std::str::from_utf8(value).is_err();
        if is_latin1 {
            self.deviations.add(LATIN1);
        }
        into.make(name, |bytes| push_text(value, is_latin1, bytes));
    }
}

/// A document without its `<DOC>` and `</DOC>`.
#[derive(Clone, Copy)]
pub(super) struct Body<'a> {
    pub(super) bytes: &'a [u8],
    /// The place after DOCNO.
    pub(super) start: usize,
    pub(super) is_latin1: bool,
}
