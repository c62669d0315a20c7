//! The secret of a TCP socket: a token that its user has, and a cookie that a browser gets for it.

use std::hint::black_box;

use crate::error::ServeError;

/// Bytes of a random secret: 192 bits.
const RANDOM: usize = 24;

/// The least number of characters of a token that somebody gives.
const LEAST: usize = 22;

/// The token and the cookie of a server.
pub struct Token {
    token: String,
    cookie: String,
    cookie_name: String,
    /// Whether browsers send the cookie over TLS only.
    is_secure: bool,
}

impl Token {
    /// A random token, or a given one, for the server on a port, with TLS or without. Cookies do not know
    /// ports, so that their names must.
    pub fn new(given: Option<&str>, port: u16, is_secure: bool) -> Result<Self, ServeError> {
        let token = match given {
            None => random()?,
            Some(token) if token.len() >= LEAST && token.bytes().all(is_plain) => token.to_owned(),
            Some(_) => return Err(ServeError::Token { least: LEAST }),
        };
        Ok(Token { token, cookie: random()?, cookie_name: format!("scanns-{port}"), is_secure })
    }

    /// The token as it stands in a link.
    pub fn as_text(&self) -> &str {
        &self.token
    }

    /// True for the token.
    pub fn is(&self, given: &str) -> bool {
        equal(self.token.as_bytes(), given.as_bytes())
    }

    /// The header that gives a browser the cookie. Without a path, it is valid for the directory of the
    /// request as the browser sees it, which only the browser knows behind some proxies.
    pub fn set_cookie(&self, base_path: &str) -> String {
        let path = if base_path.is_empty() { String::new() } else { format!("; Path={base_path}") };
        let secure = if self.is_secure { "; Secure" } else { "" };
        format!("{}={}{path}; HttpOnly; SameSite=Strict{secure}", self.cookie_name, self.cookie)
    }

    /// True if one of the cookies in a header is the cookie.
    pub fn is_in_cookies(&self, header: &str) -> bool {
        header.split(';').any(|cookie| {
            cookie.trim().split_once('=').is_some_and(|(name, value)| {
                name == self.cookie_name && equal(self.cookie.as_bytes(), value.as_bytes())
            })
        })
    }
}

/// True for characters that stand for themselves in a link.
fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~".contains(&byte)
}

/// Compares in a time that depends on the lengths only.
fn equal(secret: &[u8], given: &[u8]) -> bool {
    let mut different = u8::from(secret.len() != given.len());
    for (at, byte) in given.iter().enumerate() {
        let of_secret = secret.get(at % secret.len().max(1)).copied().unwrap_or_default();
        different = black_box(different | (byte ^ of_secret));
    }
    black_box(different) == 0
}

/// A random secret in letters and digits that need no quoting.
fn random() -> Result<String, ServeError> {
    let mut bytes = [0u8; RANDOM];
    let mut filled = 0;
    while filled < bytes.len() {
        let rest = bytes.get_mut(filled..).unwrap_or_default();
        filled += rustix::rand::getrandom(rest, rustix::rand::GetRandomFlags::empty())
            .map_err(|error| ServeError::Random { source: error.into() })?;
    }
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_random_and_compared_as_a_whole() {
        let (one, other) = (Token::new(None, 80, false).unwrap(), Token::new(None, 80, false).unwrap());
        assert_ne!(one.as_text(), other.as_text());
        assert_ne!(one.token, one.cookie);
        assert!(one.as_text().len() * 4 >= 128 && one.is(one.as_text()) && !one.is(other.as_text()));
        let text = one.as_text();
        let wrong = ["", "a", &text[1..], &text[..text.len() - 1], &format!("{text}0"), &text.to_uppercase()];
        for given in wrong.iter().filter(|given| **given != text) {
            assert!(!one.is(given), "{given}");
        }
        assert!(!one.is(&text.repeat(2)));
    }

    #[test]
    fn tokens_that_could_be_guessed_are_refused() {
        assert!(Token::new(Some("secret"), 1, false).is_err());
        assert!(Token::new(Some("a-token-with-signs-of-a-link?&"), 1, false).is_err());
        let given = "0123456789abcdef0123456789abcdef";
        assert!(Token::new(Some(given), 1, false).unwrap().is(given));
    }

    #[test]
    fn the_cookie_is_found_among_others() {
        let token = Token::new(None, 8080, false).unwrap();
        let cookie = token.set_cookie("");
        let pair = cookie.split(';').next().unwrap();
        assert!(cookie.ends_with("; HttpOnly; SameSite=Strict") && !cookie.contains("Path"));
        let over_tls = Token::new(None, 8080, true).unwrap();
        assert!(over_tls.set_cookie("").ends_with("; SameSite=Strict; Secure"));
        assert!(token.set_cookie("/a/").contains("; Path=/a/;"));
        assert!(token.is_in_cookies(pair) && token.is_in_cookies(&format!("a=b; {pair}; c")));
        assert!(!token.is_in_cookies(&pair.replace("8080", "8081")) && !token.is_in_cookies("scanns-8080="));
        assert!(!token.is_in_cookies(&format!("scanns-8080={}", token.as_text())));
    }
}
