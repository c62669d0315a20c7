//! Integers and strings to bytes and back: pure, total, without I/O.
//!
//! Decoders never trust their input: every read is bounds-checked and yields `None` where bytes are missing or
//! impossible, so that damage becomes a typed error in the room that knows the file. `varint.rs` holds single
//! integers, `bitpack.rs` blocks of them, `postings.rs` whole lists with the cursor that queries use.

mod varint;

pub use varint::{ByteReader, put_varint, varint_len};
