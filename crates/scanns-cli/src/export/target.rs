//! The target of rows: standard output, or a file that gets its name when it is complete.
//!
//! Until then the file is called `FILE.part`. Text can be cut anywhere, so its progress is saved from time
//! to time in a small file `FILE.part.state`: the rows and bytes that are durable, a checksum of these
//! bytes, the query and options, and the commit of the index. A thread syncs both files. `--resume` verifies
//! all of this, cuts off the bytes after it, and continues. The end of an Arrow or Parquet file depends on
//! all that was written before, so an export to these formats starts again.
//!
//! At the beginning the state is removed before the part is emptied, and at the end the part is renamed
//! before the state is removed. So a state without a part, or a part without a state, is useless, and a
//! state next to a part belongs to it.

use std::cell::RefCell;
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Context, Error, Result, anyhow, bail};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};
use xxhash_rust::xxh3::Xxh3Default;

use crate::output::ensure_open;

/// The progress of an export.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// The query, the options and the index, by their names in errors.
    what: Map<String, Json>,
    /// The number of rows written.
    pub rows: u64,
    /// The next leaf and document in index order.
    pub next: (usize, u32),
    /// The number of bytes written.
    bytes: u64,
    /// Their checksum, XXH3.
    checksum: u64,
}

/// The number and the checksum of the bytes written.
#[derive(Default)]
pub struct Tally {
    bytes: u64,
    checksum: Xxh3Default,
}

/// The standard output or file that an export writes.
pub struct Target {
    /// The file that rows are written to.
    pub file: File,
    /// The tally of the text written so far.
    tally: RefCell<Tally>,
    /// `None` for standard output, devices and pipes.
    paths: Option<Paths>,
    /// The progress of an earlier run.
    pub before: State,
}

#[derive(Clone)]
struct Paths {
    whole: PathBuf,
    part: PathBuf,
    state: PathBuf,
    /// True if the export can be resumed.
    resumable: bool,
}

/// Writes to the file of a target and updates its tally.
pub struct Counted<'t> {
    target: &'t Target,
}

impl Write for Counted<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = (&self.target.file).write(bytes)?;
        let mut tally = self.target.tally.borrow_mut();
        tally.bytes += written as u64;
        tally.checksum.update(bytes.get(..written).unwrap_or(bytes));
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        (&self.target.file).flush()
    }
}

/// True for standard output, devices and pipes.
pub fn is_stream(path: &Path) -> bool {
    path.as_os_str() == "-" || fs::metadata(path).is_ok_and(|found| !found.is_file())
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(ending);
    PathBuf::from(name)
}

impl Target {
    /// Opens standard output if `path` is `-`, a device or a pipe, or else a part. With `resume`, an existing
    /// part is resumed if its state has the same values.
    pub fn open(path: &Path, resumable: bool, resume: Option<&Map<String, Json>>) -> Result<Self> {
        if path.as_os_str() == "-" {
            ensure_open()?;
            let file = File::from(io::stdout().as_fd().try_clone_to_owned()?);
            return Ok(Self::stream(file));
        }
        // A device or a pipe is written directly, since nobody wants to replace it with a file.
        if is_stream(path) {
            let opened = OpenOptions::new().write(true).open(path);
            return Ok(Self::stream(opened.with_context(|| format!("cannot write {}", path.display()))?));
        }
        let (part, state) = (beside(path, ".part"), beside(path, ".part.state"));
        let found = match resume {
            Some(what) => State::read(&state, &part, what)?,
            None => None,
        };
        let paths = Paths { whole: path.into(), part, state, resumable };
        let Some(before) = found else { return Self::begin(paths) };
        let opened = OpenOptions::new().read(true).write(true).open(&paths.part);
        let mut file = opened.with_context(|| format!("cannot open {}", paths.part.display()))?;
        let tally =
            tally(&mut file, &before).with_context(|| format!("cannot resume {}", paths.part.display()))?;
        Ok(Target { file, tally: RefCell::new(tally), paths: Some(paths), before })
    }

    fn stream(file: File) -> Self {
        Target { file, tally: RefCell::default(), paths: None, before: State::default() }
    }

    fn begin(paths: Paths) -> Result<Self> {
        match fs::remove_file(&paths.state) {
            Err(error) if !matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                return Err(Error::new(error).context(format!("cannot remove {}", paths.state.display())));
            }
            _ => {}
        }
        let file =
            File::create(&paths.part).with_context(|| format!("cannot write {}", paths.part.display()))?;
        Ok(Target { file, tally: RefCell::default(), paths: Some(paths), before: State::default() })
    }

    /// True for standard output, devices and pipes, which cannot be rewritten.
    pub fn is_stream(&self) -> bool {
        self.paths.is_none()
    }

    /// The directory for temporary files: next to the file, or the default of the system.
    pub fn place(&self) -> PathBuf {
        let parent = self.paths.as_ref().and_then(|paths| paths.whole.parent());
        match parent {
            None => std::env::temp_dir(),
            Some(parent) if parent.as_os_str().is_empty() => PathBuf::from("."),
            Some(parent) => parent.into(),
        }
    }

    /// A writer for text.
    pub fn counted(&self) -> Counted<'_> {
        Counted { target: self }
    }

    /// Empties the file, which cannot be done for standard output.
    pub fn begin_anew(&self) -> io::Result<()> {
        self.file.set_len(0)?;
        (&self.file).rewind()
    }

    /// Renames the complete file to its name.
    pub fn finish(&self) -> Result<()> {
        let Some(Paths { whole, part, state, .. }) = &self.paths else { return Ok(()) };
        fs::rename(part, whole)
            .with_context(|| format!("cannot rename the complete file to {}", whole.display()))?;
        // The state is useless now, and harmless if it stays.
        let _ = fs::remove_file(state);
        Ok(())
    }

    /// Removes the part, unless it can be resumed; then returns a note that says how.
    pub fn give_up(&self) -> Option<String> {
        let paths = self.paths.as_ref()?;
        if paths.resumable && paths.state.exists() {
            let part = paths.part.display();
            return Some(format!("the rows are in {part}; the same command with --resume continues"));
        }
        // The caller reports the error; a part that cannot be resumed is useless.
        let _ = fs::remove_file(&paths.part);
        None
    }
}

/// Verifies the bytes of an earlier run, and seeks to their end.
fn tally(file: &mut File, before: &State) -> Result<Tally> {
    let (mut tally, mut piece) = (Tally::default(), vec![0; 1 << 20]);
    while tally.bytes < before.bytes {
        let most =
            usize::try_from(before.bytes - tally.bytes).map_or(piece.len(), |left| left.min(piece.len()));
        let read = piece.get_mut(..most).map_or(Ok(0), |piece| file.read(piece))?;
        if read == 0 {
            bail!("it is shorter than what was written: omit --resume to start again");
        }
        tally.bytes += read as u64;
        tally.checksum.update(piece.get(..read).unwrap_or_default());
    }
    if tally.checksum.digest() != before.checksum {
        bail!("its bytes are not what was written: omit --resume to start again");
    }
    file.set_len(before.bytes)?;
    file.seek(SeekFrom::Start(before.bytes))?;
    Ok(tally)
}

impl State {
    /// Reads the state at `path`, if it and the part exist; `what` must be the same.
    fn read(path: &Path, part: &Path, what: &Map<String, Json>) -> Result<Option<Self>> {
        let text = match fs::read(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            read => read.with_context(|| format!("cannot read {}", path.display()))?,
        };
        if !part.exists() {
            return Ok(None);
        }
        let found: State = serde_json::from_slice(&text).map_err(|_| {
            anyhow!("{} is not the state of an export: omit --resume to start again", path.display())
        })?;
        for (name, value) in what {
            if found.what.get(name) != Some(value) {
                bail!(
                    "cannot resume {}: {name} has changed; repeat the original command, or omit --resume \
                     to start again",
                    part.display()
                );
            }
        }
        Ok(Some(found))
    }

    fn write(&self, path: &Path) -> io::Result<()> {
        let new = beside(path, ".new");
        let mut file = File::create(&new)?;
        file.write_all(&serde_json::to_vec(self)?)?;
        file.sync_all()?;
        fs::rename(&new, path)
    }
}

/// Saves the progress of an export from time to time.
pub struct Checkpoints<'t> {
    /// `None` if the export cannot be resumed.
    to: Option<(&'t Target, &'t Paths)>,
    what: Map<String, Json>,
    every: Duration,
    last: Instant,
    under_way: Option<JoinHandle<io::Result<()>>>,
}

impl<'t> Checkpoints<'t> {
    /// Checkpoints of a target, with what must be the same to resume it.
    pub fn new(target: &'t Target, what: &Map<String, Json>, every: Duration) -> Self {
        let to = target.paths.as_ref().filter(|paths| paths.resumable).map(|paths| (target, paths));
        Checkpoints { to, what: what.clone(), every, last: Instant::now(), under_way: None }
    }

    fn state(&self, rows: u64, next: (usize, u32), target: &Target) -> State {
        let tally = target.tally.borrow();
        State { what: self.what.clone(), rows, next, bytes: tally.bytes, checksum: tally.checksum.digest() }
    }

    /// Saves the number of rows written and the next one, if it is time to.
    pub fn at(&mut self, rows: u64, next: (usize, u32)) -> Result<()> {
        let Some((target, paths)) = self.to.filter(|_| self.last.elapsed() >= self.every) else {
            return Ok(());
        };
        if self.under_way.as_ref().is_some_and(|thread| !thread.is_finished()) {
            return Ok(());
        }
        self.wait()?;
        let (state, path) = (self.state(rows, next, target), paths.state.clone());
        let file = target.file.try_clone().context("cannot write the rows")?;
        let save = move || {
            file.sync_data()?;
            state.write(&path)
        };
        self.last = Instant::now();
        match std::thread::Builder::new().spawn(save) {
            Ok(thread) => self.under_way = Some(thread),
            // Without another thread, the rows wait for the medium.
            Err(_) => self.now(rows, next)?,
        }
        Ok(())
    }

    /// Saves the progress now, and waits until it is durable.
    pub fn now(&mut self, rows: u64, next: (usize, u32)) -> Result<()> {
        let Some((target, paths)) = self.to else { return Ok(()) };
        self.wait()?;
        let written =
            target.file.sync_data().and_then(|()| self.state(rows, next, target).write(&paths.state));
        written.context("cannot sync the rows")
    }

    /// Waits for the current checkpoint.
    pub fn wait(&mut self) -> Result<()> {
        match self.under_way.take().map(JoinHandle::join) {
            None => Ok(()),
            Some(Ok(written)) => written.context("cannot sync the rows"),
            Some(Err(_)) => bail!("the thread that syncs the rows panicked"),
        }
    }
}

impl Drop for Checkpoints<'_> {
    /// Waits, so that no state is written while another run reads one.
    fn drop(&mut self) {
        if let Some(thread) = self.under_way.take() {
            let _ = thread.join();
        }
    }
}
