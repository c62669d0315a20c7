//! The patterns of the user: the file that `core.excludesFile` of git's configuration names, or
//! `$XDG_CONFIG_HOME/git/ignore`.
//!
//! Only `~/.gitconfig` and `$XDG_CONFIG_HOME/git/config` are read, without the files that they include.

use std::env;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{CWD, OFlags};

use crate::source::ignore::faults::IgnoreFaults;
use crate::source::ignore::files::{RuleFile, read_whole};
use crate::source::ignore::list::IgnoreList;

/// The patterns of the user, which apply in all repositories.
#[derive(Clone, Debug, Default)]
pub struct UserRules {
    pub(super) list: Option<Arc<IgnoreList>>,
}

impl UserRules {
    /// The patterns of the user who runs this process.
    pub fn of_process(faults: &mut IgnoreFaults) -> UserRules {
        let directory = |name| env::var_os(name).filter(|path| !path.is_empty()).map(PathBuf::from);
        UserRules::of_home(directory("HOME"), directory("XDG_CONFIG_HOME"), faults)
    }

    /// The patterns of a user with this home directory and this directory for configuration, which is
    /// `.config` in the home directory if it is not set.
    pub fn of_home(home: Option<PathBuf>, config: Option<PathBuf>, faults: &mut IgnoreFaults) -> UserRules {
        let config = config.or_else(|| home.as_ref().map(|home| home.join(".config")));
        let config = config.map(|config| config.join("git"));
        let files =
            [home.as_ref().map(|home| home.join(".gitconfig")), config.as_ref().map(|c| c.join("config"))];
        let set = files.iter().flatten().find_map(|file| {
            let text = read_whole(CWD, file, OFlags::empty()).ok()??;
            excludes_file(&text)
        });
        let file = match set {
            Some(path) => in_home(&path, home.as_deref()),
            None => config.map(|config| config.join("ignore")),
        };
        let file = file.and_then(|path| RuleFile::of_path(&path, faults));
        let list = file.map(|file| file.patterns(faults)).filter(|list| !list.is_empty());
        UserRules { list }
    }
}

fn in_home(path: &[u8], home: Option<&Path>) -> Option<PathBuf> {
    match path.strip_prefix(b"~/") {
        Some(rest) => home.map(|home| home.join(OsStr::from_bytes(rest))),
        None => Some(PathBuf::from(OsStr::from_bytes(path))).filter(|path| path.is_absolute()),
    }
}

/// The last value of `core.excludesFile` in a configuration.
fn excludes_file(text: &[u8]) -> Option<Vec<u8>> {
    let (mut in_core, mut found) = (false, None);
    for line in text.split(|&byte| byte == b'\n') {
        let mut line = line.trim_ascii();
        if let Some(section) = line.strip_prefix(b"[") {
            let end = memchr::memchr(b']', section).unwrap_or(section.len());
            let (name, rest) = section.split_at(end);
            in_core = name.trim_ascii().eq_ignore_ascii_case(b"core");
            line = rest.get(1..).unwrap_or_default().trim_ascii();
        }
        let Some(equals) = memchr::memchr(b'=', line).filter(|_| in_core) else { continue };
        let (key, text) = line.split_at(equals);
        if key.trim_ascii().eq_ignore_ascii_case(b"excludesfile") {
            found = Some(value(text.get(1..).unwrap_or_default().trim_ascii()));
        }
    }
    found.filter(|path| !path.is_empty())
}

/// A value without quotes and comments.
fn value(text: &[u8]) -> Vec<u8> {
    let mut value = Vec::new();
    let (mut quoted, mut kept) = (false, 0);
    let mut bytes = text.iter();
    while let Some(&byte) = bytes.next() {
        match byte {
            b'"' => quoted = !quoted,
            b'#' | b';' if !quoted => break,
            b'\\' => value.extend(bytes.next().map(|&escaped| match escaped {
                b'n' => b'\n',
                b't' => b'\t',
                other => other,
            })),
            byte => value.push(byte),
        }
        // Spaces at the end count only in quotes.
        if quoted || !byte.is_ascii_whitespace() {
            kept = value.len();
        }
    }
    value.truncate(kept);
    value
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_file_is_found_in_the_configuration() {
        for (text, expected) in [
            ("[core]\n\texcludesFile = ~/.ignore # mine\n", Some("~/.ignore")),
            ("[CORE] ExcludesFile = \"/a b \" \n", Some("/a b ")),
            ("[user]\nexcludesfile = /no\n", None),
            ("[core]\nexcludesfile = /a\nexcludesfile=/b\\\\c\n[core \"x\"]\nexcludesfile=/d", Some("/b\\c")),
            ("[core]\nexcludesfile\n", None),
            ("[core\nexcludesfile = \n", None),
        ] {
            assert_eq!(excludes_file(text.as_bytes()).as_deref(), expected.map(str::as_bytes), "{text}");
        }
    }

    #[test]
    fn the_users_file_has_a_default_place_and_damaged_text_ends_nothing() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path();
        let of_home = |config: Option<&Path>| {
            let mut faults = IgnoreFaults::default();
            let config = config.map(Path::to_path_buf);
            let rules = UserRules::of_home(Some(home.to_path_buf()), config, &mut faults);
            let ignores =
                |name: &str| rules.list.as_ref().and_then(|list| list.ignores(name.as_bytes(), false));
            (ignores("a"), ignores("b"), ignores("c"))
        };
        assert_eq!(of_home(None), (None, None, None));
        fs::create_dir_all(home.join(".config/git")).unwrap();
        fs::write(home.join(".config/git/ignore"), "a").unwrap();
        assert_eq!(of_home(None), (Some(true), None, None));
        assert_eq!(of_home(Some(Path::new("/none"))), (None, None, None));
        fs::write(home.join(".config/git/config"), "[core]\nexcludesfile=~/b").unwrap();
        fs::write(home.join("b"), "b").unwrap();
        assert_eq!(of_home(None), (None, Some(true), None));
        fs::write(home.join(".gitconfig"), format!("[core]\nexcludesfile={}/c", home.display())).unwrap();
        fs::write(home.join("c"), "c\n[").unwrap();
        assert_eq!(of_home(None), (None, None, Some(true)));
        let mut random = fastrand::Rng::new();
        for _ in 0..20_000 {
            let count = random.usize(..20);
            let bytes = b"[core]\n=\"\\#excludesfile ";
            let text: Vec<u8> = (0..count).map(|_| bytes[random.usize(..bytes.len())]).collect();
            let _ = excludes_file(&text);
            assert!(value(&text).len() <= text.len());
        }
    }
}
