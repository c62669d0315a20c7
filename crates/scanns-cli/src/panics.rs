//! Panics: they end the command at once, but of a server only the request.
//!
//! A panic is a bug, and what is in memory may be wrong afterwards. So it ends the process, as it would if
//! the program was compiled to do so; what is committed is intact. A server would end for all its users, and
//! requests share nothing that a panic could leave half changed: there, the request fails.

use std::sync::atomic::{AtomicBool, Ordering};

static IS_SERVER: AtomicBool = AtomicBool::new(false);

/// Lets panics end the process, after their message.
pub fn begin() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        usual(panic);
        if !IS_SERVER.load(Ordering::Relaxed) {
            std::process::abort();
        }
    }));
}

/// Lets panics end what panicked, and nothing else.
pub fn end_requests_only() {
    IS_SERVER.store(true, Ordering::Relaxed);
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;
    use std::process::Command;

    use super::*;

    /// Names what the child of a test does.
    const ROLE: &str = "SCANNS_TEST_PANICS";

    /// Runs in a process of its own, since it may end it.
    #[test]
    fn child() {
        let Ok(role) = std::env::var(ROLE) else { return };
        begin();
        if role == "server" {
            end_requests_only();
        }
        assert!(std::thread::spawn(|| panic!("on purpose")).join().is_err());
        println!("the process goes on");
    }

    #[test]
    fn a_panic_ends_the_process_except_of_a_server() {
        for (role, signal, goes_on) in [("command", Some(6), false), ("server", None, true)] {
            let mut command = Command::new(std::env::current_exe().unwrap());
            command.args(["--exact", "panics::tests::child", "--nocapture"]).env(ROLE, role);
            let out = command.output().unwrap();
            assert_eq!(out.status.signal(), signal, "{role}");
            let (stdout, stderr) =
                (String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
            assert!(stderr.contains("on purpose"), "{stderr}");
            assert_eq!(stdout.contains("the process goes on"), goes_on, "{stdout}");
        }
    }

    #[test]
    fn the_program_is_compiled_to_unwind() {
        let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/../../Cargo.toml");
        let manifest: toml::Table = std::fs::read_to_string(manifest).unwrap().parse().unwrap();
        for (name, profile) in manifest["profile"].as_table().unwrap() {
            let panic = profile.get("panic").and_then(toml::Value::as_str);
            assert!(
                panic.is_none_or(|panic| panic == "unwind"),
                "profile {name}: requests could not fail alone"
            );
        }
    }
}
