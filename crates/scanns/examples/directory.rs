//! An index in an object store: a custom `Directory`.
//!
//! ```sh
//! cargo run --release --example directory
//! ```
//!
//! An object store cannot append to files, rename them or lock them; it only puts and gets whole objects.
//! That is enough for an index: a file is put when it is complete, a rename is a copy and a delete, and the
//! lock is whatever the store offers. Here the store is a map in memory that counts its requests; a real
//! program would call a network service instead.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use scanns::schema::{Document, FieldEntry, Schema};
use scanns::search::Model;
use scanns::store::{Bytes, Directory, Output, WriterLock};
use scanns::writer::WriterOptions;
use scanns::{Error, Index, Result};

/// Objects by name, and the number of requests.
#[derive(Debug, Default)]
struct Objects {
    objects: Mutex<BTreeMap<String, Arc<[u8]>>>,
    puts: AtomicU64,
    gets: AtomicU64,
    is_locked: AtomicBool,
}

impl Objects {
    /// Calls `work` with the objects. No change is ever left half done under the lock, so a panicked thread
    /// leaves valid data.
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
    /// The number of put requests, and of get requests.
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

    /// Does nothing: an object is durable as soon as it was put.
    fn sync(&self) -> Result<()> {
        Ok(())
    }

    fn lock(&self) -> Result<WriterLock> {
        if self.store.is_locked.swap(true, Ordering::Acquire) {
            return Err(Error::Locked { path: self.describe().into(), here: true });
        }
        Ok(WriterLock::new(Unlock(self.store.clone())))
    }

    fn describe(&self) -> String {
        "objects in memory".into()
    }
}

/// Frees the writer's lock when it is dropped.
#[derive(Debug)]
struct Unlock(Arc<Objects>);

impl Drop for Unlock {
    fn drop(&mut self) {
        self.0.is_locked.store(false, Ordering::Release);
    }
}

/// A file being written. It becomes an object when it is finished, and is invisible before.
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
