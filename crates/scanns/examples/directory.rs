//! An index in a store of objects: a `Directory` of your own.
//!
//! ```sh
//! cargo run --release --example directory
//! ```
//!
//! An object store has no files that grow, no names that move and no locks, only objects that are put and got
//! whole. That is enough: a file is put when it is finished, a rename is a copy and a delete, and a lock is
//! whatever the store has for it. Here the store is a map in memory that counts its requests; a service of a
//! network would take its place.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use scanns::schema::{Document, FieldEntry, Schema};
use scanns::search::Model;
use scanns::store::{Bytes, Directory, Output, WriterLock};
use scanns::writer::WriterOptions;
use scanns::{Error, Index, Result};

/// Objects by name, and how often they were asked for.
#[derive(Debug, Default)]
struct Objects {
    objects: Mutex<BTreeMap<String, Arc<[u8]>>>,
    puts: AtomicU64,
    gets: AtomicU64,
    is_locked: AtomicBool,
}

impl Objects {
    /// Works on the objects; nothing is ever half done under the lock, so a thread that panicked did no harm.
    fn with<T>(&self, work: impl FnOnce(&mut BTreeMap<String, Arc<[u8]>>) -> T) -> T {
        work(&mut self.objects.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn get(&self, action: &'static str, name: &str) -> Result<Arc<[u8]>> {
        self.gets.fetch_add(1, Ordering::Relaxed);
        let missing = || Error::Io { action, path: name.into(), source: io::ErrorKind::NotFound.into() };
        self.with(|objects| objects.get(name).cloned()).ok_or_else(missing)
    }

    fn put(&self, name: &str, bytes: Arc<[u8]>) {
        self.puts.fetch_add(1, Ordering::Relaxed);
        self.with(|objects| objects.insert(name.into(), bytes));
    }
}

/// The index's view of the store.
#[derive(Clone, Debug, Default)]
pub struct ObjectDirectory {
    store: Arc<Objects>,
}

impl ObjectDirectory {
    /// How many objects were put, and how many were got.
    pub fn requests(&self) -> (u64, u64) {
        (self.store.puts.load(Ordering::Relaxed), self.store.gets.load(Ordering::Relaxed))
    }
}

impl Directory for ObjectDirectory {
    fn create(&self, name: &str) -> Result<Box<dyn Output>> {
        Ok(Box::new(Upload { store: self.store.clone(), name: name.into(), bytes: Vec::new() }))
    }

    fn open(&self, name: &str) -> Result<Bytes> {
        Ok(Bytes::from(self.store.get("open", name)?))
    }

    fn rename(&self, from: &str, to: &str) -> Result<()> {
        let bytes = self.store.get("rename", from)?;
        self.store.put(to, bytes);
        self.remove(from)
    }

    fn remove(&self, name: &str) -> Result<()> {
        self.store.with(|objects| objects.remove(name));
        Ok(())
    }

    fn list(&self) -> Result<Vec<String>> {
        Ok(self.store.with(|objects| objects.keys().cloned().collect()))
    }

    /// An object that was put is there: nothing is left to do.
    fn sync(&self) -> Result<()> {
        Ok(())
    }

    fn lock(&self) -> Result<WriterLock> {
        if self.store.is_locked.swap(true, Ordering::Acquire) {
            return Err(Error::Locked { path: self.describe().into() });
        }
        Ok(WriterLock::new(Unlock(self.store.clone())))
    }

    fn describe(&self) -> String {
        "objects in memory".into()
    }
}

/// Frees the writer's lock when the index drops it.
#[derive(Debug)]
struct Unlock(Arc<Objects>);

impl Drop for Unlock {
    fn drop(&mut self) {
        self.0.is_locked.store(false, Ordering::Release);
    }
}

/// A file being written. It becomes an object when it is finished; before, nobody sees it.
struct Upload {
    store: Arc<Objects>,
    name: String,
    bytes: Vec<u8>,
}

impl Write for Upload {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Output for Upload {
    fn finish(self: Box<Self>) -> Result<()> {
        self.store.put(&self.name, self.bytes.into());
        Ok(())
    }
}

fn main() -> Result<()> {
    let directory = ObjectDirectory::default();
    let mut schema = Schema::new();
    let text = schema.add(FieldEntry::text("text").positions())?;
    let index = Index::in_directory(Arc::new(directory.clone()));
    let writer = index.writer_with(Some(&schema), WriterOptions::default())?;
    writer.add(&Document::new("mail-1").text(text, "The index is ready."))?;
    writer.add(&Document::new("mail-2").text(text, "Is it ready now?"))?;
    writer.commit()?;

    let snapshot = index.snapshot()?;
    let query = snapshot.parse("\"is ready\"", scanns::query::Operator::Or)?;
    for hit in snapshot.searcher().top_k(&query, Model::Classic, 10)? {
        println!("{:.3}  {}", hit.score, String::from_utf8_lossy(&snapshot.key(&hit)?));
    }
    let (puts, gets) = directory.requests();
    println!("{puts} objects put, {gets} got");
    Ok(())
}
