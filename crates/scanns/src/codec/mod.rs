//! Encodes integers and strings to bytes and decodes them, without I/O.
//!
//! Decoders never trust their input: every read is bounds-checked and returns `None` if bytes are missing or
//! invalid. The module that knows the file turns this into a typed error. `varint.rs` encodes single
//! integers, `bitpack.rs` blocks of integers, `bits.rs` sets of integers. `flags.rs` turns bytes into bits,
//! `ranks.rs` counts the bits before others, and `drain.rs` reads sums out. `prefix.rs` compares strings.
//! `packed/` and `numbers/` encode the integers of a column so that each can be read alone, and
//! `presence.rs` encodes which documents have values. `pick.rs` filters postings, `to_front.rs` moves the
//! chosen ones of four, `norm.rs` encodes the length of a document in one byte. `postings` encodes the list
//! of a term and has the cursor that queries use, `positions` encodes the positions of the term in its
//! documents. `fsst` compresses strings that are read one by one, `strings` encodes blocks of strings.

#![cfg_attr(not(test), warn(clippy::indexing_slicing))]

mod bitpack;
mod bits;
mod drain;
mod flags;
mod fsst;
mod head;
mod lz4;
mod norm;
mod numbers;
mod packed;
mod pick;
mod positions;
mod postings;
mod prefix;
mod presence;
mod ranks;
mod strings;
#[cfg(all(target_arch = "x86_64", not(miri)))]
mod to_front;
mod varint;
mod within;

pub use bitpack::BLOCK;
pub use bits::{SLACK, count_ones, list, set_range};
pub use drain::{CHUNK, Drained, UNTOUCHED};
pub use fsst::{Matcher, SAMPLE, SymbolTable, sample};
pub use head::head;
pub use lz4::{LZ4_SLACK, Lz4Front};
pub use norm::{length_to_norm, norm_to_length};
pub use numbers::{Chooser, Form, Head, Numbers, first_after, float_of, order_of, put_numbers};
pub use packed::{TAIL, place_in_packed};
pub use pick::{Picked, SLOTS, Slots, retain, slot_of};
pub use positions::{
    Columns, DeltaReader, Differences, Occurrence, OnlyPositions, PositionCursor, PositionEncoder,
    WithOffsets,
};
pub use postings::{
    Impact, ListBytes, ListCursor, ListEncoder, NO_MORE, PAIRS, PostingPlace, ShortList, WindowedList,
    code_to_tf, count_below,
};
pub(crate) use prefix::common_prefix;
pub use presence::{EVERY, MOST_DOCUMENTS, Presence, put_presence};
pub use strings::{
    BitWriter, EndsPlace, EndsWriter, OpenedStrings, StringBatch, StringBlock, StringEncoder, bits_at,
};
pub use varint::{ByteReader, put_varint, varint};
pub use within::within;
