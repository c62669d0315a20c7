//! HTTP/2 without TLS, as proxies and load generators speak it.

use std::process::Command;

use crate::bench::{Running, skipped};

#[test]
fn curl_speaks_http2_with_the_server() {
    let version = Command::new("curl").arg("--version").output();
    if !version.is_ok_and(|version| String::from_utf8_lossy(&version.stdout).contains("HTTP2")) {
        skipped("HTTP/2", "needs curl with HTTP2");
        return;
    }
    let running = Running::start(|_| {});
    let address = running.address();
    let ask = |more: &[&str], path: &str| {
        let out = Command::new("curl")
            .args(["-s", "--http2-prior-knowledge", "-w", " %{http_version} %{http_code}"])
            .args(["-H", &format!("Authorization: Bearer {}", running.token())])
            .args(more)
            .arg(format!("http://{address}{path}"))
            .output()
            .unwrap();
        String::from_utf8_lossy(&out.stdout).into_owned()
    };
    assert_eq!(ask(&[], "/documents/a"), "/documents/a 2 200");
    assert_eq!(ask(&["-d", "hello"], "/echo"), "5 bytes 2 200");
    assert!(ask(&["-H", "Host: evil.example"], "/who").ends_with(" 2 403"));
    let panicked = ask(&[], "/panic");
    assert!(panicked.ends_with(" 2 500"), "{panicked}");
    let large = ask(&["-o", "/dev/null", "-w", "%{size_download}"], "/large");
    assert_eq!(large, (2000 * (16 << 10)).to_string());
}
