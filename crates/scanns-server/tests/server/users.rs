//! Who asks, as the kernel says: other users, their groups, and proxies. Needs root and setpriv.

use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::process::Command;

use scanns_server::{Audience, TrustedProxy};
use serde_json::{Value, json};

use crate::bench::{Running, ask_unix, skipped};

/// The numbers of the trusted proxy.
const PROXY: &str = "52033:52033";

/// A directory that all users can enter, with a socket.
fn place() -> tempfile::TempDir {
    let place = tempfile::tempdir_in("/tmp").unwrap();
    std::fs::set_permissions(place.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    place
}

/// What the server answers to a user with groups; the status if it is not 200.
fn ask_as(path: &Path, ids: &str, headers: &[&str]) -> Value {
    let (uid, groups) = ids.split_once(':').unwrap();
    let gid = groups.split(',').next().unwrap();
    let mut curl = Command::new("setpriv");
    curl.args(["--reuid", uid, "--regid", gid, "--groups", groups, "--inh-caps=-all"]);
    curl.args(["curl", "-s", "-w", "\n%{http_code}", "--unix-socket"]).arg(path).arg("http://localhost/who");
    for header in headers {
        curl.args(["-H", header]);
    }
    let out = curl.output().unwrap();
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    let (body, status) = text.rsplit_once('\n').unwrap();
    match status {
        "200" => {
            let answer = serde_json::from_str::<Value>(body).unwrap();
            assert_eq!(answer["by"] == "proxy", ids == PROXY && !headers.is_empty(), "{answer}");
            answer["user"].clone()
        }
        status => status.parse::<u16>().unwrap().into(),
    }
}

/// True if a test cannot run here.
fn cannot_run() -> bool {
    let has = |program: &str| Command::new(program).arg("--version").output().is_ok();
    let why = if !rustix::process::geteuid().is_root() {
        "needs root"
    } else if !has("setpriv") || !has("curl") {
        "needs setpriv and curl"
    } else {
        return false;
    };
    skipped("other users of a socket", why);
    true
}

#[test]
fn a_socket_of_ones_own_has_a_mode_and_is_removed_at_the_end() {
    let place = place();
    let path = place.path().join("a.sock");
    let running = Running::on_unix(place.path(), |_| {});
    assert_eq!(std::fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
    assert!(running.link.starts_with("http+unix://%2Ftmp%2F") && running.link.ends_with("a.sock/"));
    let answer = ask_unix(&path, "/who", "");
    assert_eq!((answer.status, &answer.json()["user"]), (200, &json!("everything")));
    assert_eq!(answer.json()["by"], format!("socket {}", path.display()));
    // Browsers reach a socket through a tunnel, so that names count here, too.
    let host = ask_unix(&path, "http://evil.example/who", "");
    assert_eq!(host.status, 403);
    drop(running);
    assert!(!path.exists());
}

#[test]
fn others_cannot_use_a_socket_of_ones_own_even_if_they_can_reach_it() {
    if cannot_run() {
        return;
    }
    let place = place();
    let path = place.path().join("a.sock");
    let _running = Running::on_unix(place.path(), |options| options.owners = vec![52_001]);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o666)).unwrap();
    assert_eq!(ask_as(&path, "52000:52000", &[]), 403);
    assert_eq!(ask_as(&path, "52001:52001", &[]), "everything");
    assert_eq!(ask_as(&path, "0:0", &[]), "everything");
}

#[test]
fn users_of_a_shared_socket_are_those_of_the_kernel() {
    if cannot_run() {
        return;
    }
    let place = place();
    let path = place.path().join("a.sock");
    let _running = Running::on_unix(place.path(), |options| {
        options.audience = Audience::Shared;
        options.owners = vec![52_001];
    });
    assert_eq!(std::fs::metadata(&path).unwrap().mode() & 0o777, 0o666);
    let spoofed = ["X-User: root", "X-Remote-User: root", "Authorization: Bearer x", "Cookie: user=root"];
    let many: Vec<String> = (1000..1200).map(|group: u32| group.to_string()).collect();
    for ids in ["52000:52000", "52000:52000,52007,4711", &format!("52002:{}", many.join(","))] {
        let (uid, groups) = ids.split_once(':').unwrap();
        let mut groups: Vec<u32> = groups.split(',').map(|group| group.parse().unwrap()).collect();
        groups.sort_unstable();
        let expected = json!({ "uid": uid.parse::<u32>().unwrap(), "groups": groups });
        assert_eq!(ask_as(&path, ids, &spoofed), expected);
    }
    assert_eq!(ask_as(&path, "52001:1", &[]), "everything");
    assert_eq!(ask_as(&path, "0:0", &[]), "everything");
    assert_eq!(ask_as(&path, "65534:65534", &[]), 403, "users of other machines have this number");
}

#[test]
fn the_header_of_a_trusted_proxy_names_the_user() {
    if cannot_run() {
        return;
    }
    let place = place();
    let path = place.path().join("a.sock");
    let _running = Running::on_unix(place.path(), |options| {
        options.owners = vec![52_001];
        options.proxy = Some(TrustedProxy {
            uids: vec![52_033],
            header: "X-Remote-User".into(),
            certificates: Vec::new(),
        });
    });
    let proxy = PROXY;
    let daemon = scanns::access::named_user("daemon").unwrap().unwrap();
    let expected = json!({ "uid": daemon.uid(), "groups": daemon.groups() });
    assert_eq!(ask_as(&path, proxy, &["X-Remote-User: daemon"]), expected);
    assert_eq!(ask_as(&path, proxy, &["x-remote-user: daemon"]), expected);
    for (headers, status) in [
        (&["X-Remote-User: no-such-user"][..], 403),
        (&["X-Remote-User: root"], 403),
        (&["X-Remote-User: 0"], 403),
        (&["X-Remote-User: daemon", "X-Remote-User: bin"], 401),
        (&["X-Remote_User: daemon"], 401),
        (&[], 401),
    ] {
        assert_eq!(ask_as(&path, proxy, headers), status, "{headers:?}");
    }
    assert_eq!(ask_as(&path, "52000:52000", &["X-Remote-User: daemon"]), 403);
}
