//! The messages between the engine and a child process that extracts text. Both ends use this one definition.
//!
//! ```text
//! frame   := version:u8 kind:u8 last:u8 passing:u8 text:u32 meta:u32 text bytes meta bytes (little-endian)
//! request := meta: memory:u64 seconds:u64 text:u64 fields:u64 name…           (with one descriptor, no text)
//! answer  := extracted     text: UTF-8, meta: bytes(format) cut:u8 { bytes(name) bytes(value) }…
//!          | not_document  no text, no meta
//!          | failed        meta: the reason, UTF-8
//! bytes(b) := length:u32 b
//! ```
//!
//! The header has both lengths, so the engine refuses a large answer before it reads it. `last` in an answer
//! says that the child ends after it, and `passing` that the same file may have another answer later, because
//! of an error of the machine.

use thiserror::Error;

use super::ExtractLimits;

/// The version of this protocol; both ends must have the same.
pub const FRAME_VERSION: u8 = 2;
/// Bytes of a frame's header.
pub const HEADER_BYTES: usize = 12;
/// The largest `meta` part of a frame: the fields of a document, or a request's name.
pub const META_BYTES: usize = 1 << 20;
/// The longest name that is sent; of a longer one, the end is sent.
pub const NAME_BYTES: usize = 1 << 16;

/// What a frame says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameKind {
    /// Extract the text of the file that comes with the frame.
    Request = 1,
    /// The text and the fields of the file.
    Extracted = 2,
    /// The file has no format that the child knows.
    NotADocument = 3,
    /// The file has a known format but cannot be read.
    Failed = 4,
}

/// The fixed part of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameHeader {
    /// What the frame says.
    pub kind: FrameKind,
    /// The child ends after this answer.
    pub last: bool,
    /// The same file may have another answer later.
    pub passing: bool,
    /// Bytes of text.
    pub text: u32,
    /// Bytes of the `meta` part.
    pub meta: u32,
}

/// Why bytes are not a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum FrameError {
    /// The other end has another version.
    #[error("protocol version {0}, but this end has {FRAME_VERSION}; install matching versions")]
    Version(u8),
    /// The kind is unknown.
    #[error("unknown kind {0}")]
    Kind(u8),
    /// A flag has an unknown value.
    #[error("unknown flag")]
    Flag,
    /// The `meta` part is larger than [`META_BYTES`].
    #[error("{0} bytes of fields, more than {META_BYTES}")]
    Meta(u32),
    /// A value goes beyond the end of its frame.
    #[error("a value goes beyond the end of the message")]
    Short,
    /// A name or value is not UTF-8.
    #[error("a name or value is not UTF-8")]
    NotUtf8,
    /// More fields than were asked for.
    #[error("more than {0} fields")]
    Fields(u64),
}

impl FrameHeader {
    /// The bytes of this header.
    pub fn encode(self) -> [u8; HEADER_BYTES] {
        let [t0, t1, t2, t3] = self.text.to_le_bytes();
        let [m0, m1, m2, m3] = self.meta.to_le_bytes();
        [
            FRAME_VERSION,
            self.kind as u8,
            u8::from(self.last),
            u8::from(self.passing),
            t0,
            t1,
            t2,
            t3,
            m0,
            m1,
            m2,
            m3,
        ]
    }

    /// Reads a header and checks all of it except `text`, whose limit the caller knows.
    pub fn decode(bytes: [u8; HEADER_BYTES]) -> Result<Self, FrameError> {
        let [version, kind, last, passing, t0, t1, t2, t3, m0, m1, m2, m3] = bytes;
        if version != FRAME_VERSION {
            return Err(FrameError::Version(version));
        }
        if last > 1 || passing > 1 {
            return Err(FrameError::Flag);
        }
        let kind = match kind {
            1 => FrameKind::Request,
            2 => FrameKind::Extracted,
            3 => FrameKind::NotADocument,
            4 => FrameKind::Failed,
            other => return Err(FrameError::Kind(other)),
        };
        let meta = u32::from_le_bytes([m0, m1, m2, m3]);
        if meta as usize > META_BYTES {
            return Err(FrameError::Meta(meta));
        }
        Ok(Self {
            kind,
            last: last == 1,
            passing: passing == 1,
            text: u32::from_le_bytes([t0, t1, t2, t3]),
            meta,
        })
    }
}

/// A whole request frame.
pub fn encode_request(limits: &ExtractLimits, name: &[u8]) -> Vec<u8> {
    let end = name.get(name.len().saturating_sub(NAME_BYTES)..).unwrap_or(name);
    let meta = u32::try_from(32 + end.len()).unwrap_or(u32::MAX);
    let mut frame = FrameHeader { kind: FrameKind::Request, last: false, passing: false, text: 0, meta }
        .encode()
        .to_vec();
    for value in [limits.memory, limits.seconds, limits.text, limits.fields] {
        frame.extend_from_slice(&value.to_le_bytes());
    }
    frame.extend_from_slice(end);
    frame
}

/// The limits and the name in a request's `meta` part.
pub fn decode_request(meta: &[u8]) -> Result<(ExtractLimits, &[u8]), FrameError> {
    let mut rest = meta;
    let mut next = || {
        let (value, after) = rest.split_first_chunk::<8>().ok_or(FrameError::Short)?;
        rest = after;
        Ok(u64::from_le_bytes(*value))
    };
    let limits = ExtractLimits { memory: next()?, seconds: next()?, text: next()?, fields: next()? };
    Ok((limits, rest))
}

/// Appends `bytes` with their length in front. The caller keeps a `meta` part below [`META_BYTES`].
pub fn put_bytes(meta: &mut Vec<u8>, bytes: &[u8]) {
    meta.extend_from_slice(&u32::try_from(bytes.len()).unwrap_or(u32::MAX).to_le_bytes());
    meta.extend_from_slice(bytes);
}

/// What the `meta` part of an extracted answer holds.
#[derive(Debug, PartialEq, Eq)]
pub struct ExtractedMeta {
    /// The name of the format.
    pub format: String,
    /// A limit ended the text or the fields.
    pub cut: bool,
    /// Names and values.
    pub fields: Vec<(String, String)>,
}

impl ExtractedMeta {
    /// Reads the `meta` part of an answer with at most `limit` fields.
    pub fn decode(meta: &[u8], limit: u64) -> Result<Self, FrameError> {
        let mut rest = meta;
        let format = take_text(&mut rest)?;
        let (&cut, after) = rest.split_first().ok_or(FrameError::Short)?;
        if cut > 1 {
            return Err(FrameError::Flag);
        }
        rest = after;
        let mut fields = Vec::new();
        while !rest.is_empty() {
            if fields.len() as u64 >= limit {
                return Err(FrameError::Fields(limit));
            }
            fields.push((take_text(&mut rest)?, take_text(&mut rest)?));
        }
        Ok(Self { format, cut: cut == 1, fields })
    }
}

fn take_text(rest: &mut &[u8]) -> Result<String, FrameError> {
    let (length, after) = rest.split_first_chunk::<4>().ok_or(FrameError::Short)?;
    let length = u32::from_le_bytes(*length) as usize;
    let (bytes, after) = after.split_at_checked(length).ok_or(FrameError::Short)?;
    *rest = after;
    let text = simdutf8::basic::from_utf8(bytes).map_err(|_| FrameError::NotUtf8)?;
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_read_as_it_was_written() {
        let limits = ExtractLimits { memory: 1, seconds: 2, text: 3, fields: 4 };
        let frame = encode_request(&limits, b"a\xff.pdf");
        let (head, meta) = frame.split_first_chunk::<HEADER_BYTES>().unwrap();
        let header = FrameHeader::decode(*head).unwrap();
        assert_eq!((header.kind, header.meta as usize), (FrameKind::Request, meta.len()));
        assert_eq!(decode_request(meta), Ok((limits, &b"a\xff.pdf"[..])));
        assert_eq!(decode_request(&meta[..31]), Err(FrameError::Short));
    }

    #[test]
    fn of_a_long_name_the_end_is_sent() {
        let name = [vec![b'x'; NAME_BYTES], b".pdf".to_vec()].concat();
        let frame = encode_request(&ExtractLimits::default(), &name);
        let (_, sent) = decode_request(&frame[HEADER_BYTES..]).unwrap();
        assert_eq!(sent.len(), NAME_BYTES);
        assert!(sent.ends_with(b"x.pdf"));
    }

    #[test]
    fn a_header_with_any_unknown_value_is_refused() {
        let good = FrameHeader { kind: FrameKind::Extracted, last: true, passing: true, text: 7, meta: 9 };
        assert_eq!(FrameHeader::decode(good.encode()), Ok(good));
        for (at, value, error) in [
            (0, 1, FrameError::Version(1)),
            (1, 0, FrameError::Kind(0)),
            (1, 5, FrameError::Kind(5)),
            (2, 2, FrameError::Flag),
            (3, 2, FrameError::Flag),
            (11, 255, FrameError::Meta(0xff00_0009)),
        ] {
            let mut bytes = good.encode();
            bytes[at] = value;
            assert_eq!(FrameHeader::decode(bytes), Err(error));
        }
    }

    fn meta() -> Vec<u8> {
        let mut meta = Vec::new();
        put_bytes(&mut meta, b"pdf");
        meta.push(1);
        put_bytes(&mut meta, b"title");
        put_bytes(&mut meta, "Größe".as_bytes());
        meta
    }

    #[test]
    fn every_cut_of_an_answer_is_refused_or_has_fewer_fields() {
        let whole = ExtractedMeta::decode(&meta(), 1).unwrap();
        assert_eq!(whole.fields, [("title".to_owned(), "Größe".to_owned())]);
        assert!(whole.cut);
        assert_eq!(ExtractedMeta::decode(&meta(), 0), Err(FrameError::Fields(0)));
        for end in 0..meta().len() {
            match ExtractedMeta::decode(&meta()[..end], 9) {
                Ok(some) => assert_eq!((end, some.fields.len()), (8, 0)),
                Err(error) => assert_eq!(error, FrameError::Short),
            }
        }
    }

    #[test]
    fn random_bytes_never_panic() {
        let seed = fastrand::u64(..);
        println!("seed {seed}");
        let mut random = fastrand::Rng::with_seed(seed);
        for _ in 0..20_000 {
            let mut bytes = meta();
            let at = random.usize(..bytes.len());
            bytes[at] = random.u8(..);
            let _ = ExtractedMeta::decode(&bytes, 5);
            let head: [u8; HEADER_BYTES] = std::array::from_fn(|_| random.u8(..6));
            let _ = FrameHeader::decode(head);
        }
    }
}
