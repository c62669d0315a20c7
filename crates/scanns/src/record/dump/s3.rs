//! The manifest of an S3 Inventory, a JSON file `manifest.json` that names the parts of the inventory and
//! their columns:
//!
//! ```text
//! {"sourceBucket": …, "fileFormat": "CSV", "fileSchema": "Bucket, Key, Size, …",
//!  "files": [{"key": "…/data/NAME.csv.gz", "size": …, "MD5checksum": …}, …]}
//! ```
//!
//! The parts are CSV without a header, in which keys are encoded as in addresses, or Parquet, or ORC, which
//! is not read. Beside the manifest stands `manifest.checksum` with its MD5.
//!
//! Source: "Locating your inventory list" in the user guide of Amazon S3.

use serde_json::Value;

/// What the manifest of an S3 Inventory says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct S3Manifest {
    /// `CSV`, `Parquet` or `ORC`.
    pub(crate) format: String,
    /// The names of the columns of CSV.
    pub(crate) columns: Vec<String>,
    /// The keys of the parts.
    pub(crate) parts: Vec<String>,
}

/// True if a file that begins like this may be a manifest.
pub(crate) fn is_s3_manifest(start: &[u8]) -> bool {
    let has = |name: &str| memchr::memmem::find(start, name.as_bytes()).is_some();
    start.trim_ascii_start().starts_with(b"{") && has("\"sourceBucket\"") && has("\"fileFormat\"")
}

impl S3Manifest {
    /// Reads a manifest, and compares it with its checksum if there is one.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(crate) fn read(bytes: &[u8], checksum: Option<&[u8]>) -> Result<Self, String> {
        let md5 = hexadecimal(md5(bytes));
        if let Some(checksum) = checksum
            && !checksum.trim_ascii().eq_ignore_ascii_case(md5.as_bytes())
        {
            return Err(format!("its MD5 is {md5}, and not the one in manifest.checksum: fetch it again"));
        }
        let value: Value = serde_json::from_slice(bytes).map_err(|error| format!("not JSON: {error}"))?;
        let text = |name: &str| value.get(name).and_then(Value::as_str);
        let format = text("fileFormat").ok_or("it has no fileFormat")?.to_owned();
        let schema = text("fileSchema").unwrap_or_default();
        let columns: Vec<_> = schema.split(',').map(|name| name.trim().to_owned()).collect();
        let files = value.get("files").and_then(Value::as_array).ok_or("it has no list of files")?;
        let key = |file: &Value| file.get("key").and_then(Value::as_str).map(str::to_owned);
        let parts = files.iter().map(key).collect::<Option<Vec<_>>>().ok_or("a file in it has no key")?;
        match format.as_str() {
            "CSV" if schema.trim().is_empty() => Err("it has no fileSchema".into()),
            "CSV" | "Parquet" => Ok(S3Manifest { format, columns, parts }),
            other => Err(format!(
                "its parts are {other}, which cannot be read: let S3 write the inventory as CSV or Parquet"
            )),
        }
    }
}

fn hexadecimal(digest: [u8; 16]) -> String {
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The rotations of the four rounds.
const ROTATIONS: [[u32; 4]; 4] = [[7, 12, 17, 22], [5, 9, 14, 20], [4, 11, 16, 23], [6, 10, 15, 21]];

/// The MD5 of a text (RFC 1321).
fn md5(text: &[u8]) -> [u8; 16] {
    let mut padded = text.to_vec();
    padded.push(0x80);
    padded.resize(padded.len().next_multiple_of(64), 0);
    if padded.len() - text.len() < 9 {
        padded.resize(padded.len() + 64, 0);
    }
    let bits = (text.len() as u64).wrapping_mul(8).to_le_bytes();
    padded.truncate(padded.len() - 8);
    padded.extend_from_slice(&bits);
    let mut state = [0x6745_2301_u32, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476];
    for block in padded.as_chunks::<64>().0 {
        let mixed = mixed(state, block);
        state.iter_mut().zip(mixed).for_each(|(sum, word)| *sum = sum.wrapping_add(word));
    }
    let mut digest = [0; 16];
    digest.as_chunks_mut::<4>().0.iter_mut().zip(state).for_each(|(out, word)| *out = word.to_le_bytes());
    digest
}

/// The state after the 64 steps of a block.
#[expect(clippy::cast_possible_truncation, reason = "the constant is below 2^32 as the sine is below 1")]
#[expect(clippy::cast_sign_loss, reason = "the constant is not negative")]
fn mixed(state: [u32; 4], block: &[u8; 64]) -> [u32; 4] {
    let [mut a, mut b, mut c, mut d] = state;
    let words = block.as_chunks::<4>().0;
    let mut number = 0.0;
    for (round, rotations) in ROTATIONS.iter().enumerate() {
        for (step, rotation) in (0..16).zip(rotations.iter().cycle()) {
            let (mix, place) = match round {
                0 => ((b & c) | (!b & d), step),
                1 => ((d & b) | (!d & c), 5 * step + 1),
                2 => (b ^ c ^ d, 3 * step + 5),
                _ => (c ^ (b | !d), 7 * step),
            };
            number += 1.0;
            let constant = (f64::sin(number).abs() * 4_294_967_296.0) as u32;
            let word = words.get(place % 16).map_or(0, |word| u32::from_le_bytes(*word));
            let sum = a.wrapping_add(mix).wrapping_add(constant).wrapping_add(word);
            (a, d, c, b) = (d, c, b, b.wrapping_add(sum.rotate_left(*rotation)));
        }
    }
    [a, b, c, d]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_md5_is_the_one_of_the_standard() {
        let digits = "1234567890".repeat(8);
        for (text, expected) in [
            ("", "d41d8cd98f00b204e9800998ecf8427e"),
            ("abc", "900150983cd24fb0d6963f7d28e17f72"),
            ("message digest", "f96b697d7cb7938d525a2f31aaf161d0"),
            (digits.as_str(), "57edf4a22be3c955ac49da2e2107b67a"),
        ] {
            assert_eq!(hexadecimal(md5(text.as_bytes())), expected);
        }
    }

    #[test]
    fn a_manifest_names_columns_and_parts() {
        let manifest = br#"{"sourceBucket":"data","version":"2016-11-30","fileFormat":"CSV",
            "fileSchema":"Bucket, Key, Size",
            "files":[{"key":"x/data/1.csv.gz","size":5},{"key":"2.csv.gz"}]}"#;
        assert!(is_s3_manifest(manifest) && !is_s3_manifest(b"{\"path\":1}"));
        let read = S3Manifest::read(manifest, None).unwrap();
        assert_eq!(
            (read.format.as_str(), read.columns),
            ("CSV", ["Bucket", "Key", "Size"].map(Into::into).to_vec())
        );
        assert_eq!(read.parts, ["x/data/1.csv.gz", "2.csv.gz"]);
        let md5 = hexadecimal(md5(manifest)).to_uppercase() + "\n";
        assert!(S3Manifest::read(manifest, Some(md5.as_bytes())).is_ok());
        for (manifest, checksum, expected) in [
            (&manifest[..], Some(&b"0"[..]), "not the one in manifest.checksum"),
            (br#"{"fileFormat":"ORC","files":[]}"#, None, "its parts are ORC"),
            (br#"{"fileFormat":"CSV","files":[]}"#, None, "no fileSchema"),
            (br#"{"fileFormat":"CSV","fileSchema":"a","files":[{}]}"#, None, "no key"),
            (br#"{"fileFormat":"CSV"}"#, None, "no list of files"),
            (b"{", None, "not JSON"),
        ] {
            let error = S3Manifest::read(manifest, checksum).unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
    }
}
