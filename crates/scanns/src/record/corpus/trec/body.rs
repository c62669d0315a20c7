//! What the readers of SGML and of web pages share.

use crate::content::html::HtmlPage;
use crate::record::deviations::Deviations;

pub(super) const DOCNO: u32 = 0;
pub(super) const HEADLINE: u32 = 1;
pub(super) const DATE: u32 = 2;
pub(super) const TEXT: u32 = 3;
pub(super) const URL: u32 = 4;
pub(super) const STATUS: u32 = 5;
pub(super) const MIME: u32 = 6;

/// Reads the documents of a TREC file.
#[derive(Clone, Debug, Default)]
pub struct TrecReader {
    pub(super) page: HtmlPage,
    pub(super) deviations: Deviations,
}

/// A document without its `<DOC>` and `</DOC>`.
#[derive(Clone, Copy)]
pub(super) struct Body<'a> {
    pub(super) bytes: &'a [u8],
    /// The place after DOCNO.
    pub(super) start: usize,
    pub(super) is_latin1: bool,
}
