use std::collections::{HashMap, HashSet};

use super::*;

fn text(count: u64, seed: u64, format: Format) -> Vec<u8> {
    let mut out = Vec::new();
    write(&mut out, count, seed, format).unwrap();
    out
}

#[test]
fn the_same_seed_and_count_give_the_same_bytes_and_others_do_not() {
    let one = text(20_000, 1, Format::Find);
    assert_eq!(one, text(20_000, 1, Format::Find));
    assert_ne!(one, text(20_000, 2, Format::Find));
    let paths = text(20_000, 1, Format::Paths);
    assert_eq!(paths.iter().filter(|&&byte| byte == b'\n').count(), 20_000);
    assert_eq!(text(20_000, 1, Format::Paths0).iter().filter(|&&byte| byte == 0).count(), 20_000);
    assert_eq!(text(0, 1, Format::Find), b"");
}

#[test]
fn every_path_is_listed_once_after_the_directory_that_holds_it_and_together_with_those_beside_it() {
    let mut walk = Walk::new(300_000, 3);
    let (mut directories, mut paths, mut open) = (HashSet::new(), HashSet::new(), Vec::<Vec<u8>>::new());
    while let Some(entry) = walk.next() {
        assert!(paths.insert(entry.path.to_vec()), "{}", entry.path.escape_ascii());
        let parent = &entry.path[..entry.path.len() - entry.name.len() - 1];
        assert!(parent.is_empty() || directories.contains(parent), "{}", entry.path.escape_ascii());
        open.retain(|directory| entry.path.starts_with(&[directory, &b"/"[..]].concat()));
        assert_eq!(open.last().map_or(&b""[..], Vec::as_slice), parent, "entries are depth first");
        if entry.facts.letter == b'd' {
            directories.insert(entry.path.to_vec());
            open.push(entry.path.to_vec());
        }
    }
    assert_eq!(paths.len(), 300_000);
}

#[test]
fn an_inode_has_as_many_names_as_it_says_and_the_same_facts_in_each() {
    let mut walk = Walk::new(300_000, 4);
    let mut inodes = HashMap::<u64, (u32, u64, u32)>::new();
    while let Some(Listed { facts, .. }) = walk.next() {
        let (names, size, links) = inodes.entry(facts.inode).or_insert((0, facts.size, facts.links));
        *names += 1;
        assert_eq!((*size, *links), (facts.size, facts.links));
        assert!(*names == 1 || facts.links == 2 && *names == 2, "{facts:?}");
    }
    let twice = inodes.values().filter(|(names, ..)| *names == 2).count();
    assert!((30..3_000).contains(&twice), "{twice} files have two names");
}

#[test]
fn the_file_system_is_like_those_of_research_sites() {
    let mut walk = Walk::new(1_000_000, 5);
    let (mut directories, mut large, mut depth, mut links, mut sizes) = (0, 0, 0, 0, Vec::new());
    let (mut children, mut names) = (HashMap::<Vec<u8>, u32>::new(), HashMap::<Vec<u8>, u32>::new());
    let (mut extensions, mut owners) = (HashMap::<Vec<u8>, u32>::new(), HashMap::<u32, u32>::new());
    while let Some(entry) = walk.next() {
        let parent = &entry.path[..entry.path.len() - entry.name.len() - 1];
        *children.entry(parent.to_vec()).or_default() += 1;
        *names.entry(entry.name.to_vec()).or_default() += 1;
        *owners.entry(entry.facts.uid).or_default() += 1;
        depth += entry.path.iter().filter(|&&byte| byte == b'/').count();
        match entry.facts.letter {
            b'd' => directories += 1,
            b'l' => links += 1,
            _ => {
                if let Some(at) = entry.name.iter().rposition(|&byte| byte == b'.') {
                    *extensions.entry(entry.name[at..].to_vec()).or_default() += 1;
                }
                large += u64::from(entry.facts.size > 1 << 30);
                sizes.push(entry.facts.size);
            }
        }
        let dates = [entry.facts.mtime, entry.facts.ctime, entry.facts.atime];
        assert!(dates.is_sorted() && dates[2] <= walk::NOW);
    }
    sizes.sort_unstable();
    let most = children.values().max().unwrap();
    println!(
        "{directories} directories, the largest of {most}, {links} links, depth {}, median size {}, {large} \
         of more than 1 GiB, {} names, {} extensions, {} owners",
        depth / 1_000_000,
        sizes[sizes.len() / 2],
        names.len(),
        extensions.len(),
        owners.len()
    );
    assert!((30_000..250_000).contains(&directories));
    assert!((20_000..=50_000).contains(most));
    assert!((1_000..20_000).contains(&links) && (50..50_000).contains(&large));
    assert!((4..9).contains(&(depth / 1_000_000)));
    assert!((1_000..1_000_000).contains(&sizes[sizes.len() / 2]));
    assert!((100_000..700_000).contains(&names.len()) && extensions.len() > 40 && owners.len() > 50);
}
