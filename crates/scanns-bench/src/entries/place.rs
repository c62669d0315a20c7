//! The kinds of directories: how much is in one, and how large its files are.

use fastrand::Rng;

use super::lexicon::mix;
use crate::corpus::words::log_normal;

/// A kind of directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The uppermost directory: projects.
    Root,
    /// Software, and the directories of users.
    Project,
    /// Whatever a user has.
    User,
    /// Runs of one program with different parameters.
    Campaign,
    /// One run; the runs of a campaign have the same files.
    Run,
    /// Numbered results.
    Output,
    /// Few large files.
    Restart,
    /// Numbered files, up to hundreds of thousands.
    Series,
    /// An environment of Python.
    Environment,
    /// Its `lib`, which holds one directory.
    Library,
    /// The directory in it, which holds one directory, too.
    Python,
    /// All packages of an environment.
    Packages,
    /// A package; it is the same in all environments.
    Package,
    /// Compiled files of a package.
    Cache,
    /// A checkout of Git; it is the same for all users of a repository.
    Checkout,
    /// Its `.git`.
    Git,
    /// The objects of Git.
    Objects,
    /// The objects whose names begin with the same two digits.
    Fanout,
    /// Examples of hooks, which all checkouts have.
    Hooks,
    /// Names of commits.
    Refs,
    /// Sources.
    Sources,
    /// Any files and directories.
    Mixed,
}

/// How much is directly in a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Amount {
    /// Files.
    pub files: u32,
    /// Directories.
    pub directories: u32,
}

/// How large directories are: in a larger file system, projects are larger.
#[derive(Clone, Copy, Debug)]
pub struct Scale {
    /// The factor of medians.
    factor: f64,
    /// The most files of a directory.
    most: usize,
}

impl Scale {
    /// The scale of a file system of `count` entries.
    #[expect(clippy::cast_precision_loss, reason = "a factor of made-up sizes")]
    pub fn of(count: u64) -> Self {
        let factor = (count as f64 / 1e6).powf(0.3).max(0.2);
        Scale { factor, most: usize::try_from(count / 20).unwrap_or(0).clamp(50, 400_000) }
    }

    /// A number around a median that grows with the file system; its tail is long.
    fn around(&self, random: &mut Rng, median: f64, deviation: f64) -> u32 {
        let number = log_normal(random, (median * self.factor).ln(), deviation).min(self.most);
        u32::try_from(number).unwrap_or(0)
    }
}

/// A number around a median, up to 3,000.
fn near(random: &mut Rng, median: f64, deviation: f64) -> u32 {
    u32::try_from(log_normal(random, median.ln(), deviation).min(3_000)).unwrap_or(0)
}

impl Place {
    /// How much is in a directory of this kind, which is `level` levels below the first one of its kind.
    pub fn amount(self, random: &mut Rng, level: u32, scale: &Scale) -> Amount {
        let (files, directories) = match self {
            Place::Root => (0, u32::MAX),
            Place::Project => (random.u32(0..3), 2 + scale.around(random, 5.0, 0.7).min(500)),
            Place::User => (random.u32(0..12), 1 + near(random, 4.0, 0.8)),
            Place::Campaign => (random.u32(2..9), 1 + scale.around(random, 9.0, 1.3)),
            Place::Run => (random.u32(4..9), random.u32(1..4)),
            Place::Output => (1 + scale.around(random, 14.0, 1.6), 0),
            Place::Restart => (1 + near(random, 4.0, 0.8), 0),
            Place::Series => (10 + scale.around(random, 200.0, 2.0), u32::from(random.u8(..5) == 0)),
            Place::Environment => (random.u32(1..4), 2),
            Place::Library | Place::Python => (0, 1),
            Place::Packages => (0, 3 + near(random, 25.0, 0.7)),
            Place::Package => (1 + near(random, 5.0, 0.9), 1 + (random.u32(..6) >> (1 + level))),
            Place::Cache => (1 + near(random, 6.0, 0.8), 0),
            Place::Checkout => (random.u32(4..8), 2 + near(random, 3.0, 0.6)),
            Place::Git => (5, 4),
            Place::Objects => (0, 3 + near(random, 40.0, 1.0).min(250)),
            Place::Fanout => (random.u32(1..5), 0),
            Place::Hooks => (13, 0),
            Place::Refs => (random.u32(1..4), 0),
            Place::Sources => (near(random, 6.0, 1.0), near(random, 1.5, 0.9) >> level),
            Place::Mixed => (near(random, 4.0, 1.4), near(random, 1.4, 1.0) >> level),
        };
        Amount { files, directories }
    }

    /// The kind of the directory with this number below a directory of this kind.
    pub fn below(self, number: u32, seed: u64) -> Place {
        match (self, number) {
            (Place::Root, _) => Place::Project,
            (Place::Project, 0) => Place::Environment,
            (Place::Project, _) => Place::User,
            (Place::User, _) => match seed % 20 {
                0..8 => Place::Campaign,
                8..10 => Place::Checkout,
                10 => Place::Environment,
                11..14 => Place::Series,
                _ => Place::Mixed,
            },
            (Place::Campaign, _) => Place::Run,
            (Place::Run, 0) => Place::Output,
            (Place::Run, 1) => Place::Restart,
            (Place::Environment, 1) => Place::Library,
            (Place::Library, _) => Place::Python,
            (Place::Python, _) => Place::Packages,
            (Place::Packages, _) => Place::Package,
            (Place::Package, 0) => Place::Cache,
            (Place::Package, _) => Place::Package,
            (Place::Checkout, 0) => Place::Git,
            (Place::Git, 0) => Place::Hooks,
            (Place::Git, 1) => Place::Objects,
            (Place::Git, _) => Place::Refs,
            (Place::Objects, _) => Place::Fanout,
            (Place::Run | Place::Series | Place::Mixed, _) => Place::Mixed,
            _ => Place::Sources,
        }
    }

    /// What the content of a directory follows from: its parent's seed and its number, but for what is the
    /// same wherever it is.
    pub fn seed(self, parent: u64, number: u32) -> u64 {
        let own = mix(parent, u64::from(number));
        match self {
            // A third of the packages of two environments are the same, and there are 200 repositories.
            Place::Package => mix(u64::from(number), own % 3),
            Place::Checkout => own % 200,
            Place::Hooks => 0,
            Place::Run | Place::Cache => parent,
            _ => own,
        }
    }

    /// Mean and deviation of the logarithm of sizes of files.
    pub fn sizes(self) -> (f64, f64) {
        match self {
            Place::Output => (16.0, 2.2),
            Place::Restart => (19.0, 1.8),
            Place::Series => (11.0, 2.0),
            Place::Package | Place::Cache | Place::Sources | Place::Checkout => (8.2, 1.5),
            Place::Fanout => (6.0, 1.6),
            Place::Run | Place::Campaign | Place::Git | Place::Refs | Place::Environment => (6.5, 1.5),
            _ => (9.5, 2.8),
        }
    }

    /// Whether a program wrote the files one after the other; most of them have the same size.
    pub fn is_written(self) -> bool {
        matches!(self, Place::Output | Place::Restart | Place::Series)
    }

    /// Whether the whole directory was unpacked or checked out at once.
    pub fn is_unpacked(self) -> bool {
        use Place::{Cache, Checkout, Environment, Git, Hooks, Library, Package, Packages, Python, Sources};
        matches!(
            self,
            Cache | Checkout | Environment | Git | Hooks | Library | Package | Packages | Python | Sources
        )
    }
}
