//! Users by the name service, whose answers are kept for a minute.

use std::collections::HashMap;
use std::hash::Hash;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use scanns::access::{AccessUser, named_user, user_name};
use tokio::sync::Semaphore;

/// How long an answer is used.
const KEPT: Duration = Duration::from_secs(60);

/// Answers that are kept; beyond it, all are forgotten.
const MOST: usize = 10_000;

/// Names that are looked up at the same time.
const LOOK_UPS: usize = 4;

/// The longest name of a user.
const LONGEST: usize = 256;

/// Looks users up.
pub struct UserNames {
    users: Answers<String, Option<Arc<AccessUser>>>,
    names: Answers<u32, Arc<str>>,
    look_ups: Semaphore,
    look_up: fn(&str) -> io::Result<Option<AccessUser>>,
}

impl Default for UserNames {
    fn default() -> Self {
        UserNames::with(named_user)
    }
}

impl UserNames {
    fn with(look_up: fn(&str) -> io::Result<Option<AccessUser>>) -> Self {
        UserNames {
            users: Answers::default(),
            names: Answers::default(),
            look_ups: Semaphore::new(LOOK_UPS),
            look_up,
        }
    }

    /// The user of a name, with the groups that a login would give now; `None` if there is none. A number is
    /// not a name, although programs of the system take one for the user with this number.
    ///
    /// # Errors
    ///
    /// The name service does not answer.
    pub async fn user(&self, name: &str) -> io::Result<Option<Arc<AccessUser>>> {
        if !is_name(name) {
            return Ok(None);
        }
        if let Some(known) = self.users.get(name) {
            return Ok(known);
        }
        let _permit = self.look_ups.acquire().await.map_err(io::Error::other)?;
        // Another request may have asked meanwhile.
        if let Some(known) = self.users.get(name) {
            return Ok(known);
        }
        let (look_up, asked) = (self.look_up, name.to_owned());
        let found =
            tokio::task::spawn_blocking(move || look_up(&asked)).await.map_err(io::Error::other)??;
        let found = found.map(Arc::new);
        self.users.put(name.to_owned(), found.clone());
        Ok(found)
    }

    /// The name of a user, or the number if there is none.
    pub async fn name(&self, uid: u32) -> Arc<str> {
        if let Some(known) = self.names.get(&uid) {
            return known;
        }
        let Ok(_permit) = self.look_ups.acquire().await else { return number_as_name(uid) };
        if let Some(known) = self.names.get(&uid) {
            return known;
        }
        let found = tokio::task::spawn_blocking(move || user_name(uid)).await;
        let name = match found {
            Ok(Ok(Some(name))) => name.into(),
            // Without a name service, people are shown by number.
            _ => number_as_name(uid),
        };
        self.names.put(uid, Arc::clone(&name));
        name
    }
}

fn number_as_name(uid: u32) -> Arc<str> {
    format!("uid {uid}").into()
}

/// Whether a text can be the name of a user, and nothing that a program takes for something else.
fn is_name(name: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b':' | b'/' | b',');
    !name.is_empty()
        && name.len() <= LONGEST
        && name.bytes().all(is_allowed)
        && !name.starts_with(['-', '+'])
        && !name.bytes().all(|byte| byte.is_ascii_digit())
}

/// Answers with the time when they were given.
struct Answers<K, V>(Mutex<HashMap<K, (Instant, V)>>);

impl<K, V> Default for Answers<K, V> {
    fn default() -> Self {
        Answers(Mutex::new(HashMap::new()))
    }
}

impl<K: Eq + Hash, V: Clone> Answers<K, V> {
    fn get<Q: Eq + Hash + ?Sized>(&self, key: &Q) -> Option<V>
    where
        K: std::borrow::Borrow<Q>,
    {
        let answers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        answers.get(key).filter(|(given, _)| given.elapsed() < KEPT).map(|(_, answer)| answer.clone())
    }

    fn put(&self, key: K, answer: V) {
        let mut answers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if answers.len() >= MOST {
            answers.clear();
        }
        answers.insert(key, (Instant::now(), answer));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn numbers_and_options_are_not_names() {
        for name in ["anna", "a.b-c_d$", "anna@example.org", "EXAMPLE\\anna", "4711a"] {
            assert!(is_name(name), "{name}");
        }
        for name in
            ["", "0", "4711", "+0", "-u", "--help", "a b", "a:b", "../x", "a\n", "ä", &"a".repeat(257)]
        {
            assert!(!is_name(name), "{name}");
        }
    }

    #[tokio::test]
    async fn the_name_service_is_asked_once() {
        static ASKED: AtomicUsize = AtomicUsize::new(0);
        let names = UserNames::with(|name| {
            ASKED.fetch_add(1, Ordering::Relaxed);
            match name {
                "anna" => Ok(Some(AccessUser::new(7, 8, &[9]))),
                "broken" => Err(io::Error::other("no answer")),
                _ => Ok(None),
            }
        });
        for _ in 0..3 {
            let anna = names.user("anna").await.unwrap().unwrap();
            assert!(anna.uid() == 7 && anna.is_in(9));
            assert_eq!(names.user("nobody-of-this-name").await.unwrap(), None);
            assert_eq!(names.user("0").await.unwrap(), None);
        }
        assert_eq!(ASKED.load(Ordering::Relaxed), 2);
        assert!(names.user("broken").await.is_err() && names.user("broken").await.is_err());
        assert_eq!(ASKED.load(Ordering::Relaxed), 4, "a failure is not kept");
    }

    #[tokio::test]
    async fn users_without_a_name_are_shown_by_number() {
        let names = UserNames::default();
        assert_eq!(&*names.name(0).await, "root");
        assert_eq!(&*names.name(4_000_000_000).await, "uid 4000000000");
    }
}
