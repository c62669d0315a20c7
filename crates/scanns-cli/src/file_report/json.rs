//! A report as one JSON object. The guide for administrators describes its members.

use scanns::files::{
    AGE_CLASSES, AgeTable, CountedPaths, EntrySums, FilesReport, NamedSums, RankedDirectory, RankedPath,
    SIZE_CLASSES,
};
use scanns::schema::format_date;
use serde_json::{Map, Value, json};

use crate::report::put_bytes;

/// The object of a report.
pub fn value(report: &FilesReport) -> Value {
    let (totals, rankings, notable) = (&report.totals, &report.rankings, &report.notable);
    let mut object = Map::new();
    put_bytes(&mut object, "top", &report.top);
    object.insert("now".into(), format_date(report.options.now).into());
    object.insert("cold_days".into(), report.options.cold_days.into());
    let more = json!({
        "totals": {
            "all": sums(totals.all),
            "files": sums(totals.files),
            "directories": sums(totals.directories),
            "links": sums(totals.links),
            "others": sums(totals.others),
            "cold": sums(totals.cold),
            "further_names": totals.further_names,
        },
        "types": named(&report.types),
        "owners": named(&report.owners),
        "groups": named(&report.groups),
        "extensions": named(&report.extensions),
        "cold": named(&report.cold),
        "ages": AGE_CLASSES,
        "sizes": SIZE_CLASSES,
        "modified": ages(&report.modified),
        "accessed": ages(&report.accessed),
        "directories_by_space": directories(&rankings.by_space),
        "directories_by_entries": directories(&rankings.by_entries),
        "directories_by_names": directories(&rankings.by_names),
        "files_by_size": files(report),
        "deepest_paths": ranked(&rankings.deepest),
        "longest_names": ranked(&rankings.longest_names),
        "longest_paths": ranked(&rankings.longest_paths),
        "empty_files": counted(&notable.empty_files),
        "empty_directories": counted(&notable.empty_directories),
        "unread_directories": counted(&notable.unread_directories),
        "set_user_id": counted(&notable.set_user),
        "set_group_id": counted(&notable.set_group),
        "world_writable_files": counted(&notable.writable_files),
        "world_writable_directories": counted(&notable.writable_directories),
        "unknown": unknown(report),
        "tree": tree(report),
        "missing": report.missing.iter().map(|path| path_object(path)).collect::<Vec<_>>(),
    });
    if let Value::Object(more) = more {
        object.extend(more);
    }
    object.into()
}

fn put_sums(object: &mut Map<String, Value>, sums: EntrySums) {
    object.insert("entries".into(), sums.entries.into());
    object.insert("size".into(), sums.size.into());
    object.insert("space".into(), sums.space.into());
}

fn sums(sums: EntrySums) -> Value {
    let mut object = Map::new();
    put_sums(&mut object, sums);
    object.into()
}

fn path_object(path: &[u8]) -> Map<String, Value> {
    let mut object = Map::new();
    put_bytes(&mut object, "path", path);
    object
}

fn put_name(object: &mut Map<String, Value>, name: Option<&[u8]>) {
    match name {
        Some(name) => put_bytes(object, "name", name),
        None => drop(object.insert("name".into(), Value::Null)),
    }
}

fn named(all: &[NamedSums]) -> Vec<Value> {
    let one = |named: &NamedSums| {
        let mut object = Map::new();
        put_name(&mut object, named.name.as_deref());
        put_sums(&mut object, named.sums);
        object.into()
    };
    all.iter().map(one).collect()
}

fn ages(table: &AgeTable) -> Vec<Vec<Value>> {
    table.cells.iter().map(|row| row.iter().map(|cell| sums(*cell)).collect()).collect()
}

fn directories(all: &[RankedDirectory]) -> Vec<Value> {
    let one = |directory: &RankedDirectory| {
        let mut object = path_object(&directory.path);
        put_sums(&mut object, directory.sums);
        object.insert("names".into(), directory.names.into());
        object.into()
    };
    all.iter().map(one).collect()
}

fn files(report: &FilesReport) -> Vec<Value> {
    let mut all = Vec::new();
    for file in &report.rankings.files {
        let mut object = path_object(&file.path);
        object.insert("size".into(), file.size.into());
        object.insert("space".into(), file.space.into());
        match &file.owner {
            Some(owner) => put_bytes(&mut object, "owner", owner),
            None => drop(object.insert("owner".into(), Value::Null)),
        }
        object.insert("mtime".into(), file.mtime.map(format_date).into());
        all.push(object.into());
    }
    all
}

fn ranked(all: &[RankedPath]) -> Vec<Value> {
    let one = |ranked: &RankedPath| {
        let mut object = path_object(&ranked.path);
        object.insert("value".into(), ranked.value.into());
        object.into()
    };
    all.iter().map(one).collect()
}

fn counted(list: &CountedPaths) -> Value {
    let first: Vec<_> = list.first.iter().map(|path| path_object(path)).collect();
    json!({ "count": list.count, "first": first })
}

fn unknown(report: &FilesReport) -> Vec<Value> {
    let mut all = Vec::new();
    for unknown in &report.unknown {
        let mut object = Map::new();
        object.insert("column".into(), unknown.column.into());
        object.insert("entries".into(), unknown.count.into());
        put_bytes(&mut object, "first", &unknown.example);
        all.push(object.into());
    }
    all
}

fn tree(report: &FilesReport) -> Vec<Value> {
    let mut all = Vec::new();
    for node in &report.tree {
        let mut object = Map::new();
        object.insert("parent".into(), node.parent.into());
        put_name(&mut object, node.name.as_deref());
        put_sums(&mut object, node.sums);
        all.push(object.into());
    }
    all
}
