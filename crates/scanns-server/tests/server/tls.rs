//! TLS: the token over https, proxies with certificates, slow handshakes, and new certificates.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use scanns_server::{Router, ServeOptions, Server, TlsFiles, TrustedProxy};
use serde_json::json;

use crate::bench::{Answer, Running, short, skipped, talk};
use crate::certificates::{Authority, SERVER, VALID, ask, cannot_make, client, connect, openssl};

const PROXY: &str = "proxy.example.org";

/// A server with TLS and a token.
fn with_token(authority: &Authority, change: impl FnOnce(&mut ServeOptions)) -> Running {
    let (certificate, key) = authority.server();
    Running::start(|options| {
        options.tls = Some(TlsFiles::new(certificate, key, None));
        change(options);
    })
}

/// A server for proxies with a certificate of an authority. The user `bin` sees everything.
fn for_proxies(authority: &Authority, change: impl FnOnce(&mut ServeOptions)) -> Running {
    let (certificate, key) = authority.server();
    Running::start(|options| {
        options.tls = Some(TlsFiles::new(certificate, key, Some(authority.root())));
        let certificates = vec!["other-proxy.example.org".into(), PROXY.into()];
        options.proxy = Some(TrustedProxy { uids: Vec::new(), header: "X-Remote-User".into(), certificates });
        options.owners = vec![scanns::access::named_user("bin").unwrap().unwrap().uid()];
        change(options);
    })
}

#[test]
fn the_link_with_a_token_is_one_of_https() {
    if cannot_make("TLS with a token") {
        return;
    }
    let authority = Authority::new();
    let running = with_token(&authority, |_| {});
    let address = running.address();
    assert!(running.link.starts_with("https://localhost:"), "{}", running.link);
    let client = client(&authority.root(), None);
    let bearer = format!("authorization: Bearer {}\r\n", running.token());
    let ask = |path: &str, headers: &str| ask(&client, address, path, headers).unwrap();
    assert_eq!(ask("/who", &bearer).json()["user"], json!("everything"));
    assert_eq!(ask("/who", "x-remote-user: daemon\r\n").status, 401);
    let opened = ask(&format!("/?token={}", running.token()), "");
    let cookie = opened.header("set-cookie").unwrap();
    assert!(opened.status == 303 && cookie.ends_with("; samesite=strict; secure"), "{cookie}");
    // A request without TLS gets an answer that says so, and others are just closed.
    let plain = Answer::of(&talk(running.connect(), b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n"));
    assert_eq!((plain.status, &plain.json()["type"]), (400, &json!("/problems/tls")));
    talk(running.connect(), b"\x80\x01");
    let metrics = ask("/metrics", &bearer).body;
    assert!(metrics.contains("scanns_tls_handshakes_failed_total{reason=\"plain_http\"} 2"), "{metrics}");
    assert!(metrics.contains("scanns_tls_handshakes_total "), "{metrics}");
    let log = fs::read_to_string(running.log.path()).unwrap();
    assert_eq!(log.matches("without TLS").count(), 1, "{log}");
}

#[test]
fn curl_chooses_http2_by_alpn_and_any_version_of_tls() {
    let version = Command::new("curl").arg("--version").output();
    if !version.is_ok_and(|version| String::from_utf8_lossy(&version.stdout).contains("HTTP2")) {
        return skipped("TLS with curl", "needs curl with HTTP2");
    }
    if cannot_make("TLS with curl") {
        return;
    }
    let authority = Authority::new();
    let running = with_token(&authority, |_| {});
    let ask = |more: &[&str], path: &str| {
        let out = Command::new("curl")
            .args(["-s", "-w", " %{http_version} %{http_code}", "--cacert"])
            .arg(authority.root())
            .args(["-H", &format!("Authorization: Bearer {}", running.token())])
            .args(more)
            .arg(format!("https://{}{path}", running.address()))
            .output()
            .unwrap();
        String::from_utf8_lossy(&out.stdout).into_owned()
    };
    assert_eq!(ask(&[], "/documents/a"), "/documents/a 2 200");
    assert_eq!(ask(&["--http1.1"], "/documents/a"), "/documents/a 1.1 200");
    assert_eq!(ask(&["--no-alpn"], "/documents/a"), "/documents/a 1.1 200");
    assert_eq!(ask(&["--tlsv1.2", "--tls-max", "1.2"], "/documents/a"), "/documents/a 2 200");
    assert_eq!(ask(&["--tlsv1.0", "--tls-max", "1.1"], "/documents/a"), " 0 000");
    assert_eq!(ask(&["-d", "hello"], "/echo"), "5 bytes 2 200");
    assert!(ask(&["-H", "Host: evil.example"], "/who").ends_with(" 2 403"));
    for protocol in ["--http1.1", "--http2"] {
        let large = ask(&[protocol, "-o", "/dev/null", "-w", "%{size_download}"], "/large");
        assert_eq!(large, (2000 * (16 << 10)).to_string());
    }
}

#[test]
fn only_a_proxy_with_its_certificate_says_who_somebody_is() {
    if cannot_make("proxies with certificates") {
        return;
    }
    let (authority, foreign) = (Authority::new(), Authority::new());
    let running = for_proxies(&authority, |_| {});
    let address = running.address();
    assert!(!running.link.contains("token"), "{}", running.link);
    let root = authority.root();
    let proxy = client(&root, Some(&authority.client(PROXY)));
    let daemon = scanns::access::named_user("daemon").unwrap().unwrap();
    let asked = ask(&proxy, address, "/who", "X-Remote-User: daemon\r\n").unwrap();
    assert_eq!(asked.json()["user"], json!({ "uid": daemon.uid(), "groups": daemon.groups() }));
    for (headers, status) in [
        ("X-Remote-User: bin\r\n", 200),
        ("X-Remote-User: no-such-user\r\n", 403),
        ("X-Remote-User: root\r\n", 403),
        ("X-Remote-User: daemon\r\nX-Remote-User: bin\r\n", 401),
        ("Authorization: Bearer x\r\n", 401),
        ("", 401),
    ] {
        assert_eq!(ask(&proxy, address, "/who", headers).unwrap().status, status, "{headers:?}");
    }
    // What the documents say of names with a star, and a certificate that does not say what it is for.
    for names in ["DNS:*.example.org", "DNS:a.example.net,DNS:PROXY.example.org"] {
        let own = authority.issue("of-names", &format!("subjectAltName={names}\n"), VALID);
        let asked = ask(&client(&root, Some(&own)), address, "/who", "X-Remote-User: bin\r\n").unwrap();
        assert_eq!(asked.status, 200, "{names}");
    }
    let of = |name: &str, extensions: &str, days| Some(authority.issue(name, extensions, days));
    let for_servers = format!("subjectAltName=DNS:{PROXY}\nextendedKeyUsage=serverAuth\n");
    let for_clients = format!("subjectAltName=DNS:{PROXY}\nextendedKeyUsage=clientAuth\n");
    let starred = "subjectAltName=DNS:*.a.example.org\n";
    let others = [
        ("another name", Some(authority.client("web.example.org"))),
        ("a longer name", Some(authority.client("a.proxy.example.org"))),
        ("a longer name than a star stands for", of("star", starred, VALID)),
        ("a subject without an alternative name", of(PROXY, "extendedKeyUsage=clientAuth\n", VALID)),
        ("another CA", Some(foreign.client(PROXY))),
        ("a certificate for servers", of("for-servers", &for_servers, VALID)),
        ("an expired one", of("expired", &for_clients, ("20200101", "20200201"))),
        ("one of the future", of("future", &for_clients, ("20980101", "20990101"))),
        ("none", None),
    ];
    for (what, own) in &others {
        let refused = ask(&client(&root, own.as_ref()), address, "/who", "X-Remote-User: bin\r\n");
        assert!(refused.is_err(), "{what}: {refused:?}");
    }
    let metrics = ask(&proxy, address, "/metrics", "X-Remote-User: bin\r\n").unwrap().body;
    let failed =
        format!("scanns_tls_handshakes_failed_total{{reason=\"client_certificate\"}} {}", others.len());
    assert!(metrics.contains(&failed), "{metrics}");
    let log = fs::read_to_string(running.log.path()).unwrap();
    assert_eq!(log.matches("a TLS handshake with 127.0.0.1 failed").count(), 1, "no flood: {log}");
    let reason = "failed: the certificate is of web.example.org, which is not a trusted proxy\"";
    assert!(log.contains(reason), "{log}");
}

#[test]
fn a_proxy_has_as_many_connections_as_there_are_but_not_before_its_handshake() {
    if cannot_make("connections of proxies") {
        return;
    }
    let authority = Authority::new();
    let running = for_proxies(&authority, |options| {
        short(options);
        options.limits.per_peer = 2;
        options.limits.idle = Duration::from_secs(30);
    });
    let proxy = client(&authority.root(), Some(&authority.client(PROXY)));
    let request = format!("GET /who HTTP/1.1\r\nhost: {}\r\nx-remote-user: bin\r\n\r\n", running.address());
    let mut kept = Vec::new();
    for _ in 0..6 {
        let mut stream = connect(&proxy, running.address());
        stream.write_all(request.as_bytes()).unwrap();
        let mut part = [0; 4096];
        assert!(stream.read(&mut part).unwrap() > 0);
        kept.push(stream);
    }
    let _silent = [running.connect(), running.connect()];
    let began = Instant::now();
    assert_eq!(talk(running.connect(), b""), "", "a third one is closed");
    assert!(began.elapsed() < Duration::from_millis(1500), "{:?}", began.elapsed());
}

#[test]
fn a_handshake_that_is_silent_or_slow_ends_in_time() {
    if cannot_make("slow handshakes") {
        return;
    }
    let authority = Authority::new();
    let running = with_token(&authority, short);
    let began = Instant::now();
    let silent = running.connect();
    // The beginning of a long record, byte by byte; and one that stops after it.
    let mut stopped = running.connect();
    stopped.write_all(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc").unwrap();
    let mut slow = running.connect();
    let mut trickle = slow.try_clone().unwrap();
    let feeder = std::thread::spawn(move || {
        for byte in b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03".iter().chain([0; 500].iter()) {
            if trickle.write_all(&[*byte]).is_err() {
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    });
    assert_eq!(talk(&mut slow, b""), "");
    assert!(began.elapsed() > Duration::from_millis(900), "{:?}", began.elapsed());
    assert_eq!(talk(stopped, b""), "");
    feeder.join().unwrap();
    assert_eq!(talk(silent, b""), "");
    assert!(began.elapsed() < Duration::from_secs(15), "{:?}", began.elapsed());
    let bearer = format!("authorization: Bearer {}\r\n", running.token());
    let client = client(&authority.root(), None);
    let metrics = ask(&client, running.address(), "/metrics", &bearer).unwrap().body;
    for expected in [
        "scanns_tls_handshakes_failed_total{reason=\"slow\"} 2",
        "scanns_connections_expired_total{waiting_for=\"silent\"} 1",
        "scanns_connections 1",
    ] {
        assert!(metrics.contains(expected), "{expected} is missing in {metrics}");
    }
    // After the handshake, the limits are those of all connections: a slow head, and waiting for nothing.
    for (begin, least) in [("GET / HTTP/1.1\r\nhost:", 900), ("", 1900)] {
        let mut stream = connect(&client, running.address());
        stream.write_all(begin.as_bytes()).and_then(|()| stream.flush()).unwrap();
        let began = Instant::now();
        let mut rest = Vec::new();
        let _ = stream.read_to_end(&mut rest);
        let (text, time) = (String::from_utf8_lossy(&rest), began.elapsed());
        assert!(text.is_empty(), "{text}");
        assert!(time > Duration::from_millis(least) && time < Duration::from_secs(15), "{time:?}");
    }
    // Handshakes do not hold up the end of the server.
    let mut waits = running.connect();
    waits.write_all(b"\x16\x03").unwrap();
    running.stop();
    assert!(running.wait() < Duration::from_secs(1));
}

/// The certificate that a server shows.
fn shown(root: &Path, address: &str) -> CertificateDer<'static> {
    let mut stream = connect(&client(root, None), address);
    stream.write_all(b"GET /health HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    stream.conn.peer_certificates().unwrap()[0].clone().into_owned()
}

fn first_in(path: &Path) -> CertificateDer<'static> {
    CertificateDer::from_pem_file(path).unwrap()
}

#[test]
fn a_renewed_certificate_is_used_and_one_that_cannot_be_read_is_not() {
    if cannot_make("renewed certificates") {
        return;
    }
    let authority = Authority::new();
    let running = with_token(&authority, |options| {
        options.tls.as_mut().unwrap().look_every = Duration::from_millis(50);
    });
    let (address, root) = (running.address(), authority.root());
    let (certificate, key) = (authority.at("server.pem"), authority.at("server.key"));
    let old = first_in(&certificate);
    assert_eq!(shown(&root, address), old);
    // The new certificate is there first, and its key a little later.
    let (renewed, renewed_key) = authority.issue("renewed", SERVER, VALID);
    fs::copy(&renewed, &certificate).unwrap();
    let line = running.wait_for_log("the previous certificate stays in use");
    assert!(line.contains("server.key is not the key of the first certificate in"), "{line}");
    assert_eq!(shown(&root, address), old);
    fs::copy(&renewed_key, &key).unwrap();
    running.wait_for_log("the certificate was read again");
    assert_eq!(shown(&root, address), first_in(&renewed));
    fs::remove_file(&certificate).unwrap();
    running.wait_for_log("cannot read");
    assert_eq!(shown(&root, address), first_in(&renewed));
    let log = fs::read_to_string(running.log.path()).unwrap();
    assert!(log.matches("stays in use").count() <= 3, "each change is told once: {log}");
}

/// The error of a server with these files, or its warnings.
fn opened(certificate: &Path, key: &Path, client_ca: Option<PathBuf>) -> Result<Vec<String>, String> {
    let certificates = vec![PROXY.into()];
    let proxy =
        client_ca.is_some().then(|| TrustedProxy { uids: vec![], header: "X-User".into(), certificates });
    let tls = Some(TlsFiles::new(certificate.to_owned(), key.to_owned(), client_ca));
    let options = ServeOptions { tls, proxy, ..ServeOptions::default() };
    let server = Server::open(Router::new(), options, Box::new(Vec::new));
    server.map(|server| server.warnings().to_vec()).map_err(|error| error.to_string())
}

#[test]
fn files_that_cannot_be_used_are_refused_with_what_to_do() {
    if cannot_make("files of certificates") {
        return;
    }
    let authority = Authority::new();
    let (certificate, key) = authority.server();
    let place = certificate.parent().unwrap();
    fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).unwrap();
    assert_eq!(opened(&certificate, &key, None), Ok(vec![]));
    assert_eq!(opened(&certificate, &key, Some(authority.root())), Ok(vec![]));
    openssl(place, &["x509", "-in", "server.pem", "-outform", "der", "-out", "server.der"]);
    openssl(place, &["pkey", "-in", "server.key", "-outform", "der", "-out", "key.der"]);
    openssl(place, &["pkey", "-in", "server.key", "-aes256", "-passout", "pass:x", "-out", "secret.key"]);
    openssl(place, &["ec", "-in", "server.key", "-aes256", "-passout", "pass:x", "-out", "older.key"]);
    openssl(
        place,
        &["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-521", "-out", "p521.key"],
    );
    let cut = fs::read_to_string(&certificate).unwrap();
    fs::write(authority.at("cut.pem"), &cut[..cut.len() - 40]).unwrap();
    fs::write(authority.at("empty.pem"), "").unwrap();
    fs::write(authority.at("text.pem"), "a certificate").unwrap();
    let garbage = "-----BEGIN CERTIFICATE-----\nMDEyMzQ=\n-----END CERTIFICATE-----\n";
    fs::write(authority.at("garbage.pem"), garbage).unwrap();
    for (name, expected) in [
        ("none.pem", "cannot read"),
        ("server.der", "is in DER, and PEM is needed: convert it with openssl x509 -inform der"),
        ("server.key", "has a private key and no certificate: were the two files swapped?"),
        ("cut.pem", "is cut off: the line -----END CERTIFICATE----- is missing"),
        ("empty.pem", "is empty: it must have a certificate in PEM"),
        ("text.pem", "has no certificate: it must have a line"),
        ("garbage.pem", "has a certificate that cannot be read"),
        ("ca.pem", "server.key is not the key of the first certificate in"),
    ] {
        let error = opened(&authority.at(name), &key, None).unwrap_err();
        assert!(error.contains(expected), "{name}: {error}");
    }
    for (name, expected) in [
        ("none.key", "cannot read"),
        ("key.der", "is in DER, and PEM is needed: convert it with openssl pkey"),
        ("server.pem", "has a certificate and no private key: were the two files swapped?"),
        ("empty.pem", "is empty: it must have a private key in PEM"),
        ("secret.key", "is encrypted, and a server cannot ask for the password: decrypt it with openssl"),
        ("older.key", "is encrypted, and a server cannot ask for the password: decrypt it with openssl"),
        ("p521.key", "is a key of an unknown kind: ECDSA with P-256 or P-384, Ed25519, and RSA"),
        ("ca.key", "is not the key of the first certificate in"),
    ] {
        let error = opened(&certificate, &authority.at(name), None).unwrap_err();
        assert!(error.contains(expected), "{name}: {error}");
    }
    for (name, expected) in [
        ("empty.pem", "is empty"),
        ("server.der", "is in DER"),
        ("garbage.pem", "has a certificate that cannot be used, number 1"),
    ] {
        let error = opened(&certificate, &key, Some(authority.at(name))).unwrap_err();
        assert!(error.contains(expected), "{name}: {error}");
    }
}

#[test]
fn expired_certificates_and_open_keys_are_told() {
    if cannot_make("expired certificates") {
        return;
    }
    let authority = Authority::new();
    let (certificate, key) = authority.issue("old", SERVER, ("20200101", "20200201"));
    fs::set_permissions(&key, fs::Permissions::from_mode(0o640)).unwrap();
    let warnings = opened(&certificate, &key, None).unwrap();
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(warnings[0].contains("old.pem has expired (2020-02-01T00:00:00Z)"), "{warnings:?}");
    let (certificate, key) = authority.issue("new", SERVER, ("20980101", "20990101"));
    fs::set_permissions(&key, fs::Permissions::from_mode(0o644)).unwrap();
    let warnings = opened(&certificate, &key, None).unwrap();
    assert!(warnings[0].contains("all users can read or change the private key"), "{warnings:?}");
    assert!(warnings[1].contains("is valid only later (2098-01-01T00:00:00Z)"), "{warnings:?}");
}
