//! An entry as a JSON object. Its members have the names of the fields of the index; what is not known is
//! null.

use serde_json::{Map, Value as Json};

use super::origin::EntryOrigin;
use crate::files::find::mode_text;
use crate::source::{Entry, EntryKind};

/// The object of an entry.
pub(super) fn object(entry: &Entry<'_>, origin: &EntryOrigin) -> Map<String, Json> {
    let mut object = Map::new();
    put_text(&mut object, "path", Some(entry.path));
    object.insert("type".into(), entry.kind.map(EntryKind::name).into());
    put_text(&mut object, "target", entry.target);
    let short = |number: Option<u32>| number.map(u64::from);
    for (name, number) in [
        ("size", entry.size),
        ("blocks", entry.blocks),
        ("mode", short(entry.mode_with_type())),
        ("links", entry.links),
        ("uid", short(entry.uid)),
        ("gid", short(entry.gid)),
        ("inode", entry.inode),
        ("device", entry.device),
    ] {
        object.insert(name.into(), number.into());
    }
    if entry.kind == Some(EntryKind::Device) {
        object.insert("rdev".into(), entry.rdev.into());
    }
    let mode = mode_text(entry).map(|mode| String::from_utf8_lossy(&mode).into_owned());
    object.insert("permissions".into(), mode.into());
    put_text(&mut object, "owner", entry.owner);
    put_text(&mut object, "group", entry.group);
    for (name, time) in [
        ("atime", entry.atime),
        ("mtime", entry.mtime),
        ("ctime", entry.ctime),
        ("btime", entry.btime),
        ("scanned", origin.scanned),
    ] {
        let text = time.map(|time| crate::files::find::timestamp(time).to_string());
        object.insert(name.into(), text.into());
    }
    put_text(&mut object, "source", origin.source.as_deref());
    if let Some(acl) = &origin.acl {
        put_text(&mut object, "acl", acl.first().map(Vec::as_slice));
    }
    if let Some(xattrs) = &origin.xattrs {
        let texts = xattrs.iter().map(|text| String::from_utf8_lossy(text).into_owned().into());
        object.insert("xattrs".into(), Json::Array(texts.collect()));
    }
    object
}

/// Puts a text in which invalid UTF-8 is replaced; if there is any, its bytes follow in hexadecimal.
fn put_text(object: &mut Map<String, Json>, name: &str, text: Option<&[u8]>) {
    object.insert(name.into(), text.map(|text| String::from_utf8_lossy(text).into_owned()).into());
    if let Some(bytes) = text.filter(|text| std::str::from_utf8(text).is_err()) {
        let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        object.insert(format!("{name}_bytes"), hex.into());
    }
}
