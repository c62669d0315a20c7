//! Memory that requests share, such as that of all bodies: in all, and of one user at most a half.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Memory that requests share.
#[derive(Clone, Debug)]
pub struct SharedMemory {
    held: Arc<Mutex<HeldMemory>>,
    most: usize,
}

#[derive(Debug, Default)]
struct HeldMemory {
    all: usize,
    of_users: HashMap<Arc<str>, usize>,
}

/// What a request holds of it, until this value is dropped.
#[derive(Debug)]
pub struct MemoryShare {
    memory: SharedMemory,
    /// Those whose shares are limited; others can have all.
    user: Option<Arc<str>>,
    bytes: usize,
}

impl SharedMemory {
    /// Memory of a size in bytes.
    pub fn new(most: usize) -> Self {
        SharedMemory { held: Arc::default(), most }
    }

    /// Nothing yet, of a user or of somebody who can have all.
    pub fn share(&self, user: Option<Arc<str>>) -> MemoryShare {
        MemoryShare { memory: self.clone(), user, bytes: 0 }
    }

    fn lock(&self) -> MutexGuard<'_, HeldMemory> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl MemoryShare {
    /// Holds this number of bytes, if it holds less. Returns false, and holds what it held, if that is too
    /// much.
    #[must_use]
    pub fn grow_to(&mut self, bytes: usize) -> bool {
        let Some(more) = bytes.checked_sub(self.bytes) else { return true };
        let most = self.memory.most;
        let mut held = self.memory.lock();
        let all = held.all.saturating_add(more);
        if all > most {
            return false;
        }
        if let Some(user) = &self.user {
            let own = held.of_users.get(user).copied().unwrap_or(0).saturating_add(more);
            if own > most / 2 {
                return false;
            }
            held.of_users.insert(Arc::clone(user), own);
        }
        held.all = all;
        self.bytes = bytes;
        true
    }
}

impl Drop for MemoryShare {
    fn drop(&mut self) {
        let mut held = self.memory.lock();
        held.all -= self.bytes;
        if let Some(user) = &self.user
            && let Entry::Occupied(mut own) = held.of_users.entry(Arc::clone(user))
        {
            *own.get_mut() -= self.bytes;
            if *own.get() == 0 {
                own.remove();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_has_at_most_a_half_and_others_the_rest() {
        let memory = SharedMemory::new(100);
        let user = |name: &str| memory.share(Some(name.into()));
        let (mut anna, mut again, mut ben) = (user("anna"), user("anna"), user("ben"));
        assert!(anna.grow_to(30) && again.grow_to(20) && anna.grow_to(10));
        assert!(!again.grow_to(21) && ben.grow_to(50));
        let mut owner = memory.share(None);
        assert!(!owner.grow_to(1) && owner.grow_to(0));
        drop(anna);
        assert!(owner.grow_to(30) && !owner.grow_to(31) && again.grow_to(20));
        drop((again, ben, owner));
        let held = memory.lock();
        assert_eq!((held.all, held.of_users.len()), (0, 0));
        drop(held);
        assert!(memory.share(None).grow_to(100));
    }
}
