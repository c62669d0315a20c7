//! What the name of a field says about its values.

/// The last words of names whose values are moments.
const MOMENTS: [&str; 25] = [
    "at",
    "time",
    "date",
    "datetime",
    "timestamp",
    "ts",
    "epoch",
    "mtime",
    "atime",
    "ctime",
    "btime",
    "crtime",
    "otime",
    "when",
    "modified",
    "created",
    "updated",
    "accessed",
    "changed",
    "published",
    "expires",
    "expiry",
    "seen",
    "since",
    "until",
];

/// Words in front of `time` in the names of durations.
const DURATIONS: [&str; 17] = [
    "response",
    "request",
    "cpu",
    "wall",
    "run",
    "elapsed",
    "wait",
    "user",
    "system",
    "sys",
    "real",
    "exec",
    "execution",
    "processing",
    "total",
    "up",
    "idle",
];

/// The last words of names whose values are paths.
const PATHS: [&str; 7] = ["path", "file", "filename", "filepath", "fullpath", "pathname", "fullname"];

/// The words of a name in lower case: parts between `_`, `-`, `.` and in front of capitals.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for c in name.chars() {
        let is_break = matches!(c, '_' | '-' | '.' | ' ');
        if (is_break || was_lower && c.is_uppercase()) && words.last().is_some_and(|word| !word.is_empty()) {
            words.push(String::new());
        }
        was_lower = c.is_lowercase();
        if let (false, Some(word)) = (is_break, words.last_mut()) {
            word.extend(c.to_lowercase());
        }
    }
    words
}

/// True if numbers in a field with this name may be moments.
pub(super) fn names_moments(name: &str) -> bool {
    let words = words(name);
    match words.as_slice() {
        [.., before, last] if last == "time" => !DURATIONS.contains(&before.as_str()),
        [.., last] => MOMENTS.contains(&last.as_str()),
        [] => false,
    }
}

/// True if the values of a field with this name may be paths of files.
pub(super) fn names_paths(name: &str) -> bool {
    words(name).last().is_some_and(|last| PATHS.contains(&last.as_str()))
}

/// True if a text looks like a path: absolute, or with a directory and without a scheme or white space.
pub(super) fn is_path(text: &[u8]) -> bool {
    let starts = [&b"/"[..], b"./", b"../"].iter().any(|start| text.starts_with(start));
    let is_relative = || {
        memchr::memchr(b'/', text).is_some()
            && memchr::memmem::find(text, b"://").is_none()
            && !text.iter().any(u8::is_ascii_whitespace)
    };
    starts || is_relative()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_moments_from_durations() {
        for name in
            ["mtime", "created_at", "createdAt", "file.mtime", "event-time", "TIMESTAMP", "Date", "lastSeen"]
        {
            assert!(names_moments(name), "{name}");
        }
        for name in ["size", "response_time", "cpuTime", "rate", "format", "mandate", "timeout", "", "_"] {
            assert!(!names_moments(name), "{name}");
        }
        assert!(names_paths("path") && names_paths("file.fullPath") && !names_paths("footpath"));
    }

    #[test]
    fn paths_have_directories_and_no_scheme() {
        for text in ["/", "/a b/c", "./x", "src/main.rs", "../a"] {
            assert!(is_path(text.as_bytes()), "{text}");
        }
        for text in ["", "a", "http://a/b", "one / two", "a.b"] {
            assert!(!is_path(text.as_bytes()), "{text}");
        }
    }
}
