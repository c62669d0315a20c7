//! The members of an archive, which are shared out to all lanes of a reader, block by block.

use crate::content::TextForm;
use crate::read::block::{ArchivePart, Buffer, CARRY, Piece};
use crate::read::unpack::{AfterPart, ArchiveUnpacker, LongMember, PackedMember, UnpackedBatch};
use crate::read::wave::{Rules, Wave};
use crate::read::work::{ReadUnit, WorkList};

use std::sync::Arc;

/// An archive that is being read.
pub(super) struct ArchiveUnit {
    pub(super) unit: ReadUnit,
    unpacker: ArchiveUnpacker,
    /// The member that continues in the next block.
    long: Option<OpenMember>,
}

/// A member that is longer than a block.
struct OpenMember {
    wave: Wave,
    offset: u64,
}

impl ArchiveUnit {
    pub(super) fn new(unit: ReadUnit, unpacker: ArchiveUnpacker) -> Self {
        ArchiveUnit { unit, unpacker, long: None }
    }

    /// Fills a block, which may stay without pieces; true if nothing follows.
    pub(super) fn fill(&mut self, work: &WorkList, rules: &Rules, buffer: &mut Buffer) -> bool {
        match self.unpacker.next() {
            UnpackedBatch::Packed(bytes, members) => {
                if let Some(into) = buffer.memory.as_mut_slice().get_mut(..bytes.len()) {
                    into.copy_from_slice(&bytes);
                    buffer.pieces.extend(members.into_iter().map(|member| self.packed(member)));
                }
                false
            }
            UnpackedBatch::Long(member) => {
                self.take_long(member, rules, buffer);
                false
            }
            UnpackedBatch::End(members, failure) => {
                let part = Arc::new(ArchivePart { number: members, path: Vec::new(), member: None });
                let mut piece = self.packed(PackedMember { part, range: 0..0, form: TextForm::Text });
                piece.last = true;
                if let Some(error) = failure {
                    work.fail(self.unit.input, &error);
                    piece.failed = true;
                }
                buffer.pieces.push(piece);
                true
            }
        }
    }

    /// Adds a part of a long member to a block.
    fn take_long(&mut self, member: LongMember, rules: &Rules, buffer: &mut Buffer) {
        let LongMember { part, form, bytes, after } = member;
        let unit = ReadUnit::whole(self.unit.input);
        let mut open =
            self.long.take().unwrap_or_else(|| OpenMember { wave: Wave::decoded(unit, form), offset: 0 });
        let OpenMember { wave, offset } = &mut open;
        if let Some(into) = buffer.memory.as_mut_slice().get_mut(CARRY..CARRY + bytes.len()) {
            into.copy_from_slice(&bytes);
        }
        if after == AfterPart::Failed {
            wave.fail(rules, buffer, *offset);
        } else {
            wave.take(rules, buffer, *offset, bytes.len(), after == AfterPart::End);
        }
        for piece in &mut buffer.pieces {
            piece.part = Some(Arc::clone(&part));
            piece.last = false;
        }
        *offset += bytes.len() as u64;
        self.long = (after == AfterPart::More).then_some(open);
    }

    fn packed(&self, member: PackedMember) -> Piece {
        let PackedMember { part, range, form } = member;
        Piece {
            input: self.unit.input,
            start: range.start,
            end: range.end,
            offset: 0,
            opens: true,
            closes: true,
            mid_token: false,
            failed: false,
            decoded: true,
            last: false,
            first_line: None,
            from_cut: None,
            form,
            part: Some(part),
        }
    }
}
