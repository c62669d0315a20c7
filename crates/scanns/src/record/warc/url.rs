//! URLs of records.

use super::deviations::{BRACKETS, SPACES};
use crate::record::deviations::Deviations;

/// A URL without the angle brackets that wget wrote around it.
pub(super) fn bare_url<'a>(url: &'a [u8], deviations: &mut Deviations) -> &'a [u8] {
    let bare = without_brackets(url);
    if bare.len() < url.len() {
        deviations.add(BRACKETS);
    }
    if memchr::memchr(b' ', bare).is_some() {
        deviations.add(SPACES);
    }
    bare
}

/// Bytes without angle brackets around them.
pub(super) fn without_brackets(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"<").and_then(|bytes| bytes.strip_suffix(b">")).unwrap_or(bytes)
}

/// The host of a URL in lower case, without the user and the port.
pub fn host_of(url: &[u8]) -> Vec<u8> {
    let Some(start) = memchr::memmem::find(url, b"://") else { return Vec::new() };
    let rest = url.get(start + 3..).unwrap_or_default();
    let end = rest.iter().position(|byte| b"/?#\\".contains(byte)).unwrap_or(rest.len());
    let authority = rest.get(..end).unwrap_or_default();
    let host = authority.rsplit(|byte| *byte == b'@').next().unwrap_or_default();
    String::from_utf8_lossy(without_port(host)).to_lowercase().into_bytes()
}

/// A host without the port after it. Addresses of IPv6 stand in square brackets.
fn without_port(host: &[u8]) -> &[u8] {
    let Some(colon) = memchr::memrchr(b':', host) else { return host };
    let Some((before, after)) = host.split_at_checked(colon) else { return host };
    let is_port = after.iter().skip(1).all(u8::is_ascii_digit);
    if is_port { before } else { host }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_has_no_user_and_no_port() {
        for (url, host) in [
            ("http://Example.COM/a:80", "example.com"),
            ("https://user:p@ss@Example.com:8080?x@y", "example.com"),
            ("http://[2001:DB8::1]:80/", "[2001:db8::1]"),
            ("http://[2001:DB8::1]", "[2001:db8::1]"),
            ("http://MÜNCHEN.de", "münchen.de"),
            ("file:///example with spaces.png", ""),
            ("dns:example.com", ""),
            ("urn:x", ""),
        ] {
            assert_eq!(String::from_utf8(host_of(url.as_bytes())).unwrap(), host);
        }
    }
}
