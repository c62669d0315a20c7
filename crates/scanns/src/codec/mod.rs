//! Integers and strings to bytes and back: pure, total, without I/O.
//!
//! Decoders never trust their input: every read is bounds-checked and yields `None` where bytes are missing
//! or impossible, so that damage becomes a typed error in the room that knows the file. `varint.rs` holds
//! single integers, `bitpack.rs` blocks of them, `bits.rs` sets of them, `gather.rs` looks them up,
//! `packed/` and `numbers/` hold integers of a column, any of which can be read alone, `presence.rs` which
//! documents have them. `pick.rs` leaves the wanted ones, `norm.rs` holds the lengths of documents in one
//! byte, `postings` whole lists with the cursor that queries use, `positions` where in the documents the term
//! stands. `fsst` shortens strings that are read one by one, `strings` is a block of them.

#![cfg_attr(not(test), warn(clippy::indexing_slicing))]

mod bitpack;
mod bits;
mod fsst;
mod gather;
mod head;
mod norm;
mod numbers;
mod packed;
mod pick;
mod positions;
mod postings;
mod presence;
mod strings;
mod varint;

pub use bitpack::BLOCK;
pub use bits::{SLACK, count_ones, list, select};
pub use fsst::{Matcher, SAMPLE, SymbolTable, sample};
pub use gather::gather;
pub use head::head;
pub use norm::{length_to_norm, norm_to_length};
pub use numbers::{Chooser, Form, Head, Numbers, float_of, order_of, put_numbers};
pub use packed::{TAIL, place_in_packed};
pub use pick::{Picked, SLOTS, Slots, retain, slot_of};
pub use positions::{
    Columns, DeltaReader, Differences, Occurrence, OnlyPositions, PositionCursor, PositionEncoder,
    WithOffsets,
};
pub use postings::{
    Impact, ListBytes, ListCursor, ListEncoder, NO_MORE, PAIRS, PostingPlace, ShortList, WindowedList,
    code_to_tf,
};
pub use presence::{EVERY, MOST_DOCUMENTS, Presence, put_presence};
pub use strings::{BitWriter, EndsPlace, EndsWriter, StringBlock, bits_at, encode_block};
pub use varint::{ByteReader, put_varint, varint};
