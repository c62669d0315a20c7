//! The place of a hit in an order, as a text that only this process can make or read.
//!
//! A token is encrypted and authenticated: it begins with a keyed hash of what it says, and what it says is
//! hidden by a stream that depends on the hash. So nobody can point it at a document of his choice, and it
//! does not tell the numbers of documents. It is bound to the commit and the view, and to the digest of the
//! caller and everything that affects the order of hits.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use scanns::Hit;

use crate::problem::Problem;

const TAG: usize = 16;
const PLAIN: usize = 8 + DIGEST + 8 + 4 + 4 + 4;
const DIGEST: usize = 16;

/// What hits must have in common for a token to be valid.
pub(super) type OrderDigest = [u8; DIGEST];

/// The keys of a process.
#[derive(Clone)]
pub(super) struct TokenKeys {
    hash: [u8; 32],
    stream: [u8; 32],
}

impl std::fmt::Debug for TokenKeys {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("TokenKeys")
    }
}

/// The place of a hit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct PageToken {
    /// The commits and the view: [`Snapshot::fingerprint`](scanns::Snapshot::fingerprint).
    pub(super) commit: u64,
    pub(super) digest: OrderDigest,
    /// The number of hits up to this one, inclusive.
    pub(super) rank: u64,
    pub(super) hit: Hit,
}

impl TokenKeys {
    /// New random keys.
    ///
    /// # Errors
    /// The system gives no random bytes.
    pub(super) fn random() -> std::io::Result<Self> {
        let mut bytes = [[0; 32]; 2];
        for key in &mut bytes {
            let mut filled = 0;
            while let Some(rest @ [_, ..]) = key.get_mut(filled..) {
                filled += rustix::rand::getrandom(rest, rustix::rand::GetRandomFlags::empty())?;
            }
        }
        let [hash, stream] = bytes;
        Ok(TokenKeys { hash, stream })
    }

    /// A digest of parts, which nobody else can compute.
    pub(super) fn digest(&self, parts: &[&[u8]]) -> OrderDigest {
        let mut hasher = blake3::Hasher::new_keyed(&self.hash);
        // Tokens are shorter than this, so no digest is the hash of one.
        hasher.update(&[0; 2 * PLAIN]);
        for part in parts {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        first(hasher.finalize().as_bytes())
    }

    fn tag(&self, plain: &[u8; PLAIN]) -> [u8; TAG] {
        first(blake3::keyed_hash(&self.hash, plain).as_bytes())
    }

    fn apply_stream(&self, tag: &[u8; TAG], bytes: &mut [u8]) {
        let mut hasher = blake3::Hasher::new_keyed(&self.stream);
        hasher.update(tag);
        let mut stream = [0; PLAIN];
        hasher.finalize_xof().fill(&mut stream);
        bytes.iter_mut().zip(stream).for_each(|(byte, other)| *byte ^= other);
    }

    /// The text of a token.
    pub(super) fn seal(&self, token: &PageToken) -> String {
        let mut plain = token.plain();
        let tag = self.tag(&plain);
        self.apply_stream(&tag, &mut plain);
        URL_SAFE_NO_PAD.encode([&tag[..], &plain].concat())
    }

    /// The token of a text; `None` if this process did not make it.
    fn open(&self, text: &str) -> Option<PageToken> {
        // Longer ones need not be decoded.
        let bytes = URL_SAFE_NO_PAD.decode(text.get(..(TAG + PLAIN) * 2).unwrap_or(text)).ok()?;
        let (tag, sealed) = bytes.split_first_chunk::<TAG>()?;
        let mut plain: [u8; PLAIN] = sealed.try_into().ok()?;
        self.apply_stream(tag, &mut plain);
        // The time that the comparison takes tells nothing: the tag of a guess is random.
        (blake3::Hash::from(widened(&self.tag(&plain))) == blake3::Hash::from(widened(tag)))
            .then(|| PageToken::of_plain(&plain))?
    }

    /// The token of the parameter `after`, if it belongs to this commit, view and order.
    ///
    /// # Errors
    /// 400 for any other text.
    pub(super) fn accept(&self, text: &str, commit: u64, digest: OrderDigest) -> Result<PageToken, Problem> {
        let wrong = |why: &str| Err(Problem::parameter("after", why));
        let Some(token) = self.open(text) else {
            return wrong("this is not a token of this server: use one of an answer, or begin without it");
        };
        if token.digest != digest {
            return wrong(
                "the token belongs to another user, index, query, field, model or order: use the same ones",
            );
        }
        if token.commit != commit {
            return wrong("the index has changed since that page: begin again without a token");
        }
        Ok(token)
    }
}

impl PageToken {
    fn plain(&self) -> [u8; PLAIN] {
        let leaf = u32::try_from(self.hit.leaf).unwrap_or(u32::MAX);
        let mut plain = [0; PLAIN];
        let parts: [&[u8]; 6] = [
            &self.commit.to_le_bytes(),
            &self.digest,
            &self.rank.to_le_bytes(),
            &leaf.to_le_bytes(),
            &self.hit.doc.to_le_bytes(),
            &self.hit.score.to_bits().to_le_bytes(),
        ];
        plain.iter_mut().zip(parts.into_iter().flatten()).for_each(|(to, from)| *to = *from);
        plain
    }

    fn of_plain(plain: &[u8; PLAIN]) -> Option<Self> {
        let (commit, rest) = plain.split_first_chunk()?;
        let (digest, rest) = rest.split_first_chunk()?;
        let (rank, rest) = rest.split_first_chunk()?;
        let (leaf, rest) = rest.split_first_chunk()?;
        let (doc, rest) = rest.split_first_chunk()?;
        let (score, _) = rest.split_first_chunk()?;
        let leaf = usize::try_from(u32::from_le_bytes(*leaf)).ok()?;
        let score = f32::from_bits(u32::from_le_bytes(*score));
        let hit = Hit { score, leaf, doc: u32::from_le_bytes(*doc) };
        let (commit, rank) = (u64::from_le_bytes(*commit), u64::from_le_bytes(*rank));
        Some(PageToken { commit, digest: *digest, rank, hit })
    }
}

fn first(hash: &[u8; 32]) -> [u8; 16] {
    hash.first_chunk().copied().unwrap_or_default()
}

fn widened(tag: &[u8; TAG]) -> [u8; 32] {
    let mut all = [0; 32];
    all.iter_mut().zip(tag).for_each(|(to, from)| *to = *from);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_read_by_the_process_that_made_it_and_only_as_it_was_made() {
        let (keys, others) = (TokenKeys::random().unwrap(), TokenKeys::random().unwrap());
        let digest = keys.digest(&[b"query", b"anna"]);
        assert_ne!(digest, keys.digest(&[b"quer", b"yanna"]));
        let hit = Hit { score: -1.5e-7, leaf: 3, doc: u32::MAX };
        let token = PageToken { commit: 7, digest, rank: 30, hit };
        let text = keys.seal(&token);
        assert_eq!(keys.accept(&text, 7, digest).unwrap(), token);
        assert!(keys.accept(&text, 8, digest).is_err() && keys.accept(&text, 7, [0; DIGEST]).is_err());
        assert!(others.open(&text).is_none());
        for at in 0..text.len() {
            assert!(keys.open(&text[..at]).is_none(), "cut after {at}");
            for other in ["A", "b", "-", "="] {
                let changed = [&text[..at], other, &text[at + 1..]].concat();
                // The last letter has bits that mean nothing; the decoder refuses others than zeros.
                assert!(changed == text || keys.open(&changed).is_none(), "{changed} instead of {text}");
            }
        }
        for wrong in ["", "start", &"A".repeat(1 << 20), &format!("{text}A")] {
            assert!(keys.open(wrong).is_none());
        }
        let next = keys.seal(&PageToken { hit: Hit { doc: 5, ..hit }, ..token });
        let same = text.bytes().zip(next.bytes()).filter(|(a, b)| a == b).count();
        assert!(same < 20, "tokens of neighbours have nothing in common: {text} {next}");
    }
}
