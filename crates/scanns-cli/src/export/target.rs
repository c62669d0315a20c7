//! Where rows go: standard output, or a file that gets its name when it is whole.
//!
//! Until then it is called `FILE.part`. Of text, which can be cut anywhere, a small file `FILE.part.state`
//! beside it says now and then how far it has come: which rows and bytes are in it for certain, what was
//! asked, of which commit, and a checksum of those bytes. Both are brought to the medium by a thread of their
//! own. `--resume` compares all of that, cuts off what came after, and goes on. Arrow and Parquet end with
//! what was written before, so they are begun anew.
//!
//! At the beginning the state goes before the part is emptied, and at the end the part gets its name before
//! the state goes: so a state without its part, or a part without a state, is of no use, and a state with a
//! part is of that part.

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

/// How far an export has come.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// What was asked, by what to call it in an error.
    what: Map<String, Json>,
    /// Rows that are written.
    pub rows: u64,
    /// The leaf and the document that come next in the order of documents.
    pub next: (usize, u32),
    /// Bytes that are written.
    bytes: u64,
    /// Their checksum, XXH3.
    checksum: u64,
}

/// What was written.
#[derive(Default)]
pub struct Tally {
    bytes: u64,
    checksum: Xxh3Default,
}

/// See the module.
pub struct Target {
    /// Where rows go.
    pub file: File,
    /// That of text.
    tally: RefCell<Tally>,
    /// None for standard output, devices and pipes.
    paths: Option<Paths>,
    /// What an earlier run has written.
    pub before: State,
}

#[derive(Clone)]
struct Paths {
    whole: PathBuf,
    part: PathBuf,
    state: PathBuf,
    /// True if the part can be gone on with.
    resumable: bool,
}

/// Writes to the file of a target, and keeps count.
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
    /// Standard output if `path` is `-`, a device or a pipe if it is one, or a part, which is gone on with if
    /// `resume` says what has to be the same.
    pub fn open(path: &Path, resumable: bool, resume: Option<&Map<String, Json>>) -> Result<Self> {
        if path.as_os_str() == "-" {
            let file = File::from(io::stdout().as_fd().try_clone_to_owned()?);
            return Ok(Self::stream(file));
        }
        // A device or a pipe keeps its name: replacing it with a file is never what was meant.
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
        let tally = tally(&mut file, &before)
            .with_context(|| format!("cannot go on with {}", paths.part.display()))?;
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

    /// True for what is not a file: nothing that was written can be taken back.
    pub fn is_stream(&self) -> bool {
        self.paths.is_none()
    }

    /// Where temporary files are made: beside the file, or where the system has them.
    pub fn place(&self) -> PathBuf {
        let parent = self.paths.as_ref().and_then(|paths| paths.whole.parent());
        match parent {
            None => std::env::temp_dir(),
            Some(parent) if parent.as_os_str().is_empty() => PathBuf::from("."),
            Some(parent) => parent.into(),
        }
    }

    /// For text.
    pub fn counted(&self) -> Counted<'_> {
        Counted { target: self }
    }

    /// Forgets what was written, which cannot be done for standard output.
    pub fn begin_anew(&self) -> io::Result<()> {
        self.file.set_len(0)?;
        (&self.file).rewind()
    }

    /// Gives the file its name.
    pub fn finish(&self) -> Result<()> {
        let Some(Paths { whole, part, state, .. }) = &self.paths else { return Ok(()) };
        fs::rename(part, whole).with_context(|| format!("cannot give {} its name", whole.display()))?;
        // It is of no use any more, and does no harm.
        let _ = fs::remove_file(state);
        Ok(())
    }

    /// Removes what cannot be gone on with; says how to go on with what can.
    pub fn give_up(&self) -> Option<String> {
        let paths = self.paths.as_ref()?;
        if paths.resumable && paths.state.exists() {
            let part = paths.part.display();
            return Some(format!("{part} has what was written; the same command with --resume goes on"));
        }
        // What went wrong is told; a part that cannot be gone on with helps nobody.
        let _ = fs::remove_file(&paths.part);
        None
    }
}

/// Verifies what is written already, and goes to its end.
fn tally(file: &mut File, before: &State) -> Result<Tally> {
    let (mut tally, mut piece) = (Tally::default(), vec![0; 1 << 20]);
    while tally.bytes < before.bytes {
        let most =
            usize::try_from(before.bytes - tally.bytes).map_or(piece.len(), |left| left.min(piece.len()));
        let read = piece.get_mut(..most).map_or(Ok(0), |piece| file.read(piece))?;
        if read == 0 {
            bail!("it is shorter than it was: leave --resume out to begin anew");
        }
        tally.bytes += read as u64;
        tally.checksum.update(piece.get(..read).unwrap_or_default());
    }
    if tally.checksum.digest() != before.checksum {
        bail!("it is not what was written: leave --resume out to begin anew");
    }
    file.set_len(before.bytes)?;
    file.seek(SeekFrom::Start(before.bytes))?;
    Ok(tally)
}

impl State {
    /// That of a part, if both are there and `what` is the same.
    fn read(path: &Path, part: &Path, what: &Map<String, Json>) -> Result<Option<Self>> {
        let text = match fs::read(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            read => read.with_context(|| format!("cannot read {}", path.display()))?,
        };
        if !part.exists() {
            return Ok(None);
        }
        let found: State = serde_json::from_slice(&text).map_err(|_| {
            anyhow!("{} is no state of an export: leave --resume out to begin anew", path.display())
        })?;
        for (name, value) in what {
            if found.what.get(name) != Some(value) {
                bail!(
                    "cannot go on with {}: {name} is not what it was; repeat the command as it was, or \
                     leave --resume out to begin anew",
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

/// Says now and then how far a part has come.
pub struct Checkpoints<'t> {
    /// None where there is nothing to go on with.
    to: Option<(&'t Target, &'t Paths)>,
    what: Map<String, Json>,
    every: Duration,
    last: Instant,
    under_way: Option<JoinHandle<io::Result<()>>>,
}

impl<'t> Checkpoints<'t> {
    /// Of a target, for which this was asked.
    pub fn new(target: &'t Target, what: &Map<String, Json>, every: Duration) -> Self {
        let to = target.paths.as_ref().filter(|paths| paths.resumable).map(|paths| (target, paths));
        Checkpoints { to, what: what.clone(), every, last: Instant::now(), under_way: None }
    }

    fn state(&self, rows: u64, next: (usize, u32), target: &Target) -> State {
        let tally = target.tally.borrow();
        State { what: self.what.clone(), rows, next, bytes: tally.bytes, checksum: tally.checksum.digest() }
    }

    /// Records the number of rows that are written, and the next one.
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
        self.under_way = Some(std::thread::spawn(move || {
            file.sync_data()?;
            state.write(&path)
        }));
        self.last = Instant::now();
        Ok(())
    }

    /// The same, and waits for it.
    pub fn now(&mut self, rows: u64, next: (usize, u32)) -> Result<()> {
        let Some((target, paths)) = self.to else { return Ok(()) };
        self.wait()?;
        let written =
            target.file.sync_data().and_then(|()| self.state(rows, next, target).write(&paths.state));
        written.context("cannot bring the rows to the medium")
    }

    /// Waits for what is under way.
    pub fn wait(&mut self) -> Result<()> {
        match self.under_way.take().map(JoinHandle::join) {
            None => Ok(()),
            Some(Ok(written)) => written.context("cannot bring the rows to the medium"),
            Some(Err(_)) => bail!("the thread that brings rows to the medium ended"),
        }
    }
}

impl Drop for Checkpoints<'_> {
    /// A state is not written while another run looks for one.
    fn drop(&mut self) {
        if let Some(thread) = self.under_way.take() {
            let _ = thread.join();
        }
    }
}
