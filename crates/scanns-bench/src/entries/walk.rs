//! The walk through the file system: which entry is next, and what it is like.
//!
//! A stack has the directories from the root to the one whose entries are listed: first the directory itself,
//! then its files, then its directories, each with all that is below it. Names and amounts follow from the
//! seeds of directories, so copies of a package have the same names and sizes. Owners, dates and inodes come
//! from one random generator.

use fastrand::Rng;

use super::lexicon::{Lexicon, mix};
use super::names::Naming;
use super::place::{Place, Scale};
use crate::corpus::words::{log_normal, short_word, skewed};

/// The number of users.
const USERS: u32 = 5_000;
/// The number of the first user.
const FIRST_USER: u32 = 10_000;
/// The number of the group of project 0.
pub const FIRST_GROUP: u32 = 20_000;
/// Nanoseconds of a second.
const SECOND: u64 = 1_000_000_000;
/// The date of the list.
pub const NOW: u64 = 1_764_000_000 * SECOND;

/// What is known of an entry.
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    /// The letter of its type: `d`, `f` or `l`.
    pub letter: u8,
    /// Bytes.
    pub size: u64,
    /// Blocks of 512 bytes.
    pub blocks: u64,
    /// Permissions.
    pub mode: u32,
    /// The number of the owner.
    pub uid: u32,
    /// The number of the group.
    pub gid: u32,
    /// When the content was written, in nanoseconds since 1970.
    pub mtime: u64,
    /// When it was last read.
    pub atime: u64,
    /// When the entry was last changed.
    pub ctime: u64,
    /// Its number.
    pub inode: u64,
    /// Its names.
    pub links: u32,
}

/// An entry of the list.
#[derive(Clone, Copy, Debug)]
pub struct Listed<'w> {
    /// Its path.
    pub path: &'w [u8],
    /// The last part of the path.
    pub name: &'w [u8],
    /// What is known of it.
    pub facts: &'w Facts,
    /// The name of its owner.
    pub user: &'w [u8],
    /// Where a symbolic link leads to.
    pub target: &'w [u8],
}

/// A directory whose entries are listed.
#[derive(Debug)]
struct Directory {
    place: Place,
    level: u32,
    seed: u64,
    /// Files and directories that are there, and those that were listed.
    files: u32,
    directories: u32,
    file: u32,
    directory: u32,
    /// Bytes of its path.
    end: usize,
    /// The project and the owner.
    project: u32,
    user: u32,
    /// When the first file was written, and the time between two files, in nanoseconds.
    time: u64,
    pause: u64,
    /// The time by which all entries were moved here later.
    moved: u64,
    /// The size of most files, if they are alike.
    size: Option<u64>,
    mode: u32,
}

/// A walk through the file system.
#[derive(Debug)]
pub struct Walk {
    random: Rng,
    lexicon: Lexicon,
    users: Vec<String>,
    scale: Scale,
    left: u64,
    stack: Vec<Directory>,
    path: Vec<u8>,
    name: usize,
    target: Vec<u8>,
    facts: Facts,
    inode: u64,
    /// An inode that was left out, for a later entry.
    spare: u64,
    /// A file that will have a second name.
    linked: Option<Facts>,
}

impl Walk {
    /// A walk through a file system of `count` entries.
    pub fn new(count: u64, seed: u64) -> Self {
        let facts = Facts {
            letter: b'd',
            size: 4096,
            blocks: 8,
            mode: 0o755,
            uid: 0,
            gid: FIRST_GROUP,
            mtime: 0,
            atime: 0,
            ctime: 0,
            inode: 2,
            links: 2,
        };
        Walk {
            random: Rng::with_seed(seed),
            lexicon: Lexicon::new(),
            users: (0..USERS).map(|user| short_word(100 + user as usize)).collect(),
            scale: Scale::of(count),
            left: count,
            stack: Vec::new(),
            path: Vec::new(),
            name: 0,
            target: Vec::new(),
            facts,
            inode: 12,
            spare: 11,
            linked: None,
        }
    }

    /// The next entry.
    pub fn next(&mut self) -> Option<Listed<'_>> {
        self.left = self.left.checked_sub(1)?;
        self.target.clear();
        let user = self.step()?;
        Some(Listed {
            path: &self.path,
            name: self.path.get(self.name..).unwrap_or_default(),
            facts: &self.facts,
            user: self.users.get(user as usize).map_or(b"root", |name| name.as_bytes()),
            target: &self.target,
        })
    }

    /// Goes to the next entry. Returns its owner.
    fn step(&mut self) -> Option<u32> {
        while let Some(top) = self.stack.last_mut() {
            self.path.truncate(top.end);
            if top.file < top.files {
                top.file += 1;
                return self.file();
            }
            if top.directory < top.directories {
                top.directory += 1;
                return self.enter();
            }
            self.stack.pop();
        }
        self.path.extend(b"/data");
        self.name = 1;
        let seed = self.random.u64(..);
        let mut root = self.describe(Place::Root, seed, None);
        root.time = NOW;
        Some(self.open(root))
    }

    /// A directory of a kind, below another one.
    fn describe(&mut self, place: Place, seed: u64, parent: Option<&Directory>) -> Directory {
        let mut own = Rng::with_seed(seed);
        let level = parent.map_or(0, |parent| if parent.place == place { parent.level + 1 } else { 0 });
        let mut amount = place.amount(&mut own, level, &self.scale);
        if place == Place::Cache {
            amount.files = parent.map_or(1, |parent| parent.files);
        }
        if place.is_written() {
            amount.files -= self.random.u32(..=amount.files / 4);
        }
        let (mean, deviation) = place.sizes();
        let is_even = place.is_written() && !seed.is_multiple_of(4);
        let size = is_even.then(|| log_normal(&mut own, mean, deviation) as u64);
        Directory {
            place,
            level,
            seed,
            files: amount.files,
            directories: amount.directories,
            file: 0,
            directory: 0,
            end: 0,
            project: parent.map_or(0, |parent| parent.project),
            user: parent.map_or(USERS, |parent| parent.user),
            time: 0,
            pause: 0,
            moved: parent.map_or(0, |parent| parent.moved),
            size,
            mode: [0o644, 0o644, 0o664, 0o640, 0o644, 0o600][(seed >> 20) as usize % 6],
        }
    }

    /// Enters the next directory of the uppermost one on the stack.
    fn enter(&mut self) -> Option<u32> {
        let parent = self.stack.pop()?;
        let number = parent.directory - 1;
        let place = parent.place.below(number, mix(parent.seed, u64::from(number)));
        let mut child = self.describe(place, place.seed(parent.seed, number), Some(&parent));
        match parent.place {
            Place::Root => child.project = number + 1,
            // Project by project, users are all over the list of users.
            Place::Project => child.user = (parent.project * 7 + number * 61) % USERS,
            _ => {}
        }
        self.date(&mut child, &parent, number);
        self.path.push(b'/');
        self.name = self.path.len();
        let user = self.users.get(child.user as usize).map_or(&b""[..], |name| name.as_bytes());
        let naming = Naming { lexicon: &self.lexicon, place: parent.place, seed: parent.seed };
        naming.push_directory(number, user, &mut self.path);
        self.stack.push(parent);
        Some(self.open(child))
    }

    /// Sets when the files of a directory are written.
    fn date(&mut self, child: &mut Directory, parent: &Directory, number: u32) {
        let random = &mut self.random;
        let days = |random: &mut Rng, most: u64| random.u64(..most * 86_400 * SECOND);
        child.time = match child.place {
            Place::Root | Place::Project => 1_400_000_000 * SECOND + days(random, 3_600),
            Place::User | Place::Campaign | Place::Series => parent.time + days(random, 700),
            Place::Run => parent.time + u64::from(number) * parent.pause,
            place if place.is_unpacked() && parent.place.is_unpacked() => parent.time,
            _ => parent.time + days(random, 30),
        }
        .min(NOW - days(random, 20));
        let pause = match child.place {
            place if place.is_unpacked() => 0.0,
            Place::Output | Place::Restart | Place::Series => 3.5,
            Place::Campaign => 8.5,
            _ => 11.0,
        };
        child.pause = if pause > 0.0 { log_normal(random, pause, 1.2) as u64 * SECOND } else { 300_000 };
        if random.u8(..16) == 0 {
            child.moved = days(random, 600);
        }
    }

    /// Lists a directory, and puts it on the stack. Returns its owner.
    fn open(&mut self, mut directory: Directory) -> u32 {
        directory.end = self.path.len();
        // The root does not end before the walk does.
        let below = if directory.place == Place::Root { 0 } else { directory.directories };
        let size = (u64::from(directory.files + below) * 40).next_multiple_of(4096).max(4096);
        let last = directory.time + directory.pause * u64::from(directory.files.saturating_sub(1));
        self.facts = Facts {
            letter: b'd',
            size,
            blocks: size / 512,
            mode: [0o755, 0o755, 0o2775, 0o750, 0o755, 0o700][(directory.seed >> 20) as usize % 6],
            links: 2 + below,
            ..self.stamped(&directory, last)
        };
        let user = directory.user;
        self.stack.push(directory);
        user
    }

    /// Owner, dates and a new inode of an entry.
    fn stamped(&mut self, directory: &Directory, mtime: u64) -> Facts {
        let mtime = mtime.min(NOW);
        let ctime = (mtime + directory.moved).min(NOW);
        let read = self.random.u64(..).trailing_zeros().min(24);
        let atime = if read < 2 { ctime } else { (ctime + self.random.u64(..1 << (read + 30))).min(NOW) };
        self.inode += 1 + u64::from(self.random.u8(..) == 0) * self.random.u64(..500);
        let mut inode = self.inode;
        if self.random.u8(..) < 8 {
            std::mem::swap(&mut inode, &mut self.spare);
        }
        let uid = if directory.user == USERS { 0 } else { FIRST_USER + directory.user };
        let gid = FIRST_GROUP + directory.project;
        Facts { uid, gid, mtime, atime, ctime, inode, ..self.facts }
    }

    /// Lists the next file of the uppermost directory on the stack. Returns its owner.
    fn file(&mut self) -> Option<u32> {
        let directory = self.stack.pop()?;
        let number = directory.file - 1;
        self.path.push(b'/');
        self.name = self.path.len();
        let naming = Naming { lexicon: &self.lexicon, place: directory.place, seed: directory.seed };
        naming.push_file(number, &mut self.path);
        let nanoseconds = if directory.place == Place::Package { 0 } else { self.random.u64(..SECOND) };
        let mtime = directory.time + directory.pause * u64::from(number) + nanoseconds;
        let size = self.size(&directory, number);
        let allocated = size.div_ceil(4096) * 8;
        let is_sparse = self.random.u8(..) == 0 && size > 1 << 20;
        self.facts = Facts {
            letter: b'f',
            size,
            blocks: if is_sparse { allocated / (2 + size % 5) } else { allocated },
            mode: if directory.place == Place::Fanout { 0o444 } else { directory.mode },
            links: 1,
            ..self.stamped(&directory, mtime)
        };
        match self.random.u16(..1024) {
            0..4 => self.symbolic(number),
            4 => {
                self.facts.links = 2;
                if self.linked.is_none() {
                    self.linked = Some(self.facts);
                }
            }
            5..256 => {
                if let Some(linked) = self.linked.take() {
                    self.facts = linked;
                }
            }
            _ => {}
        }
        let user = self.facts.uid.checked_sub(FIRST_USER).unwrap_or(USERS);
        self.stack.push(directory);
        Some(user)
    }

    /// The size of a file.
    fn size(&mut self, directory: &Directory, number: u32) -> u64 {
        match (directory.place, directory.size) {
            (Place::Refs, _) => 41,
            (_, Some(size)) if !number.is_multiple_of(8) => size,
            (_, Some(size)) => size - size / 5 * self.random.u64(..256) / 256,
            (place, None) => {
                let (mean, deviation) = place.sizes();
                let mut own = Rng::with_seed(mix(directory.seed, u64::from(number)));
                log_normal(&mut own, mean, deviation) as u64
            }
        }
    }

    /// Makes the entry a symbolic link to one beside it, or to one far above.
    fn symbolic(&mut self, number: u32) {
        let above = self.stack.last().map_or(0, |above| above.end);
        match number % 3 {
            0 => self.target.extend(self.path.get(..above).unwrap_or_default()),
            1 => self.target.extend(b"../current"),
            _ => self.target.extend(self.path.get(self.name..).unwrap_or_default()),
        }
        self.target.extend([b"", &b".1"[..], b"/latest"][skewed(&mut self.random, 3)]);
        let size = self.target.len() as u64;
        self.facts = Facts { letter: b'l', size, blocks: 0, mode: 0o777, ..self.facts };
    }
}
