//! Compression of blocks. The codec of a block is stored in its index entry, so blocks of one segment may
//! differ.

use lz4_flex::block::{CompressTable, compress_into_with_table, get_maximum_output_size};
use zstd::bulk::{Compressor, Decompressor};

use crate::codec::{LZ4_SLACK, Lz4Front};
use crate::error::{Error, Result};
use crate::schema::Compression;

/// Uncompressed.
pub(in crate::segment) const RAW: u32 = 0;
/// LZ4 block format, without a frame.
pub(in crate::segment) const LZ4: u32 = 1;
/// A Zstandard frame.
pub(in crate::segment) const ZSTD: u32 = 2;

/// Bytes of memory of a [`Packer`] for Zstandard at the highest level with small blocks.
pub(in crate::segment) const ZSTD_BYTES: usize = 8 << 20;

/// Compresses blocks; its memory is reused.
pub(in crate::segment) struct Packer {
    method: PackMethod,
    packed: Vec<u8>,
}

enum PackMethod {
    Raw,
    Lz4(CompressTable),
    Zstd(Compressor<'static>),
}

fn no_context(source: std::io::Error) -> Error {
    Error::System {
        action: "prepare compression",
        source,
        remedy: "make more memory available, or compress with LZ4",
    }
}

impl Packer {
    pub(in crate::segment) fn new(compression: Compression) -> Result<Self> {
        let method = match compression {
            Compression::None => PackMethod::Raw,
            Compression::Lz4 => PackMethod::Lz4(CompressTable::large()),
            Compression::Zstd(level) => PackMethod::Zstd(Compressor::new(level.into()).map_err(no_context)?),
        };
        Ok(Packer { method, packed: Vec::new() })
    }

    /// Compresses `raw`; returns the codec and the bytes, which are `raw` itself if compression does not make
    /// it shorter.
    pub(in crate::segment) fn pack<'a>(&'a mut self, raw: &'a [u8]) -> (u32, &'a [u8]) {
        let room = match &self.method {
            PackMethod::Raw => 0,
            PackMethod::Lz4(_) => get_maximum_output_size(raw.len()),
            PackMethod::Zstd(_) => zstd::zstd_safe::compress_bound(raw.len()),
        };
        if self.packed.len() < room {
            self.packed.resize(room, 0);
        }
        let (codec, len) = match &mut self.method {
            PackMethod::Raw => (RAW, None),
            PackMethod::Lz4(table) => (LZ4, compress_into_with_table(raw, &mut self.packed, table).ok()),
            PackMethod::Zstd(context) => (ZSTD, context.compress_to_buffer(raw, &mut self.packed[..]).ok()),
        };
        let packed = len.filter(|&len| len < raw.len()).and_then(|len| self.packed.get(..len));
        packed.map_or((RAW, raw), |packed| (codec, packed))
    }
}

/// Decompresses blocks.
#[derive(Default)]
pub(in crate::segment) struct Unpacker {
    raw: Vec<u8>,
    zstd: Option<Decompressor<'static>>,
}

impl Unpacker {
    /// Decompresses `packed` to `len` bytes; `None` if it is damaged or has another length.
    pub(in crate::segment) fn unpack<'a>(
        &'a mut self,
        codec: u32,
        packed: &'a [u8],
        len: usize,
    ) -> Option<&'a [u8]> {
        if codec == RAW {
            return Some(packed).filter(|packed| packed.len() == len);
        }
        if self.raw.len() < len + LZ4_SLACK {
            self.raw.resize(len + LZ4_SLACK, 0);
        }
        let target = self.raw.get_mut(..len + LZ4_SLACK)?;
        let found = match codec {
            LZ4 => {
                let mut front = Lz4Front::new(packed);
                front.until(usize::MAX, target)?;
                front.filled()
            }
            ZSTD => {
                if self.zstd.is_none() {
                    self.zstd = Decompressor::new().ok();
                }
                self.zstd.as_mut()?.decompress_to_buffer(packed, target.get_mut(..len)?).ok()?
            }
            _ => return None,
        };
        target.get(..len).filter(|_| found == len)
    }
}

/// A block that is decompressed from the front.
pub(in crate::segment) enum BlockFront<'p> {
    /// It is not compressed.
    Raw(&'p [u8]),
    /// LZ4, as far as it was needed.
    Lz4(Lz4Front<'p>, Vec<u8>),
    /// The whole block.
    Whole(Vec<u8>),
}

impl<'p> BlockFront<'p> {
    /// A block of `len` bytes; `None` if it is damaged or has another length.
    pub(in crate::segment) fn new(codec: u32, packed: &'p [u8], len: usize) -> Option<Self> {
        match codec {
            RAW => Some(BlockFront::Raw(packed)).filter(|_| packed.len() == len),
            LZ4 => Some(BlockFront::Lz4(Lz4Front::new(packed), vec![0; len + LZ4_SLACK])),
            _ => {
                let mut unpacker = Unpacker::default();
                unpacker.unpack(codec, packed, len).map(<[u8]>::to_vec).map(BlockFront::Whole)
            }
        }
    }

    /// The first bytes, at least `need` of them; `None` if the block is damaged.
    pub(in crate::segment) fn until(&mut self, need: usize) -> Option<&[u8]> {
        let found = match self {
            BlockFront::Raw(bytes) => bytes,
            BlockFront::Whole(bytes) => bytes.as_slice(),
            BlockFront::Lz4(front, out) => {
                front.until(need, out)?;
                out.get(..front.filled())?
            }
        };
        Some(found).filter(|found| found.len() >= need)
    }
}
