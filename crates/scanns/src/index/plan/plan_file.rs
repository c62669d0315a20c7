//! The files of a plan: `NAME.json`, which names everything, and `NAME.inputs` beside it with the inputs of
//! every shard.
//!
//! ```text
//! NAME.json    sealed JSON (`sealed_json.rs`), format "scanns plan", version 1: id, 32 hexadecimal digits;
//!              index, the path of the index, relative to this file or absolute; inputs_file; shards, inputs,
//!              files, bytes and failed, numbers
//! NAME.inputs  an envelope (`store/envelope.rs`), "SCANNPLN" version 1, with the id of the plan:
//!   section 1  the manifest of an index without documents (`index/commit/manifest.rs`)
//!   section 2  JSON: passwd and group, paths or null; extract: seconds, memory, text and fields; failed, and
//!              failures, the first 10,000 inputs that could not be listed, with path and reason
//!   section 3  per shard: offset u64 | length u64 | inputs u64 | files u64 | bytes u64
//!   section 4  the slices of all shards (`slice_codec.rs`)
//! ```
//!
//! The id is a hash of the sections, the path of the index and the number of shards: the same listing with
//! the same options is the same plan.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};
use xxhash_rust::xxh3::Xxh3;

use super::slice_codec::decode_slice;
use crate::codec::ByteReader;
use crate::content::ExtractLimits;
use crate::error::{Error, Result};
use crate::index::build::options::OwnerFiles;
use crate::index::build::slice::{BuildSlice, SliceOrigin};
use crate::index::commit::manifest::Manifest;
use crate::index::commit::sealed_json::{SealedKind, directory_of, is_file_name, read_sealed, write_sealed};
use crate::index::path_json::{put_path, read_path};
use crate::source::Failure;
use crate::store::{Directory, Envelope, EnvelopeWriter, FileKind, FsDirectory};

const PLAN: SealedKind = SealedKind { format: "scanns plan", version: 1 };
const INPUTS: FileKind = FileKind { magic: *b"SCANNPLN", format: 1, oldest: 1 };
const MANIFEST: u32 = 1;
const SETTINGS: u32 = 2;
const TABLE: u32 = 3;
const SLICES: u32 = 4;

/// The most bytes of a slice that are copied at once.
const PART: u64 = 1 << 20;

/// A plan: which inputs belong to which shard of an index, and what documents are.
pub struct ShardPlan {
    path: PathBuf,
    id: u128,
    index: PathBuf,
    shards: Vec<PlannedShard>,
    envelope: Envelope,
    settings: PlanSettings,
}

/// A shard of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedShard {
    /// The number, from 0.
    pub number: u32,
    /// The name of its directory in the directory of the index.
    pub name: String,
    /// The number of inputs, parts of files included.
    pub inputs: u64,
    /// The number of files that end in this shard; over all shards, every file counts once.
    pub files: u64,
    /// Bytes of its inputs.
    pub bytes: u64,
    /// Where its inputs are among the slices.
    pub(super) place: SlicePlace,
}

/// A range of bytes of the slices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct SlicePlace {
    pub(super) offset: u64,
    pub(super) length: u64,
}

/// What a plan says besides the inputs and the manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PlanSettings {
    pub(super) owners: OwnerFiles,
    pub(super) limits: ExtractLimits,
    /// The number of inputs that could not be listed.
    pub(super) failed: u64,
    /// The first of them.
    pub(super) failures: Vec<Failure>,
}

/// The content of a plan that is to be written.
pub(super) struct PlanContent<'c> {
    pub(super) index: &'c Path,
    pub(super) manifest: Vec<u8>,
    pub(super) settings: PlanSettings,
    pub(super) slices: WrittenSlices,
}

/// The slices of a plan in a temporary file.
pub(super) struct WrittenSlices {
    pub(super) shards: Vec<PlannedShard>,
    pub(super) file: File,
}

impl WrittenSlices {
    /// Calls `take` with all bytes of a slice, some at a time.
    fn each_part(&self, place: SlicePlace, take: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let SlicePlace { mut offset, length } = place;
        let end = offset + length;
        let mut buffer = vec![0; usize::try_from(length.min(PART)).unwrap_or_default()];
        while offset < end {
            let most = usize::try_from((end - offset).min(PART)).unwrap_or_default();
            let part = buffer.get_mut(..most).unwrap_or_default();
            let read = self.file.read_exact_at(part, offset);
            read.map_err(|error| Error::io("read", Path::new("a temporary file"), error))?;
            take(part)?;
            offset += most as u64;
        }
        Ok(())
    }
}

/// The name of the directory of a shard.
pub(super) fn shard_name(number: u32) -> String {
    format!("shard-{number:05}")
}

impl PlanContent<'_> {
    /// The identity of the plan.
    ///
    /// # Errors
    /// A temporary file cannot be read.
    pub(super) fn id(&self) -> Result<u128> {
        let mut hash = Xxh3::new();
        let mut add = |part: &[u8]| {
            hash.update(&(part.len() as u64).to_le_bytes());
            hash.update(part);
        };
        add(&self.manifest);
        add(self.settings.encode().as_bytes());
        add(self.index.as_os_str().as_encoded_bytes());
        for PlannedShard { place, .. } in &self.slices.shards {
            hash.update(&place.length.to_le_bytes());
            self.slices.each_part(*place, &mut |part| {
                hash.update(part);
                Ok(())
            })?;
        }
        Ok(hash.digest128())
    }

    /// Writes the plan durably; the file with the name `path` last.
    pub(super) fn write(&self, path: &Path, id: u128) -> Result<()> {
        let directory = FsDirectory::new(directory_of(path));
        let (name, temporary) = (inputs_name(path)?, format!("{}.tmp", inputs_name(path)?));
        let mut writer = EnvelopeWriter::create(&directory, &temporary, INPUTS, id)?;
        writer.begin(MANIFEST)?;
        writer.write(&self.manifest)?;
        writer.begin(SETTINGS)?;
        writer.write(self.settings.encode().as_bytes())?;
        writer.begin(TABLE)?;
        for PlannedShard { inputs, files, bytes, place, .. } in &self.slices.shards {
            for figure in [place.offset, place.length, *inputs, *files, *bytes] {
                writer.write(&figure.to_le_bytes())?;
            }
        }
        writer.begin(SLICES)?;
        for PlannedShard { place, .. } in &self.slices.shards {
            self.slices.each_part(*place, &mut |part| writer.write(part))?;
        }
        writer.finish()?.sync()?;
        directory.rename(&temporary, &name)?;
        directory.sync()?;
        let shards = &self.slices.shards;
        let sum = |figure: fn(&PlannedShard) -> u64| shards.iter().map(figure).sum::<u64>();
        let mut members = Map::new();
        for (name, value) in [
            ("id", Value::from(format!("{id:032x}"))),
            ("index", put_path(self.index)),
            ("inputs_file", name.into()),
            ("shards", shards.len().into()),
            ("inputs", sum(|shard| shard.inputs).into()),
            ("files", sum(|shard| shard.files).into()),
            ("bytes", sum(|shard| shard.bytes).into()),
            ("failed", self.settings.failed.into()),
        ] {
            members.insert(name.into(), value);
        }
        let mut temporary = path.as_os_str().to_owned();
        temporary.push(".tmp");
        write_sealed(PLAN, members, path, Path::new(&temporary))
    }
}

/// The name of the file of inputs beside a plan.
fn inputs_name(path: &Path) -> Result<String> {
    let stem = path.file_stem().and_then(|stem| stem.to_str());
    let named =
        stem.map(|stem| format!("{stem}.inputs")).filter(|name| path.file_name() != Some(name.as_ref()));
    named.ok_or_else(|| Error::invalid("name of a plan", path.display(), "a name such as plan.json"))
}

impl ShardPlan {
    /// Opens a plan, and verifies everything but the inputs of the shards.
    ///
    /// # Errors
    /// [`Error::NewerFormat`] for a plan of a newer version, [`Error::DamagedPlan`] for damage, and an error
    /// if the files cannot be read.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::read(path.as_ref()).map_err(of_plan)
    }

    fn read(path: &Path) -> Result<Self> {
        let missing = || Error::io("read", path, rustix::io::Errno::NOENT.into());
        let plan = read_sealed(PLAN, path)?.ok_or_else(missing)?;
        let damaged = |what: &str| Error::corrupt(path.display().to_string(), what);
        let text = |name: &str| plan.get(name).and_then(Value::as_str);
        let id =
            text("id").and_then(|id| u128::from_str_radix(id, 16).ok()).ok_or_else(|| damaged("no id"))?;
        let index = plan.get("index").and_then(read_path).ok_or_else(|| damaged("no path of the index"))?;
        let inputs = text("inputs_file").filter(|name| is_file_name(name));
        let inputs = inputs.ok_or_else(|| damaged("no name of the file of inputs"))?;
        let directory = directory_of(path);
        let envelope = Envelope::open(&FsDirectory::new(directory), inputs, INPUTS)?;
        if envelope.id() != id {
            return Err(damaged(&format!("{inputs} beside it belongs to another plan")));
        }
        let shards = read_table(envelope.section(TABLE)?.all()?)
            .filter(|shards| plan.get("shards").and_then(Value::as_u64) == Some(shards.len() as u64))
            .ok_or_else(|| damaged("its number of shards is wrong"))?;
        let settings = PlanSettings::decode(envelope.section(SETTINGS)?.all()?)
            .ok_or_else(|| Error::corrupt(inputs, "its settings cannot be read"))?;
        let index = path.parent().unwrap_or(Path::new("")).join(index);
        Ok(ShardPlan { path: path.to_path_buf(), id, index, shards, envelope, settings })
    }

    /// The file of the plan.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The identity: the same for plans with the same inputs and options.
    pub fn id(&self) -> u128 {
        self.id
    }

    /// The directory of the index, in which the shards are published.
    pub fn index(&self) -> &Path {
        &self.index
    }

    /// The shards, in the order of their documents.
    pub fn shards(&self) -> &[PlannedShard] {
        &self.shards
    }

    /// The limits for one file of the processes that find the text of documents.
    pub fn extract_limits(&self) -> ExtractLimits {
        self.settings.limits
    }

    /// The number of inputs that could not be listed, and the first 10,000 of them.
    pub fn failures(&self) -> (u64, &[Failure]) {
        (self.settings.failed, &self.settings.failures)
    }

    pub(super) fn owners(&self) -> &OwnerFiles {
        &self.settings.owners
    }

    /// The shard with this number.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] if the plan has no such shard.
    pub fn shard(&self, number: u32) -> Result<&PlannedShard> {
        let shard = usize::try_from(number).ok().and_then(|number| self.shards.get(number));
        shard.ok_or_else(|| {
            let expected = match self.shards.len() {
                1 => "0, the only shard of this plan".into(),
                shards => format!("0 to {}, the shards of this plan", shards - 1),
            };
            Error::invalid("shard", number, expected)
        })
    }

    /// The manifest with which the index of a shard begins.
    pub(super) fn manifest(&self) -> Result<(Vec<u8>, Manifest)> {
        let bytes = self.envelope.section(MANIFEST).and_then(|section| section.all()).map_err(of_plan)?;
        Ok((bytes.to_vec(), Manifest::decode(bytes)?))
    }

    /// The inputs of a shard.
    pub(super) fn slice(&self, shard: &PlannedShard) -> Result<BuildSlice> {
        self.read_slice(shard).map_err(of_plan)
    }

    fn read_slice(&self, shard: &PlannedShard) -> Result<BuildSlice> {
        let slices = self.envelope.section(SLICES)?;
        let range = |SlicePlace { offset, length }: SlicePlace| {
            let start = usize::try_from(offset).ok()?;
            Some(start..start.checked_add(usize::try_from(length).ok()?)?)
        };
        let damaged = || slices.corrupt(format!("the inputs of {} cannot be read", shard.name));
        let bytes = slices.get(range(shard.place).ok_or_else(damaged)?)?;
        let inputs = decode_slice(bytes, shard.inputs).ok_or_else(damaged)?;
        let slice = BuildSlice { inputs, origin: SliceOrigin { plan: self.id, shard: shard.number } };
        if slice.files() != shard.files {
            return Err(damaged());
        }
        Ok(slice)
    }
}

/// Damage to a plan needs another remedy than damage to an index.
fn of_plan(error: Error) -> Error {
    match error {
        Error::Corrupt { file, what } => Error::DamagedPlan { file, what },
        error => error,
    }
}

fn read_table(bytes: &[u8]) -> Option<Vec<PlannedShard>> {
    let (mut reader, mut shards) = (ByteReader::new(bytes), Vec::new());
    while !reader.remaining().is_empty() {
        let number = u32::try_from(shards.len()).ok()?;
        let place = SlicePlace { offset: reader.u64()?, length: reader.u64()? };
        let (inputs, files, bytes) = (reader.u64()?, reader.u64()?, reader.u64()?);
        shards.push(PlannedShard { number, name: shard_name(number), inputs, files, bytes, place });
    }
    (!shards.is_empty()).then_some(shards)
}

impl PlanSettings {
    fn encode(&self) -> String {
        let path = |path: &Option<PathBuf>| path.as_deref().map_or(Value::Null, put_path);
        let failure =
            |Failure { path, reason }: &Failure| json!({ "path": put_path(path), "reason": reason });
        let ExtractLimits { memory, seconds, text, fields } = self.limits;
        json!({
            "passwd": path(&self.owners.passwd),
            "group": path(&self.owners.group),
            "extract": { "seconds": seconds, "memory": memory, "text": text, "fields": fields },
            "failed": self.failed,
            "failures": self.failures.iter().map(failure).collect::<Vec<_>>(),
        })
        .to_string()
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let settings: Value = serde_json::from_slice(bytes).ok()?;
        let path = |name: &str| match settings.get(name)? {
            Value::Null => Some(None),
            path => read_path(path).map(Some),
        };
        let limit = |name: &str| settings.get("extract")?.get(name)?.as_u64();
        let failure = |value: &Value| {
            let (path, reason) = (read_path(value.get("path")?)?, value.get("reason")?.as_str()?.to_owned());
            Some(Failure { path, reason })
        };
        Some(PlanSettings {
            owners: OwnerFiles { passwd: path("passwd")?, group: path("group")? },
            limits: ExtractLimits {
                memory: limit("memory")?,
                seconds: limit("seconds")?,
                text: limit("text")?,
                fields: limit("fields")?,
            },
            failed: settings.get("failed")?.as_u64()?,
            failures: settings.get("failures")?.as_array()?.iter().map(failure).collect::<Option<_>>()?,
        })
    }
}
