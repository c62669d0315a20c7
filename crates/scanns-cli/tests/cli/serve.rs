//! `scanns serve`: the link, sockets, signals, and what is refused. The server itself has tests of its own.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use crate::{Place, run, scanns, skipped};

/// A server, which ends with the test.
struct Serving {
    child: Child,
    out: BufReader<ChildStdout>,
    link: String,
}

impl Serving {
    fn start(command: &mut Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut link = String::new();
        out.read_line(&mut link).unwrap();
        Serving { child, out, link: link.trim_end().to_owned() }
    }

    /// Sends a signal; the exit code, and what else was printed.
    fn end(mut self, signal: &str) -> (Option<i32>, String) {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args([signal, &pid]).status().unwrap().success());
        let mut rest = String::new();
        self.out.read_to_string(&mut rest).unwrap();
        (self.child.wait().unwrap().code(), rest)
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn answer(mut stream: impl Read + Write, target: &str, headers: &str) -> String {
    let _ = write!(stream, "GET {target} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n{headers}\r\n");
    let mut text = String::new();
    // A connection that is refused may end with an error behind the answer.
    let _ = stream.read_to_string(&mut text);
    text
}

fn place() -> Place {
    let place = Place::with(&[("a.txt", "red rose")]);
    place.indexed(&[]);
    place
}

#[test]
fn the_link_opens_the_server_until_a_signal() {
    let place = place();
    for (signal, more) in [("-TERM", &[][..]), ("-INT", &["--base-path", "/a/b"][..])] {
        let serving =
            Serving::start(scanns(&["serve", "--listen", "127.0.0.1:0"]).args(more).arg(place.index()));
        let (address, path) = serving.link.strip_prefix("http://").unwrap().split_once('/').unwrap();
        let connect = || TcpStream::connect(address).unwrap();
        assert!(answer(connect(), "/health", "").starts_with("HTTP/1.1 200 "));
        assert!(answer(connect(), "/", "").starts_with("HTTP/1.1 401 "));
        let opened = answer(connect(), &format!("/{path}"), "");
        assert!(opened.starts_with("HTTP/1.1 303 ") && opened.contains("location: ./\r\n"), "{opened}");
        let cookie = opened.lines().find_map(|line| line.strip_prefix("set-cookie: ")).unwrap();
        let page = answer(connect(), "/", &format!("cookie: {cookie}\r\n"));
        assert!(!page.starts_with("HTTP/1.1 401 "), "{page}");
        assert_eq!(serving.end(signal), (Some(0), String::new()));
    }
}

#[test]
fn a_socket_of_ones_own_is_private_and_outlives_no_server() {
    let place = place();
    let runtime = place.dir.path().join("run");
    std::fs::create_dir(&runtime).unwrap();
    let serve = || {
        let mut command = scanns(&["serve"]);
        command.arg(place.index()).env("XDG_RUNTIME_DIR", &runtime);
        command
    };
    let socket = runtime.join("scanns/a.sock");
    let mode = |path: &Path| std::fs::metadata(path).unwrap().mode() & 0o777;
    let serving = Serving::start(&mut serve());
    assert!(serving.link.starts_with("http+unix://%2F") && serving.link.ends_with("%2Fscanns%2Fa.sock/"));
    assert_eq!((mode(&runtime.join("scanns")), mode(&socket)), (0o700, 0o600));
    assert!(answer(UnixStream::connect(&socket).unwrap(), "/health", "").starts_with("HTTP/1.1 200 "));
    let second = run(&mut serve());
    assert_eq!(second.code, Some(2));
    assert!(second.stderr.contains("another server answers at") && second.stderr.contains("--socket"));
    // One that is killed leaves its socket, which the next one replaces.
    assert_eq!(serving.end("-KILL").0, None);
    assert!(socket.exists());
    let serving = Serving::start(&mut serve());
    assert_eq!(serving.end("-TERM").0, Some(0));
    assert!(!socket.exists());
    std::fs::set_permissions(runtime.join("scanns"), std::fs::Permissions::from_mode(0o755)).unwrap();
    let open = run(&mut serve());
    assert!(open.code == Some(2) && open.stderr.contains("can be entered by others"), "{}", open.stderr);
}

/// The server itself has tests of TLS; here is what the command does with the files and with SIGHUP.
#[test]
fn a_hang_up_reads_the_certificate_again_and_only_a_signal_to_stop_ends_the_server() {
    let place = place();
    let at = |name: &str| place.dir.path().join(name);
    let mut openssl = Command::new("openssl");
    openssl.args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj"]);
    openssl.args(["/CN=search", "-addext", "subjectAltName=DNS:search.example.org", "-keyout"]);
    openssl.arg(at("own.key")).arg("-out").arg(at("own.pem"));
    if !openssl.output().is_ok_and(|out| out.status.success()) {
        return skipped("TLS of the command", "needs openssl");
    }
    std::fs::set_permissions(at("own.key"), std::fs::Permissions::from_mode(0o644)).unwrap();
    let mut command = scanns(&["serve", "--listen", "127.0.0.1:0", "--tls-certificate"]);
    command.arg(at("own.pem")).arg("--tls-key").arg(at("own.key")).arg("--log").arg(at("log"));
    command.arg(place.index());
    let warned =
        run(scanns(&["serve", "--listen", "127.0.0.1:0", "--base-path", "a b", "--tls-certificate"])
            .arg(at("own.key"))
            .arg("--tls-key")
            .arg(at("own.pem"))
            .arg(place.index()));
    assert!(warned.stderr.contains("own.key has a private key and no certificate"), "{}", warned.stderr);
    let serving = Serving::start(&mut command);
    assert!(serving.link.starts_with("https://search.example.org:"), "{}", serving.link);
    let wait_for = |text: &str| {
        let until = Instant::now() + Duration::from_secs(20);
        while !std::fs::read_to_string(at("log")).unwrap().contains(text) {
            assert!(Instant::now() < until, "the log has no {text:?}");
            std::thread::sleep(Duration::from_millis(20));
        }
    };
    let hang_up = || Command::new("kill").args(["-HUP", &serving.child.id().to_string()]).status().unwrap();
    wait_for("ready");
    hang_up();
    wait_for("the certificate was read again");
    wait_for("all users can read or change the private key");
    std::fs::write(at("own.key"), "").unwrap();
    hang_up();
    wait_for("own.key is empty: it must have a private key in PEM; the previous certificate stays in use");
    let port = serving.link.split(':').nth(2).unwrap().split('/').next().unwrap();
    let told = answer(TcpStream::connect(format!("127.0.0.1:{port}")).unwrap(), "/health", "");
    assert!(told.starts_with("HTTP/1.1 400 ") && told.contains("https://"), "{told}");
    assert_eq!(serving.end("-TERM"), (Some(0), String::new()));
}

#[test]
fn a_port_in_use_is_said() {
    let place = place();
    let other = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = other.local_addr().unwrap().to_string();
    let ran = run(scanns(&["serve", "--listen", &address]).arg(place.index()));
    assert_eq!((ran.code, ran.text()), (Some(2), ""));
    assert!(ran.stderr.contains("another program uses this port"), "{}", ran.stderr);
}

/// Without descriptors for more connections, the server waits, and uses hardly any time meanwhile.
#[test]
fn connections_beyond_the_limit_of_open_files_do_no_harm() {
    let place = place();
    let mut command = Command::new("bash");
    let script =
        "ulimit -n 34; exec \"$0\" serve --listen 127.0.0.1:0 --log none --first-byte-timeout 60s \"$1\"";
    command.args(["-c", script, env!("CARGO_BIN_EXE_scanns")]).arg(place.index()).stdin(Stdio::null());
    let serving = Serving::start(&mut command);
    let address = serving.link.strip_prefix("http://").unwrap().split('/').next().unwrap();
    let held: Vec<TcpStream> = (0..200).map(|_| TcpStream::connect(address).unwrap()).collect();
    let ticks = || {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", serving.child.id())).unwrap();
        let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
        fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
    };
    std::thread::sleep(Duration::from_millis(300));
    let before = ticks();
    std::thread::sleep(Duration::from_secs(1));
    assert!(ticks() - before < 30, "{} ticks of 10 ms in a second", ticks() - before);
    drop(held);
    let until = Instant::now() + Duration::from_secs(20);
    while !answer(TcpStream::connect(address).unwrap(), "/health", "").starts_with("HTTP/1.1 200 ") {
        assert!(Instant::now() < until, "nobody is served");
    }
}

#[test]
fn a_shared_server_warns_if_others_can_read_the_index() {
    let place = Place::with(&[("a.txt", "red rose")]);
    place.indexed(&["--access"]);
    std::fs::set_permissions(place.index(), std::fs::Permissions::from_mode(0o755)).unwrap();
    let socket = place.dir.path().join("s.sock");
    let mut command = scanns(&["serve", "--shared", "--log", "none", "--socket"]);
    command.arg(&socket).arg(place.index()).stderr(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut link = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut link).unwrap();
    assert_eq!(std::fs::metadata(&socket).unwrap().mode() & 0o777, 0o666);
    child.kill().unwrap();
    let out = child.wait_with_output().unwrap();
    let stderr = String::from_utf8_lossy(&out.stderr);
    assert!(stderr.contains("others can read the files of") && stderr.contains("chmod -R go="), "{stderr}");
}

#[test]
fn the_units_for_systemd_are_valid() {
    if !Command::new("systemd-analyze").arg("--version").output().is_ok_and(|out| out.status.success()) {
        skipped("units of systemd", "needs systemd-analyze");
        return;
    }
    let units = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging/serve");
    let place = tempfile::tempdir().unwrap();
    let mut files = Vec::new();
    for name in ["scanns-shared.socket", "scanns-shared.service", "scanns-user.service", "scanns-web.service"]
    {
        let text = std::fs::read_to_string(units.join(name)).unwrap();
        // The program, its user and its page of the manual need not be installed here.
        let text = text
            .replace("/usr/bin/scanns", "/bin/true")
            .replace("man:scanns-serve(1)", "https://example.org");
        std::fs::write(place.path().join(name), text).unwrap();
        files.push(place.path().join(name));
    }
    let out = Command::new("systemd-analyze").args(["verify", "--recursive-errors=no"]).args(&files).output();
    let out = out.unwrap();
    let told = String::from_utf8_lossy(&out.stderr);
    let of_ours: Vec<&str> = told.lines().filter(|line| line.contains("scanns-")).collect();
    assert!(of_ours.is_empty(), "{told}");
}
