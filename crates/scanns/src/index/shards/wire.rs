//! The encoding of messages between shards and those who ask them.
//!
//! ```text
//! message  = "scsh" | version u16 | checksum u64 | content
//! checksum := xxh3-64 of the content
//! content  := MessagePack of a structure of `message.rs`, with the names of its fields
//! ```
//!
//! Both sides must have the same version.

use serde::Serialize;
use serde::de::DeserializeOwned;
use xxhash_rust::xxh3::xxh3_64;

use crate::codec::ByteReader;
use crate::error::{Error, Result};

/// The version of the messages. It changes with every change of their content.
pub const MESSAGE_VERSION: u16 = 2;

const MAGIC: &[u8; 4] = b"scsh";

/// The name of messages in errors.
const NAME: &str = "a message between shards";

/// Encodes a message.
pub(super) fn encode<T: Serialize>(message: &T) -> Result<Vec<u8>> {
    let failed = |error: rmp_serde::encode::Error| Error::invalid("message", error, "one that can be sent");
    let content = rmp_serde::to_vec_named(message).map_err(failed)?;
    let mut bytes = Vec::with_capacity(content.len() + 14);
    bytes.extend_from_slice(MAGIC);
    bytes.extend_from_slice(&MESSAGE_VERSION.to_le_bytes());
    bytes.extend_from_slice(&xxh3_64(&content).to_le_bytes());
    bytes.extend_from_slice(&content);
    Ok(bytes)
}

/// Decodes a message.
///
/// # Errors
/// [`Error::Corrupt`] if the bytes are no message or were changed; [`Error::Conflict`] for another version.
pub(super) fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T> {
    let damaged = |what: &str| Error::corrupt(NAME, what);
    let mut reader = ByteReader::new(bytes);
    if reader.take(MAGIC.len()) != Some(MAGIC) {
        return Err(damaged("it does not begin like one"));
    }
    let version = reader.take(2).and_then(|bytes| Some(u16::from_le_bytes(bytes.try_into().ok()?)));
    let version = version.ok_or_else(|| damaged("it is cut short"))?;
    if version != MESSAGE_VERSION {
        return Err(Error::Conflict {
            what: format!("a message of version {version}"),
            with: format!("version {MESSAGE_VERSION} of this program"),
            remedy: "use the same version of scanns for all shards".into(),
        });
    }
    let sum = reader.u64().ok_or_else(|| damaged("it is cut short"))?;
    let content = reader.remaining();
    if xxh3_64(content) != sum {
        return Err(damaged("its checksum does not match"));
    }
    rmp_serde::from_slice(content).map_err(|error| damaged(&format!("its content is not valid: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_read_back_and_changed_ones_are_refused() {
        let message = (7u64, vec!["a".to_owned(), "b".to_owned()], -0.5f32);
        let bytes = encode(&message).unwrap();
        assert_eq!(decode::<(u64, Vec<String>, f32)>(&bytes).unwrap(), message);
        for at in 0..bytes.len() {
            assert!(decode::<(u64, Vec<String>, f32)>(&bytes[..at]).is_err(), "cut at {at}");
            let mut other = bytes.clone();
            other[at] ^= 1;
            assert!(decode::<(u64, Vec<String>, f32)>(&other).is_err(), "changed at {at}");
        }
        assert!(decode::<Vec<String>>(&bytes).is_err(), "another message");
        let mut newer = bytes;
        newer[4] += 1;
        let said = decode::<(u64, Vec<String>, f32)>(&newer).unwrap_err().to_string();
        let (theirs, own) = (MESSAGE_VERSION + 1, MESSAGE_VERSION);
        assert!(
            said.contains(&format!("version {theirs}")) && said.contains(&format!("version {own}")),
            "{said}"
        );
    }
}
