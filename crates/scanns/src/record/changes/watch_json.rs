//! Events of a clustered watch of IBM Storage Scale, one JSON object a line.
//!
//! Of the members of an event, `event` and `path` are read. `event` is one or several names, such as
//! `IN_CREATE` or `IN_CREATE IN_ISDIR`; `path` is the whole path. A move is two events with the same cookie,
//! one with the old path and one with the new path, so the cookie says nothing more. Source: IBM's
//! documentation, "JSON attributes in clustered watch folder".

use serde_json::Value;

use super::change::ChangeRow;

/// Events that change nothing that a scan sees.
const HARMLESS: [&str; 4] = ["IN_OPEN", "IN_CLOSE_NOWRITE", "IN_ISDIR", "IN_IGNORED"];

/// Events after which a directory may have come with everything in it.
const ARRIVALS: [&str; 3] = ["IN_CREATE", "IN_MOVED_TO", "IN_MOVE_SELF"];

/// True for a row that can be read.
pub fn is_row(row: &[u8]) -> bool {
    read(row, &mut Vec::new()).is_ok()
}

/// Reads a row without its line feed; `space` holds the path.
pub fn read<'r>(row: &[u8], space: &'r mut Vec<u8>) -> Result<ChangeRow<'r>, String> {
    let value: Value =
        serde_json::from_slice(row).map_err(|error| format!("it is not valid JSON: {error}"))?;
    let text = |name: &str| value.get(name).and_then(Value::as_str);
    let events = text("event").ok_or("the member event is missing")?;
    let names = || events.split([' ', '|', ',']).filter(|name| !name.is_empty());
    if names().any(|name| name == "IN_Q_OVERFLOW") {
        return Err("events were lost (IN_Q_OVERFLOW): scan again".into());
    }
    if names().next().is_none() {
        return Err("the member event is empty".into());
    }
    if names().all(|name| HARMLESS.contains(&name)) {
        return Ok(ChangeRow::default());
    }
    let path = text("path").filter(|path| path.starts_with('/') && !path.contains('\0'));
    let path = path.ok_or("the member path is missing, or is no whole path")?;
    space.clear();
    space.extend_from_slice(path.as_bytes());
    let tree = names().any(|name| ARRIVALS.contains(&name));
    Ok(ChangeRow::of_paths([(space.as_slice(), tree)]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_event_says_where_to_look() {
        for (events, expected) in [
            ("IN_CREATE", Some(true)),
            ("IN_CREATE IN_ISDIR", Some(true)),
            ("IN_MOVED_TO|IN_ISDIR", Some(true)),
            ("IN_MOVED_FROM", Some(false)),
            ("IN_DELETE_SELF", Some(false)),
            ("IN_MODIFY", Some(false)),
            ("IN_ACCESS", Some(false)),
            ("IN_NEW_KIND", Some(false)),
            ("IN_OPEN", None),
            ("IN_CLOSE_NOWRITE IN_ISDIR", None),
        ] {
            let row = format!(
                r#"{{"WF_JSON":"0.0.2","wd":"1","cookie":"7","event":"{events}","path":"/gpfs/a \u00e4"}}"#
            );
            let mut space = Vec::new();
            let found = read(row.as_bytes(), &mut space).unwrap();
            let path = "/gpfs/a ä".as_bytes();
            let expected =
                expected.map_or_else(ChangeRow::default, |tree| ChangeRow::of_paths([(path, tree)]));
            assert_eq!(found, expected, "{row}");
            assert!(is_row(row.as_bytes()));
        }
    }

    #[test]
    fn rows_that_cannot_be_read_say_why() {
        for (row, why) in [
            ("", "JSON"),
            ("{}", "event is missing"),
            (r#"{"event":"","path":"/a"}"#, "empty"),
            (r#"{"event":"IN_CREATE"}"#, "path"),
            (r#"{"event":"IN_CREATE","path":"a"}"#, "path"),
            (r#"{"event":"IN_CREATE","path":"/a\u0000"}"#, "path"),
            (r#"{"event":"IN_CREATE","path":"/a""#, "JSON"),
            (r#"{"event":"IN_Q_OVERFLOW","path":"/a"}"#, "scan again"),
        ] {
            let error = read(row.as_bytes(), &mut Vec::new()).unwrap_err();
            assert!(error.contains(why), "{row}: {error}");
        }
    }
}
