//! Relative paths of dumps, below the directory to which they belong.

/// A path below `root`, if it is relative and there is a root; `space` holds it.
pub(super) fn rooted<'p>(path: &'p [u8], root: Option<&[u8]>, space: &'p mut Vec<u8>) -> &'p [u8] {
    let Some(root) = root.filter(|_| !path.starts_with(b"/")) else { return path };
    let below = if path == b"." { &[] } else { path.strip_prefix(b"./").unwrap_or(path) };
    space.clear();
    space.extend_from_slice(root);
    if !below.is_empty() {
        if !root.ends_with(b"/") {
            space.push(b'/');
        }
        space.extend_from_slice(below);
    }
    space
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_paths_are_below_the_root_and_others_stay() {
        let of = |path: &str, root: Option<&str>| {
            let mut space = Vec::new();
            let path = rooted(path.as_bytes(), root.map(str::as_bytes), &mut space).to_vec();
            String::from_utf8(path).unwrap()
        };
        assert_eq!(of("./a/b", Some("/data")), "/data/a/b");
        assert_eq!(of("a", Some("/")), "/a");
        assert_eq!(of(".", Some("/data")), "/data");
        assert_eq!(of("/x", Some("/data")), "/x");
        assert_eq!(of("./a", None), "./a");
    }
}
