//! The names of users or groups by their numbers: from a file like /etc/passwd or /etc/group, or from the
//! system.
//!
//! The system is asked through `getent`, which knows what the name service of this machine knows (LDAP or
//! SSSD, for example), once for each number that its file does not have. If `getent` does not answer in time,
//! it is not asked again.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, RwLock};
use std::time::{Duration, Instant};

use hashbrown::HashMap;

use crate::error::{Error, Result};
use crate::sys::{lock, unpoisoned};

/// How long `getent` may take for one number.
const PATIENCE: Duration = Duration::from_secs(5);

/// The time between two looks whether `getent` has ended.
const LOOK_EVERY: Duration = Duration::from_micros(500);

/// A database of names, as `getent` calls it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NameDatabase {
    /// Users.
    Passwd,
    /// Groups.
    Group,
}

impl NameDatabase {
    /// Its name.
    fn name(self) -> &'static str {
        match self {
            NameDatabase::Passwd => "passwd",
            NameDatabase::Group => "group",
        }
    }
}

/// The names that are known so far.
pub(super) struct OwnerNames {
    /// By number; `None` for numbers without a name.
    known: RwLock<HashMap<u32, Option<Arc<[u8]>>>>,
    /// `None` if a file has all names.
    asker: Option<Mutex<NameAsker>>,
}

/// Asks the name service.
struct NameAsker {
    program: PathBuf,
    database: NameDatabase,
    /// True once it did not answer.
    is_silent: bool,
}

impl OwnerNames {
    /// The names in a file, or else those of the system.
    ///
    /// # Errors
    /// The file cannot be read.
    pub(super) fn of(database: NameDatabase, file: Option<&Path>) -> Result<Self> {
        let known = match file {
            Some(file) => fs::read(file).map_err(|error| Error::io("read", file, error))?,
            None => fs::read(Path::new("/etc").join(database.name())).unwrap_or_default(),
        };
        let asker = match file {
            Some(_) => None,
            None => Some(NameAsker { program: "getent".into(), database, is_silent: false }),
        };
        Ok(OwnerNames::new(&known, asker))
    }

    fn new(text: &[u8], asker: Option<NameAsker>) -> Self {
        let mut known = HashMap::new();
        for (number, name) in text.split(|&byte| byte == b'\n').filter_map(entry) {
            // Programs show the first name that is listed for a number.
            known.entry(number).or_insert_with(|| Some(name.into()));
        }
        OwnerNames { known: RwLock::new(known), asker: asker.map(Mutex::new) }
    }

    /// The name of a user or group; `None` if there is none.
    pub(super) fn get(&self, number: u32) -> Option<Arc<[u8]>> {
        let known = || unpoisoned(self.known.read()).get(&number).cloned();
        if let Some(name) = known() {
            return name;
        }
        let mut asker = lock(self.asker.as_ref()?);
        // Another thread may have asked in the meantime.
        known().unwrap_or_else(|| {
            let name: Option<Arc<[u8]>> = asker.ask(number).map(Into::into);
            unpoisoned(self.known.write()).insert(number, name.clone());
            name
        })
    }
}

impl NameAsker {
    /// The name of a number; `None` if it has none, or nobody answers.
    fn ask(&mut self, number: u32) -> Option<Vec<u8>> {
        if self.is_silent {
            return None;
        }
        let answer = self.answer(number, Instant::now() + PATIENCE);
        self.is_silent = answer.is_none();
        let answer = answer?;
        let (of, name) = answer.split(|&byte| byte == b'\n').find_map(entry)?;
        (of == number).then(|| name.to_vec())
    }

    /// What `getent` prints about a number; `None` if it cannot be started or does not end in time.
    fn answer(&self, number: u32, until: Instant) -> Option<Vec<u8>> {
        let mut command = Command::new(&self.program);
        command.arg(self.database.name()).arg(number.to_string());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().ok()?;
        // The answer is a line, or the list of the members of a group: reading must not wait for its end.
        let output = child.stdout.take()?;
        let reader = std::thread::Builder::new().spawn(move || {
            let (mut output, mut text) = (output, Vec::new());
            std::io::Read::read_to_end(&mut output, &mut text).map(|_| text)
        });
        while child.try_wait().ok()?.is_none() {
            if Instant::now() > until {
                let _ = child.kill();
                let _ = child.wait();
                return None;
            }
            std::thread::sleep(LOOK_EVERY);
        }
        reader.ok()?.join().ok()?.ok()
    }
}

/// The number and the name in a line of such a file: the third and the first of its values between colons.
fn entry(line: &[u8]) -> Option<(u32, &[u8])> {
    let mut values = line.split(|&byte| byte == b':');
    let (name, _, number) = (values.next()?, values.next()?, values.next()?);
    let number = std::str::from_utf8(number).ok()?.parse().ok()?;
    (!name.is_empty()).then_some((number, name))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    /// A program that notes its arguments in a file beside it.
    fn asker(place: &Path, script: &str) -> NameAsker {
        let program = place.join("getent");
        let text = format!("#!/bin/sh\necho \"$@\" >> {}\n{script}\n", place.join("asked").display());
        fs::write(&program, text).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        NameAsker { program, database: NameDatabase::Passwd, is_silent: false }
    }

    #[test]
    fn the_name_service_is_asked_once_for_each_number_that_the_file_lacks() {
        let place = tempfile::tempdir().unwrap();
        let script = "[ $2 = 5 ] && exit 2; echo \"user$2:x:$2:1:Someone:/home:/bin/sh\"";
        let names = OwnerNames::new(
            b"root:x:0:0::/:/bin/sh\nother:x:0\nbad:x:y\n",
            Some(asker(place.path(), script)),
        );
        let name = |number| names.get(number).map(|name| String::from_utf8_lossy(&name).into_owned());
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..3 {
                        assert_eq!(name(0).as_deref(), Some("root"));
                        assert_eq!(name(1234).as_deref(), Some("user1234"));
                        assert_eq!(name(5), None);
                    }
                });
            }
        });
        let asked = fs::read_to_string(place.path().join("asked")).unwrap();
        let mut asked: Vec<_> = asked.lines().collect();
        asked.sort_unstable();
        assert_eq!(asked, ["passwd 1234", "passwd 5"]);
    }

    #[test]
    fn a_name_service_that_is_silent_or_lies_gives_no_names() {
        let place = tempfile::tempdir().unwrap();
        let silent = asker(place.path(), "exec sleep 100");
        assert!(silent.answer(7, Instant::now() + Duration::from_millis(50)).is_none());
        let missing = NameAsker { program: place.path().join("missing"), ..silent };
        let names = OwnerNames::new(b"", Some(missing));
        assert_eq!((names.get(7), names.get(8)), (None, None));
        let lies = OwnerNames::new(b"", Some(asker(place.path(), "echo root:x:0:0; yes | head -c 300000")));
        assert_eq!(lies.get(7), None);
        assert_eq!(OwnerNames::new(b"a:x:1\n", None).get(2), None, "the file has all names");
    }

    #[test]
    fn the_names_of_this_system_are_those_of_its_files() {
        let names = OwnerNames::of(NameDatabase::Group, None).unwrap();
        assert_eq!(names.get(0).as_deref(), Some(&b"root"[..]));
        let error = OwnerNames::of(NameDatabase::Passwd, Some(Path::new("/no/such/file"))).map(drop);
        assert!(error.unwrap_err().to_string().contains("/no/such/file"));
    }
}
