//! Headers of HDF5 files, which netCDF-4, MATLAB 7.3 and many others are.
//!
//! The crate `hdf5-reader` knows the structures on disk. It wants a storage that lives as long as it does,
//! so it runs on a thread of its own and asks this one for bytes. A panic of the crate ends that thread only,
//! where panics unwind. Read `walk` first: it turns groups into [`Group`]s; `value` makes text of attributes
//! and types, and `links` finds links that lead to no group or dataset.

mod links;
mod value;
mod walk;

use std::io::{Read, Seek};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, Sender, SyncSender};
use std::thread;

use hdf5_reader::storage::{BlockCacheStorage, RangeRequestStorage};
use hdf5_reader::{Hdf5File, OpenOptions};

use super::bytes::{MOST_READ, Source};
use super::cdl::{self, Group};
use crate::error::ExtractError;
use crate::output::Output;

const FORMAT: &str = "HDF5";
/// The stack of the thread that reads: enough for the deepest nest of types that the crate allows.
const STACK: usize = 16 << 20;
/// The most bytes of a file that are read for its header, repeats included.
const MOST_BYTES: u64 = 1 << 30;
/// The longest list of members or links that one object may have.
const MOST_OBJECT_HEADER: usize = 16 << 20;
const BLOCK: usize = 32 << 10;
const BLOCKS: usize = 512;

/// A wish for bytes of the file.
struct Ask {
    offset: u64,
    len: usize,
    reply: Sender<std::io::Result<Vec<u8>>>,
}

/// Writes the header of an HDF5 file.
pub(crate) fn extract(
    source: &mut Source<'_, impl Read + Seek>,
    out: &mut Output,
) -> Result<(), ExtractError> {
    let (ask, asked) = mpsc::sync_channel(0);
    let size = source.size();
    let reader = thread::Builder::new().stack_size(STACK).spawn(move || read_header(size, ask))?;
    serve(source, asked);
    let (root, trouble) =
        reader.join().map_err(|_| ExtractError::damaged(FORMAT, "the reader of HDF5 failed"))?;
    cdl::write(if root.is_netcdf() { "netCDF-4" } else { FORMAT }, &root, out);
    trouble.map_or(Ok(()), |reason| Err(ExtractError::damaged(FORMAT, reason)))
}

/// Answers the reader until it ends.
fn serve(source: &mut Source<'_, impl Read + Seek>, asked: Receiver<Ask>) {
    while let Ok(Ask { offset, len, reply }) = asked.recv() {
        // A reader that went away needs no answer.
        let _ = reply.send(source.read_at(offset, len));
    }
}

/// The root group, and the first thing in the file that could not be read.
fn read_header(size: u64, ask: SyncSender<Ask>) -> (Group, Option<String>) {
    let left = AtomicU64::new(MOST_BYTES);
    let ranges = RangeRequestStorage::new(size, move |offset, len| request(&ask, &left, offset, len));
    let storage = BlockCacheStorage::new(Arc::new(ranges), BLOCK, BLOCKS);
    let options = OpenOptions {
        chunk_cache_bytes: 0,
        max_chunk_bytes: 0,
        max_read_bytes: 0,
        max_object_header_bytes: MOST_OBJECT_HEADER,
        ..OpenOptions::default()
    };
    let file = Hdf5File::from_storage_with_options(Arc::new(storage), options);
    match file.and_then(|file| Ok((file.root_group()?, file))) {
        Ok((root, file)) => walk::read(file, &root),
        Err(error) => (Group::default(), Some(error.to_string())),
    }
}

fn request(
    ask: &SyncSender<Ask>,
    left: &AtomicU64,
    offset: u64,
    len: usize,
) -> hdf5_reader::error::Result<Vec<u8>> {
    let refused = |reason: &str| hdf5_reader::error::Error::InvalidData(reason.to_string());
    let taken = u64::try_from(len).unwrap_or(u64::MAX);
    let has_left =
        left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(taken)).is_ok();
    if len > MOST_READ || !has_left {
        return Err(refused("the header is too large"));
    }
    let (reply, answer) = mpsc::channel();
    ask.send(Ask { offset, len, reply }).map_err(|_| refused("the file is closed"))?;
    Ok(answer.recv().map_err(|_| refused("the file is closed"))??)
}

impl Group {
    /// Whether the file was written by the netCDF library.
    fn is_netcdf(&self) -> bool {
        self.attributes.iter().any(|attribute| attribute.name == "_NCProperties")
    }
}
