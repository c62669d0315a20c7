//! The link that opens a server.

use std::net::SocketAddr;

use crate::guard::Guard;
use crate::listen::Door;

/// The link of a server. Browsers take no link of a Unix socket; some programs do. With TLS, the
/// name in it is the first one of `names`, which the certificate is valid for.
pub fn link(door: &Door, guard: &Guard, tls_names: Option<&[String]>) -> String {
    let base = guard.base_path();
    let Some(address) = door.address() else {
        let path = door.path().unwrap_or_default();
        let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._~".contains(byte);
        let encode =
            |byte: &u8| if plain(byte) { char::from(*byte).to_string() } else { format!("%{byte:02X}") };
        let path: String = path.as_os_str().as_encoded_bytes().iter().map(encode).collect();
        return format!("http+unix://{path}{base}/");
    };
    let token = guard.identity().token().map(|token| format!("?token={}", token.as_text()));
    let token = token.unwrap_or_default();
    match tls_names {
        None => format!("http://{}{base}/{token}", reachable(address)),
        Some(names) => format!("https://{}{base}/{token}", named(address, names)),
    }
}

/// The address in a link: of all addresses, the name of the machine.
fn reachable(address: SocketAddr) -> String {
    if !address.ip().is_unspecified() {
        return address.to_string();
    }
    let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
    format!("{name}:{}", address.port())
}

/// A name that the certificate is valid for, with the port; the address if it has none.
fn named(address: SocketAddr, names: &[String]) -> String {
    match names.iter().find(|name| !name.starts_with('*')) {
        Some(name) => format!("{name}:{}", address.port()),
        None => reachable(address),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_link_has_a_name_of_the_certificate() {
        let address = SocketAddr::from(([127, 0, 0, 1], 8443));
        let names = ["*.example.org".to_owned(), "search.example.org".to_owned()];
        assert_eq!(named(address, &names), "search.example.org:8443");
        assert_eq!(named(address, &names[..1]), "127.0.0.1:8443");
    }
}
