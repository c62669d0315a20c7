//! Packs small files into one block, one piece per file.

use std::io;

use crate::content::{Content, DecodedText, HEAD, TextForm, examine};
use crate::read::block::{Buffer, Piece};
use crate::read::lines::LineNumber;
use crate::read::options::ReadOptions;
use crate::read::wave::Rules;
use crate::read::work::{ReadUnit, WorkList};
use crate::schema::Records;
use crate::sys::ReadFile;

/// A block that is being filled.
pub(super) struct Pack {
    pub(super) buffer: Buffer,
    pub(super) filled: usize,
    /// Holds the decoded text of a file; its memory is used for all files.
    pub(super) scratch: Vec<u8>,
}

/// What became of a small file.
pub(super) struct PackedFile {
    /// True if the file was in the page cache.
    pub(super) warm: bool,
    /// The unit, if the block has no room for its decoded text, or if it is an archive or a table.
    pub(super) is_large: Option<ReadUnit>,
}

impl Pack {
    /// A file without a size may have content, and gets all the room.
    pub(super) fn has_room_for(&self, file: &ReadFile) -> bool {
        file.size().max(1) <= (self.buffer.memory.capacity() - self.filled) as u64
    }

    /// Reads a whole file, for which there must be room. An empty file becomes a piece only if it is a
    /// document.
    pub(super) fn add(
        &mut self,
        work: &WorkList,
        rules: &Rules,
        options: &ReadOptions,
        mut unit: ReadUnit,
        file: &ReadFile,
    ) -> PackedFile {
        let room = self.buffer.memory.capacity() - self.filled;
        let has_size = file.size() > 0;
        let size = if has_size { usize::try_from(file.size()).unwrap_or(usize::MAX) } else { room };
        let into = &mut self.buffer.memory.as_mut_slice()[self.filled..self.filled.saturating_add(size)];
        let cached = file.read_cached(into, 0);
        let warm = !has_size || cached.is_none_or(|cached| cached == into.len());
        let got = match cached {
            // An empty file costs no second read.
            Some(0) if !has_size => Ok(0),
            cached => file.read_rest(into, 0, cached.unwrap_or(0)),
        };
        match got {
            Err(error) => self.fail(work, unit.input, &error),
            Ok(got) if !has_size && got == room => return PackedFile { warm, is_large: Some(unit) },
            Ok(0) if rules.records.ends_with_lines() => {}
            Ok(got) => {
                if !self.take(work, rules, options, unit.input, got) {
                    return PackedFile { warm, is_large: Some(unit) };
                }
                work.count_consumed(got as u64);
            }
        }
        if options.drop_behind {
            file.drop_cached(0, 0);
        }
        work.finish(&mut unit);
        PackedFile { warm, is_large: None }
    }

    /// Adds a file whose `got` bytes were read to the end of the block, decoded if need be. False if the
    /// decoded text has no room, or if the file is an archive or a table.
    fn take(
        &mut self,
        work: &WorkList,
        rules: &Rules,
        options: &ReadOptions,
        input: u32,
        got: usize,
    ) -> bool {
        let room = self.buffer.memory.capacity() - self.filled;
        let bytes = &self.buffer.memory.as_mut_slice()[self.filled..self.filled + got];
        let first_line = rules.records.ends_with_lines().then(|| LineNumber::after(0));
        match text_of(bytes, &mut self.scratch, room, options) {
            Ok(SmallText::Plain(form)) => {
                if let Some(name) = form.name() {
                    work.count_decoded(input, name);
                }
                self.push(input, got, first_line, form);
                work.count_bytes(got);
            }
            Ok(SmallText::Decoded { len, encoding, form }) => {
                work.count_decoded(input, &encoding);
                work.count_bytes(len);
                let into = &mut self.buffer.memory.as_mut_slice()[self.filled..self.filled + len];
                into.copy_from_slice(&self.scratch[..len]);
                self.push(input, len, first_line, form);
                if let Some(piece) = self.buffer.pieces.last_mut() {
                    (piece.decoded, piece.last) = (true, true);
                }
            }
            Ok(SmallText::Binary(kind)) => {
                work.count_binary(input, kind);
                self.leave_out(rules, input);
            }
            Ok(SmallText::Large) => return false,
            Err(error) => self.fail(work, input, &error),
        }
        true
    }

    /// Adds a piece without text, if files are documents.
    pub(super) fn leave_out(&mut self, rules: &Rules, input: u32) {
        if rules.records == Records::File {
            self.push(input, 0, None, TextForm::Text);
        }
    }

    /// Adds a piece that reports that a file could not be read.
    pub(super) fn fail(&mut self, work: &WorkList, input: u32, error: &io::Error) {
        work.fail(input, error);
        self.push(input, 0, None, TextForm::Text);
        if let Some(piece) = self.buffer.pieces.last_mut() {
            piece.failed = true;
        }
    }

    fn push(&mut self, input: u32, len: usize, first_line: Option<LineNumber>, form: TextForm) {
        let (start, end) = (self.filled, self.filled + len);
        self.filled = end;
        self.buffer.pieces.push(Piece {
            input,
            start,
            end,
            offset: 0,
            opens: true,
            closes: true,
            mid_token: false,
            failed: false,
            decoded: false,
            last: false,
            first_line,
            from_cut: None,
            form,
            part: None,
        });
    }
}

/// The text of a small file.
enum SmallText {
    /// The bytes of the file.
    Plain(TextForm),
    /// In the scratch memory.
    Decoded { len: usize, encoding: String, form: TextForm },
    /// None, because the file is binary; its kind.
    Binary(&'static str),
    /// Longer than there is room, the texts of the members of an archive, or the rows of a table.
    Large,
}

/// Finds the text of a file with these bytes, and decodes at most `room` bytes of it into `scratch`.
fn text_of(bytes: &[u8], scratch: &mut Vec<u8>, room: usize, options: &ReadOptions) -> io::Result<SmallText> {
    let head = &bytes[..bytes.len().min(HEAD)];
    if options.tables.format_of(head).is_some() {
        return Ok(SmallText::Large);
    }
    let mut text = match examine(head, bytes.len() as u64, || Box::new(bytes), options.contents)? {
        Content::Plain(form) => return Ok(SmallText::Plain(form)),
        Content::Binary(kind) => return Ok(SmallText::Binary(kind)),
        Content::Members(_) => return Ok(SmallText::Large),
        Content::Decoded(text) => text,
    };
    options.tables.refuse(text.table, "compressed")?;
    if scratch.len() <= room {
        scratch.resize(room + 1, 0);
    }
    let len = text.fill(&mut scratch[..=room])?;
    let DecodedText { encoding, form, .. } = text;
    Ok(if len > room { SmallText::Large } else { SmallText::Decoded { len, encoding, form } })
}
