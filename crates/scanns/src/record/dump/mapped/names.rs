//! Names of columns, and the fields that they certainly fill.
//!
//! They are the names that these programs give to columns: `os.stat` and pandas (`st_size`), find, `stat`,
//! DuckDB tools for Lustre, robinhood (`last_mod`, `spc_used`), Starfish (`fn`, `mt`), HDFS, S3 Inventory.
//! Case and all characters other than letters and digits do not matter.

use super::conversion::Conversion;
use super::field::MapField;
use crate::schema::EpochUnit;

/// What the name of a column says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ColumnMeaning {
    /// The whole path.
    Path,
    /// The directory of the entry.
    Directory,
    /// The last name of the path, or the path.
    Name,
    /// Another field, with what the name says about its values, and its place among names of the field.
    Field(MapField, Option<Conversion>, usize),
}

const PATHS: &str = "path fullpath filepath fullname pathname abspath absolutepath entrypath objectpath key \
                     objectkey fullfilename filefullpath";
const DIRECTORIES: &str = "dir directory dirname dirpath parent parentpath parentdir parentdirectory folder \
                           folderpath";
const NAMES: &str = "name filename file basename fn fname entryname";

/// Fields by the names of columns, the best name first.
const FIELDS: [(MapField, &str); 19] = [
    (
        MapField::Kind,
        "type filetype ftype entrytype objecttype kind typehum stattype isdir isdirectory isfolder",
    ),
    (
        MapField::Size,
        "size sizebytes stsize filesize bytes sizeinbytes length logicalsize apparentsize asize \
         contentlength sizek sizekb sizekib",
    ),
    (
        MapField::Blocks,
        "blocks stblocks nblocks blocks512 blockcount spcused spaceused diskusage diskspace allocated \
         allocatedbytes allocatedsize physicalsize dsize usedk kblocks",
    ),
    (
        MapField::Modified,
        "mtimens stmtimens mtime stmtime mtimeus mtimems mtimesec mtimeepoch modifiedtime modificationtime \
         modifytime modtime lastmodified lastmodifieddate lastmodifiedtime lastmod lastmodification modified \
         modepoch modificationdate modifieddate mdate mt",
    ),
    (
        MapField::Accessed,
        "atimens statimens atime statime atimeus atimems atimesec atimeepoch accesstime accessedtime \
         lastaccess lastaccessed lastaccesstime lastaccessdate accessed accessepoch accessdate adate at",
    ),
    (
        MapField::Changed,
        "ctimens stctimens ctime stctime ctimeus ctimems ctimesec ctimeepoch changetime changedtime \
         statuschange lastchange lastmdchange lastchanged changed changeepoch changedate cdate ct",
    ),
    (
        MapField::Born,
        "btimens stbirthtimens btime stbirthtime btimeus btimems btimesec btimeepoch birthtime crtime \
         creation creationtime createtime createdtime created creationdate createdate born birth",
    ),
    (MapField::Owner, "owner user username ownername uname fileowner"),
    (MapField::Group, "group groupname gname grp grpname ownergroup filegroup"),
    (MapField::Uid, "uid stuid userid ownerid owneruid"),
    (MapField::Gid, "gid stgid groupid ownergid"),
    (MapField::Mode, "mode stmode perm perms permission permissions accessmode filemode modehum"),
    (MapField::Inode, "inode ino stino inodenumber inodeno inum"),
    (MapField::Links, "nlink stnlink nlinks links linkcount hardlinks hardlinkcount"),
    (MapField::Device, "dev stdev device deviceid devid"),
    (MapField::Target, "target linktarget linkname symlink symlinktarget readlink"),
    (MapField::Stripes, "stripecount stripes nstripes layoutstripecount lmmstripecount"),
    (MapField::Pool, "pool poolname ostpool storagepool storageclass"),
    (MapField::Project, "project projid projectid prjid"),
];

/// What the name of a column says of objects; other tables have no such columns.
const OBJECTS: [(MapField, &str); 2] =
    [(MapField::Latest, "islatest latest"), (MapField::Deleted, "isdeletemarker deletemarker")];

/// What a name of a column says.
pub(super) fn named(column: &str) -> Option<ColumnMeaning> {
    let name = plain(column);
    let is_in = |names: &str| names.split_whitespace().any(|known| known == name);
    if is_in(PATHS) {
        return Some(ColumnMeaning::Path);
    } else if is_in(DIRECTORIES) {
        return Some(ColumnMeaning::Directory);
    } else if is_in(NAMES) {
        return Some(ColumnMeaning::Name);
    }
    FIELDS.iter().chain(&OBJECTS).find_map(|(field, names)| {
        let place = names.split_whitespace().position(|known| known == name)?;
        Some(ColumnMeaning::Field(*field, hint(*field, &name), place))
    })
}

/// The name without case and separators.
fn plain(column: &str) -> String {
    let letters = column.chars().filter(|c| c.is_alphanumeric());
    letters.flat_map(char::to_lowercase).collect()
}

/// What a name says about the values.
fn hint(field: MapField, name: &str) -> Option<Conversion> {
    match field {
        MapField::Kind if name.starts_with("is") => Some(Conversion::IsDirectory),
        MapField::Modified | MapField::Accessed | MapField::Changed | MapField::Born => {
            let unit = match name {
                name if name.ends_with("timens") => EpochUnit::Nanoseconds,
                name if name.ends_with("timeus") => EpochUnit::Microseconds,
                name if name.ends_with("timems") => EpochUnit::Milliseconds,
                name if name.ends_with("timesec") => EpochUnit::Seconds,
                _ => return None,
            };
            Some(Conversion::Epoch(unit))
        }
        MapField::Size if matches!(name, "sizek" | "sizekb" | "sizekib") => Some(Conversion::Units(1024)),
        MapField::Size => Some(Conversion::Units(1)),
        MapField::Blocks => Some(Conversion::Units(match name {
            "blocks" | "stblocks" | "nblocks" | "blocks512" | "blockcount" => 512,
            "usedk" | "kblocks" => 1024,
            _ => 1,
        })),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_to_fields_without_case_and_separators() {
        let field = |name: &str| match named(name) {
            Some(ColumnMeaning::Field(field, ..)) => Some(field.name()),
            _ => None,
        };
        for (name, expected) in [
            ("st_size", "size"),
            ("Modification Time", "mtime"),
            ("LAST-MOD", "mtime"),
            ("is_dir", "type"),
            ("StorageClass", "pool"),
            ("lmm_stripe_count", "stripes"),
            ("st_birthtime_ns", "btime"),
            ("IsDeleteMarker", "deleted"),
        ] {
            assert_eq!(field(name), Some(expected), "{name}");
        }
        for name in ["", "e_tag", "depth", "size2", "metadata.size"] {
            assert_eq!(named(name), None, "{name}");
        }
        assert_eq!(named("Full Path"), Some(ColumnMeaning::Path));
        assert_eq!(named("fn"), Some(ColumnMeaning::Name));
        assert_eq!(named("parent_path"), Some(ColumnMeaning::Directory));
    }

    #[test]
    fn every_name_stands_in_one_list() {
        let lists = FIELDS.iter().chain(&OBJECTS).map(|(_, names)| *names);
        let mut all: Vec<_> =
            lists.chain([PATHS, DIRECTORIES, NAMES]).flat_map(str::split_whitespace).collect();
        all.sort_unstable();
        let count = all.len();
        all.dedup();
        assert_eq!(all.len(), count);
        assert!(all.iter().all(|name| plain(name) == **name));
    }
}
