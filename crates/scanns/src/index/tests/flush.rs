use super::*;
use crate::store::{Bytes, Directory, FsDirectory, Output, RamDirectory, WriterLock};

/// Files whose terms fill the memory of a thread several times, and every term with the number of files that
/// have it.
fn many_terms(root: &Path) -> BTreeMap<Vec<u8>, u64> {
    fs::create_dir(root).unwrap();
    let mut expected = BTreeMap::new();
    for n in 0..24 {
        let words: Vec<String> = (0..90_000).map(|i| format!("t{n}x{i}")).chain(["same".into()]).collect();
        fs::write(root.join(format!("file{n}")), words.join(" ")).unwrap();
        words.into_iter().for_each(|word| *expected.entry(word.into_bytes()).or_default() += 1);
    }
    expected
}

/// Options under which threads write several segments each.
fn small_segments(root: &Path, lanes: usize) -> IndexOptions {
    let mut options = options(root, Records::File, lanes);
    options.segment_memory = Some(16 << 20);
    options
}

#[test]
fn threads_that_write_several_segments_each_lose_nothing() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().join("in");
    let expected = many_terms(&root);
    for lanes in [1, 3] {
        let directory = RamDirectory::new();
        let progress = Progress::new();
        let options = small_segments(&root, lanes);
        let report = build_in(&directory, &options, &progress, &Arc::default()).unwrap();
        assert!(report.segments > lanes && report.flush_seconds > 0.0, "{report:?}");
        assert_eq!((report.documents, report.failed.len()), (24, 0));
        assert_eq!(progress.segments(), report.segments as u64);
        let snapshot = Snapshot::open_in(&directory).unwrap().unwrap();
        let found: BTreeMap<_, _> = snapshot.terms(b"", usize::MAX).unwrap().into_iter().collect();
        assert!(found == expected, "{lanes}");
    }
}

#[test]
fn buffers_of_any_size_give_the_same_bytes_to_read() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().join("in");
    let files = random_files(&mut Rng::with_seed(11), &root);
    let expected = oracle(&files, Records::File);
    for (write, lists, block, write_back) in
        [(512, 8 << 20, 4 << 10, 1 << 10), (4097, 512, 12 << 10, 1 << 30), (8 << 20, 1 << 20, 1 << 20, 4096)]
    {
        let index = place.path().join(format!("{write}.scanns"));
        fs::create_dir(&index).unwrap();
        let mut options = options(&root, Records::File, 2);
        options.buffers = crate::segment::FlushBuffers { write, lists };
        options.read.block_bytes = block;
        let directory = FsDirectory::new(&index).with_write_back(write_back);
        build_in(&directory, &options, &Progress::new(), &Arc::default()).unwrap();
        assert!(contents(&Snapshot::open(&index).unwrap()) == expected, "{write} {lists} {block}");
    }
    let mut options = options(&root, Records::File, 2);
    options.buffers.write = 0;
    let error = run(&place.path().join("x.scanns"), &options).unwrap_err();
    assert!(error.to_string().contains("512 bytes to 64 MiB"), "{error}");
}

/// Refuses or cancels when the second segment is started.
#[derive(Debug)]
struct Trouble {
    inner: RamDirectory,
    begun: std::sync::atomic::AtomicUsize,
    cancel: Option<Arc<AtomicBool>>,
}

impl Directory for Trouble {
    fn create(&self, name: &str) -> Result<Box<dyn Output>> {
        if self.begun.fetch_add(1, std::sync::atomic::Ordering::SeqCst) == 1 {
            match &self.cancel {
                Some(cancel) => cancel.store(true, std::sync::atomic::Ordering::SeqCst),
                None => {
                    return Err(Error::io(
                        "create",
                        Path::new(name),
                        std::io::Error::other("the disk is full"),
                    ));
                }
            }
        }
        self.inner.create(name)
    }

    fn open(&self, name: &str) -> Result<Bytes> {
        self.inner.open(name)
    }

    fn rename(&self, from: &str, to: &str) -> Result<()> {
        self.inner.rename(from, to)
    }

    fn remove(&self, name: &str) -> Result<()> {
        self.inner.remove(name)
    }

    fn list(&self) -> Result<Vec<String>> {
        self.inner.list()
    }

    fn sync(&self) -> Result<()> {
        self.inner.sync()
    }

    fn lock(&self) -> Result<WriterLock> {
        self.inner.lock()
    }

    fn describe(&self) -> String {
        self.inner.describe()
    }
}

#[test]
fn all_threads_end_when_one_cannot_write_or_the_build_is_cancelled() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().join("in");
    many_terms(&root);
    for lanes in [2, 3] {
        for cancels in [false, true] {
            let cancel = Arc::new(AtomicBool::new(false));
            let directory = Trouble {
                inner: RamDirectory::new(),
                begun: Default::default(),
                cancel: cancels.then(|| Arc::clone(&cancel)),
            };
            let options = small_segments(&root, lanes);
            let outcome = build_in(&directory, &options, &Progress::new(), &cancel);
            let committed = Snapshot::open_in(&directory).unwrap();
            match cancels {
                true => {
                    let documents = committed.map_or(0, |snapshot| snapshot.info().documents);
                    let report = outcome.unwrap();
                    assert!(
                        report.cancelled && report.documents == documents && documents < 24,
                        "{report:?}"
                    );
                }
                false => {
                    assert!(outcome.unwrap_err().to_string().contains("disk is full"));
                    assert!(committed.is_none(), "nothing was committed");
                }
            }
        }
    }
}
