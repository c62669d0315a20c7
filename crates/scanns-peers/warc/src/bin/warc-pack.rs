//! Makes web archives from the HTML files below directories: `warc-pack OUT FILES LIMIT_MIB DIR...`
//!
//! Every file becomes a response in a gzip member of its own, after a member with a request, as crawlers
//! write them. The pages are dealt out to the archives by their bytes, so these are of equal size. The same
//! files give the same bytes.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use flate2::Compression;
use flate2::write::GzEncoder;

/// Pages above this size are left out, because some readers have limits.
const LARGEST: u64 = 8 << 20;

fn main() -> Result<()> {
    let words: Vec<_> = std::env::args_os().skip(1).collect();
    let [out, archives, limit, trees @ ..] = words.as_slice() else {
        anyhow::bail!("usage: warc-pack OUT FILES LIMIT_MIB DIR...");
    };
    let number = |word: &std::ffi::OsString| -> Result<u64> {
        word.to_str()
            .and_then(|text| text.parse().ok())
            .with_context(|| format!("{} is no number", word.display()))
    };
    let (archives, limit) = (number(archives)?, number(limit)? << 20);
    ensure!(archives > 0, "there must be an archive");
    let mut pages = Vec::new();
    for tree in trees {
        list(Path::new(tree), &mut pages)?;
    }
    pages.sort();
    pages.dedup();
    let packed = pack(Path::new(out), archives, limit, &pages)?;
    println!("{} pages, {} bytes of HTML, {} bytes of archives", packed.pages, packed.html, packed.written);
    Ok(())
}

/// Adds the HTML files below a directory. Links are not followed.
fn list(path: &Path, pages: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(path).with_context(|| format!("cannot read {}", path.display()))? {
        let entry = entry?;
        let kind = entry.file_type()?;
        let path = entry.path();
        let is_page = path.extension().is_some_and(|extension| extension == "html" || extension == "htm");
        if kind.is_dir() {
            list(&path, pages)?;
        } else if kind.is_file() && is_page && (1..=LARGEST).contains(&entry.metadata()?.len()) {
            pages.push(path);
        }
    }
    Ok(())
}

/// What was written.
#[derive(Debug, Default, PartialEq)]
struct Packed {
    pages: u64,
    html: u64,
    written: u64,
}

/// Writes the archives. A page goes to the archive that has the fewest bytes.
fn pack(out: &Path, archives: u64, limit: u64, pages: &[PathBuf]) -> Result<Packed> {
    fs::create_dir_all(out).with_context(|| format!("cannot create {}", out.display()))?;
    let names = (0..archives).map(|at| out.join(format!("pages-{at:02}.warc.gz")));
    let mut files = names
        .map(|name| Ok((0, BufWriter::new(File::create(name)?))))
        .collect::<Result<Vec<(u64, BufWriter<File>)>>>()?;
    let mut packed = Packed::default();
    for (number, path) in pages.iter().enumerate() {
        let html = fs::read(path)?;
        let bytes = u64::try_from(html.len())?;
        if packed.html + bytes > limit {
            break;
        }
        let Some((filled, file)) = files.iter_mut().min_by_key(|(filled, _)| *filled) else { break };
        for record in [request(path, number), response(path, number, &html)] {
            let mut member = GzEncoder::new(Vec::new(), Compression::default());
            member.write_all(&record)?;
            let member = member.finish()?;
            file.write_all(&member)?;
            *filled += u64::try_from(member.len())?;
        }
        packed.pages += 1;
        packed.html += bytes;
    }
    for (filled, mut file) in files {
        file.flush()?;
        packed.written += filled;
    }
    Ok(packed)
}

/// A path as the path of a URL.
fn url(path: &Path) -> String {
    let mut url = String::from("http://www.example.org");
    for &byte in path.as_os_str().as_bytes() {
        if byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte) {
            url.push(char::from(byte));
        } else {
            url.push_str(&format!("%{byte:02X}"));
        }
    }
    url
}

fn record(kind: &str, path: &Path, number: usize, content: &[u8]) -> Vec<u8> {
    let mut record = format!(
        "WARC/1.0\r\nWARC-Type: {kind}\r\n\
         WARC-Record-ID: <urn:uuid:00000000-0000-4000-8000-{number:011x}{}>\r\n\
         WARC-Date: 2026-01-01T00:00:00Z\r\nWARC-Target-URI: {}\r\nWARC-IP-Address: 192.0.2.1\r\n\
         Content-Type: application/http; msgtype={kind}\r\nContent-Length: {}\r\n\r\n",
        u8::from(kind == "response"),
        url(path),
        content.len()
    )
    .into_bytes();
    record.extend_from_slice(content);
    record.extend_from_slice(b"\r\n\r\n");
    record
}

fn request(path: &Path, number: usize) -> Vec<u8> {
    let target = url(path);
    let target = target.trim_start_matches("http://www.example.org");
    let http = format!(
        "GET {target} HTTP/1.1\r\nHost: www.example.org\r\nUser-Agent: warc-pack\r\nAccept: text/html\r\n\r\n"
    );
    record("request", path, number, http.as_bytes())
}

fn response(path: &Path, number: usize, html: &[u8]) -> Vec<u8> {
    let charset = if std::str::from_utf8(html).is_ok() { "; charset=utf-8" } else { "; charset=iso-8859-1" };
    let mut http = format!(
        "HTTP/1.1 200 OK\r\nServer: example\r\nContent-Type: text/html{charset}\r\n\
         Content-Length: {}\r\n\r\n",
        html.len()
    )
    .into_bytes();
    http.extend_from_slice(html);
    record("response", path, number, &http)
}
