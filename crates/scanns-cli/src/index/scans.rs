//! What `scanns index` says about a scan of names and metadata.

use scanns::sources::{DamagedPattern, IgnoreFaults, ScanReport, Skipped, UnreadRules};
use serde_json::{Map, Value, json};

use crate::quoting::quoted;
use crate::report;
use crate::units;

/// What was left out, with the option that takes it in.
fn left_out(scan: &ScanReport) -> [(&'static str, &Skipped, &'static str); 9] {
    [
        ("pseudo file systems were not entered (--pseudo enters them)", &scan.pseudo, "directory"),
        ("directories of snapshots were not entered (--snapshots enters them)", &scan.snapshots, "directory"),
        ("other file systems were not entered (-x)", &scan.other_file_systems, "directory"),
        ("listed under another path", &scan.repeated, "entry"),
        ("vanished during the scan", &scan.vanished, "entry"),
        ("links whose targets could not be read", &scan.without_target, "entry"),
        ("file systems without extended attributes", &scan.without_attributes, "file system"),
        ("extended attributes or ACLs that could not be read", &scan.unread_attributes, "entry"),
        ("long extended attributes or ACLs, of which a part was kept", &scan.cut_attributes, "entry"),
    ]
}

/// Says what a scan left out.
pub fn list(scan: Option<&ScanReport>) {
    let Some(scan) = scan else { return };
    for (what, Skipped { count, first }, unit) in left_out(scan) {
        let Some(first) = first else { continue };
        let counted = units::counted(*count, unit);
        report::note(&format!("{what}: {counted}, such as {}", report::path_text(first)));
    }
    if scan.unread_more > 0 {
        let more = units::counted(scan.unread_more, "path");
        report::note(&format!("{more} more could not be read, and are not listed"));
    }
}

/// Says of which entries it could not be decided who may see them.
pub fn list_undecided(undecided: &Skipped) {
    let Some(first) = &undecided.first else { return };
    let (counted, first) = (units::counted(undecided.count, "entry"), report::path_text(first));
    report::note(&format!(
        "it cannot be decided who may see {counted}, such as {first}, so only root does: they or directories \
         above them have ACLs of NFSv4, or could not be read; scanns why shows which"
    ));
}

/// What was left out, as JSON.
pub fn skipped_json(Skipped { count, first }: &Skipped) -> Value {
    let mut object = Map::new();
    object.insert("count".into(), json!(count));
    if let Some(first) = first {
        report::put_bytes(&mut object, "first", first.as_os_str().as_encoded_bytes());
    }
    object.into()
}

/// Says which globs matched nothing.
pub fn list_unused(unused: &[String], exclude: &[String]) {
    for glob in unused {
        let option = if exclude.contains(glob) { "--exclude" } else { "--include" };
        let text = quoted(glob.as_bytes());
        report::note(&format!("{option} {text}: nothing that was looked at matches this"));
    }
}

/// Says what was wrong with `.gitignore` files.
pub fn list_rule_faults(faults: &IgnoreFaults) {
    if let Some(UnreadRules { file, reason }) = &faults.first_unread {
        let (files, file) = (units::counted(faults.unread, "file"), report::path_text(file));
        report::note(&format!("patterns that could not be read: {files}, such as {file}: {reason}"));
    }
    if let Some(DamagedPattern { file, line, text, reason }) = &faults.first_damaged {
        let (lines, file) = (units::counted(faults.damaged, "line"), report::path_text(file));
        let text = quoted(text);
        report::note(&format!(
            "damaged patterns match nothing: {lines}, such as {file}:{line}, {text}: {reason}"
        ));
    }
}

/// What was wrong with `.gitignore` files, as JSON.
pub fn rule_faults_json(faults: &IgnoreFaults) -> Value {
    let mut object = Map::new();
    object.insert("unread".into(), json!(faults.unread));
    if let Some(unread) = &faults.first_unread {
        report::put_bytes(&mut object, "first_unread", unread.file.as_os_str().as_encoded_bytes());
    }
    object.insert("damaged".into(), json!(faults.damaged));
    if let Some(DamagedPattern { file, line, .. }) = &faults.first_damaged {
        report::put_bytes(&mut object, "first_damaged", file.as_os_str().as_encoded_bytes());
        object.insert("first_damaged_line".into(), json!(line));
    }
    object.into()
}

/// The report of a scan as JSON.
pub fn as_json(scan: Option<&ScanReport>) -> Value {
    let Some(scan) = scan else { return Value::Null };
    let skipped = skipped_json;
    let roots = scan.roots.iter().map(|root| {
        let mut object = Map::new();
        report::put_bytes(&mut object, "path", root.path.as_os_str().as_encoded_bytes());
        object.insert("entries".into(), json!(root.entries));
        object.insert("directories".into(), json!(root.directories));
        object.insert("is_empty".into(), json!(root.is_empty));
        object.insert("began".into(), json!(scanns::schema::format_date(root.began)));
        object.insert("ended".into(), json!(scanns::schema::format_date(root.ended)));
        Value::from(object)
    });
    json!({
        "roots": roots.collect::<Vec<_>>(),
        "complete": scan.complete,
        "operations": scan.operations,
        "unread_more": scan.unread_more,
        "vanished": skipped(&scan.vanished),
        "filtered": skipped(&scan.filtered),
        "hidden": skipped(&scan.hidden),
        "other_file_systems": skipped(&scan.other_file_systems),
        "pseudo": skipped(&scan.pseudo),
        "snapshots": skipped(&scan.snapshots),
        "repeated": skipped(&scan.repeated),
        "without_target": skipped(&scan.without_target),
        "without_attributes": skipped(&scan.without_attributes),
        "unread_attributes": skipped(&scan.unread_attributes),
        "cut_attributes": skipped(&scan.cut_attributes),
    })
}
