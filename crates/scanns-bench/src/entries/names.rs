//! Names of directories and files.

use super::lexicon::{Lexicon, mix, push_hex, push_number};
use super::place::Place;

/// What a name follows from.
#[derive(Clone, Copy, Debug)]
pub struct Naming<'l> {
    /// Words.
    pub lexicon: &'l Lexicon,
    /// The kind of the directory that holds the name.
    pub place: Place,
    /// The seed of this directory.
    pub seed: u64,
}

impl Naming<'_> {
    /// Appends the name of the directory with a number. The directories of users have their names.
    pub fn push_directory(&self, number: u32, user: &[u8], out: &mut Vec<u8>) {
        let fixed: &[&str] = match self.place {
            Place::Project => &["software"],
            Place::Run => &["output", "checkpoints", "plots"],
            Place::Environment => &["bin", "lib"],
            Place::Library => &["python3.11"],
            Place::Python => &["site-packages"],
            Place::Package => &["__pycache__"],
            Place::Checkout => &[".git", "src", "tests", "docs"],
            Place::Git => &["hooks", "objects", "refs", "logs"],
            _ => &[],
        };
        if let Some(name) = fixed.get(number as usize) {
            return out.extend(name.bytes());
        }
        let seed = mix(self.seed, u64::from(number));
        match self.place {
            Place::Root => {
                out.push(b'm');
                push_number(out, u64::from(number) + 1, 4);
            }
            Place::Project => out.extend(user),
            Place::Campaign => {
                let prefix = ["run_", "case-", "job", "run_", "sim_"][(self.seed % 5) as usize];
                out.extend(prefix.bytes());
                push_number(out, u64::from(number) + 1, 4);
            }
            // 97 and 256 have no common divisor, so all 256 names differ.
            Place::Objects => push_hex(out, (u64::from(number) * 97 + self.seed % 256) % 256, 2),
            Place::User => {
                self.lexicon.push(out, number, seed);
                out.push(b'_');
                push_number(out, seed >> 50, 0);
            }
            _ => self.lexicon.push(out, number, seed),
        }
    }

    /// Appends the name of the file with a number.
    pub fn push_file(&self, number: u32, out: &mut Vec<u8>) {
        let seed = mix(!self.seed, u64::from(number));
        match self.place {
            Place::Output | Place::Series | Place::Restart => self.push_numbered(number, out),
            Place::Fanout => {
                push_hex(out, seed, 16);
                push_hex(out, mix(seed, 1), 16);
                push_hex(out, mix(seed, 2), 6);
            }
            Place::Package | Place::Cache | Place::Sources => {
                self.lexicon.push(out, number, seed);
                let source = [".py", ".c", ".h", ".cpp", ".rs", ".py"][(self.seed % 6) as usize];
                out.extend(match self.place {
                    Place::Package => ".py".bytes(),
                    Place::Cache => ".cpython-311.pyc".bytes(),
                    _ => source.bytes(),
                });
            }
            place => match fixed(place).get(number as usize) {
                Some(name) => out.extend(name.bytes()),
                None => self.push_mixed(number, seed, out),
            },
        }
    }

    /// Appends a name with a number of as many digits as all names in the directory.
    fn push_numbered(&self, number: u32, out: &mut Vec<u8>) {
        let at = (self.seed >> 40) as usize;
        if self.place == Place::Restart {
            let (prefix, ending) = [("checkpoint-", ".pt"), ("restart_", ".h5"), ("chk", ".h5")][at % 3];
            out.extend(prefix.bytes());
            push_number(out, (u64::from(number) + 1) * 500, 6);
            return out.extend(ending.bytes());
        }
        let prefixes = ["snapshot_", "frame_", "part-", "sample_", "img", "out.", "tile-", "events_"];
        out.extend(prefixes[at % prefixes.len()].bytes());
        push_number(out, u64::from(number), if self.place == Place::Series { 6 } else { 4 });
        out.extend(self.lexicon.extension(self.seed).bytes());
    }

    /// Appends a word or two and an extension. Few names are odd: they have blanks, or bytes that are not
    /// UTF-8, or line feeds.
    fn push_mixed(&self, number: u32, seed: u64, out: &mut Vec<u8>) {
        self.lexicon.push(out, number, seed);
        match (seed >> 32) % 4096 {
            0 => out.extend(b"\xff\xe9"),
            1 => out.push(b'\n'),
            2..40 => out.extend(b" (copy)"),
            40..800 => {
                out.push(b'-');
                self.lexicon.push(out, number % 7, seed >> 8);
            }
            800..1600 => {
                out.extend(b"_v");
                push_number(out, seed % 30, 0);
            }
            _ => {}
        }
        out.extend(self.lexicon.extension(seed).bytes());
    }
}

/// The names that the first files of some kinds of directories have.
fn fixed(place: Place) -> &'static [&'static str] {
    match place {
        Place::User => &[".bashrc", ".profile", ".bash_history", ".vimrc", "notes.txt"],
        Place::Campaign => &["README.md", "submit.sh", "params.yaml", "sweep.py"],
        Place::Run => &["input.yaml", "job.sh", "stdout.log", "stderr.log", "summary.json", "run.h5"],
        Place::Environment => &["pyvenv.cfg", "environment.yml", "requirements.txt"],
        Place::Checkout => {
            &["README.md", "LICENSE", ".gitignore", "Makefile", "setup.py", "CMakeLists.txt", "Cargo.toml"]
        }
        Place::Git => &["HEAD", "config", "description", "index", "packed-refs"],
        Place::Refs => &["HEAD", "main", "develop"],
        Place::Hooks => &[
            "applypatch-msg.sample",
            "commit-msg.sample",
            "fsmonitor-watchman.sample",
            "post-update.sample",
            "pre-applypatch.sample",
            "pre-commit.sample",
            "pre-merge-commit.sample",
            "pre-push.sample",
            "pre-rebase.sample",
            "pre-receive.sample",
            "prepare-commit-msg.sample",
            "push-to-checkout.sample",
            "update.sample",
        ],
        _ => &[],
    }
}
