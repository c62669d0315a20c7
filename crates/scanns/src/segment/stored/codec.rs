//! Compression of blocks: which codec a block has is told beside it, so those of one segment may differ.

use lz4_flex::block::{CompressTable, compress_into_with_table, decompress_into, get_maximum_output_size};
use zstd::bulk::{Compressor, Decompressor};

use crate::error::{Error, Result};
use crate::schema::Compression;

/// Bytes as they are.
pub(super) const RAW: u32 = 0;
/// A block in the format of LZ4, without a frame.
pub(super) const LZ4: u32 = 1;
/// A frame of Zstandard.
pub(super) const ZSTD: u32 = 2;

/// Memory of a [`Packer`] for Zstandard at the highest level with small blocks, in bytes.
pub(super) const ZSTD_BYTES: usize = 8 << 20;

/// Compresses blocks, with memory that is reused.
pub(super) struct Packer {
    kind: Kind,
    packed: Vec<u8>,
}

enum Kind {
    Raw,
    Lz4(CompressTable),
    Zstd(Compressor<'static>),
}

fn no_context(source: std::io::Error) -> Error {
    Error::System {
        action: "prepare compression",
        source,
        remedy: "give more memory, or use --compression lz4",
    }
}

impl Packer {
    pub(super) fn new(compression: Compression) -> Result<Self> {
        let kind = match compression {
            Compression::None => Kind::Raw,
            Compression::Lz4 => Kind::Lz4(CompressTable::large()),
            Compression::Zstd(level) => Kind::Zstd(Compressor::new(level.into()).map_err(no_context)?),
        };
        Ok(Packer { kind, packed: Vec::new() })
    }

    /// Compresses `raw`; returns the codec and the bytes, which are `raw` itself where it does not get shorter.
    pub(super) fn pack<'a>(&'a mut self, raw: &'a [u8]) -> (u32, &'a [u8]) {
        let room = match &self.kind {
            Kind::Raw => 0,
            Kind::Lz4(_) => get_maximum_output_size(raw.len()),
            Kind::Zstd(_) => zstd::zstd_safe::compress_bound(raw.len()),
        };
        if self.packed.len() < room {
            self.packed.resize(room, 0);
        }
        let (codec, len) = match &mut self.kind {
            Kind::Raw => (RAW, None),
            Kind::Lz4(table) => (LZ4, compress_into_with_table(raw, &mut self.packed, table).ok()),
            Kind::Zstd(context) => (ZSTD, context.compress_to_buffer(raw, &mut self.packed[..]).ok()),
        };
        let packed = len.filter(|&len| len < raw.len()).and_then(|len| self.packed.get(..len));
        packed.map_or((RAW, raw), |packed| (codec, packed))
    }
}

/// Decompresses blocks.
#[derive(Default)]
pub(super) struct Unpacker {
    raw: Vec<u8>,
    zstd: Option<Decompressor<'static>>,
}

impl Unpacker {
    /// The `len` bytes that `packed` stands for; `None` if it does not.
    pub(super) fn unpack<'a>(&'a mut self, codec: u32, packed: &'a [u8], len: usize) -> Option<&'a [u8]> {
        if codec == RAW {
            return Some(packed).filter(|packed| packed.len() == len);
        }
        if self.raw.len() < len {
            self.raw.resize(len, 0);
        }
        let target = self.raw.get_mut(..len)?;
        let found = match codec {
            LZ4 => decompress_into(packed, target).ok()?,
            ZSTD => {
                if self.zstd.is_none() {
                    self.zstd = Decompressor::new().ok();
                }
                self.zstd.as_mut()?.decompress_to_buffer(packed, target).ok()?
            }
            _ => return None,
        };
        Some(target).filter(|_| found == len).map(|target| &*target)
    }
}
