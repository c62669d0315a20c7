use std::collections::BTreeSet;

use super::*;

const SEEDS: u64 = 200;

fn write(directory: &FaultDirectory, name: &str, bytes: &[u8]) -> Result<()> {
    let mut output = directory.create(name)?;
    output.write_all(bytes).map_err(failed("write", name))?;
    output.finish()
}

/// The possible contents of a file after power cuts; `None` if the name does not exist.
fn left(directory: &FaultDirectory, name: &str) -> BTreeSet<Option<Vec<u8>>> {
    let states = (0..SEEDS).map(|seed| directory.after_power_cut(seed));
    states.map(|state| state.open(name).ok().map(|bytes| bytes.to_vec())).collect()
}

#[test]
fn bytes_that_were_not_finished_can_be_kept_lost_cut_and_garbled() {
    let directory = FaultDirectory::new();
    let text = vec![b'x'; 3 * 4096];
    let mut output = directory.create("a").unwrap();
    output.write_all(&text).unwrap();
    output.flush().unwrap();
    directory.sync().unwrap();
    let states = left(&directory, "a");
    let some = |is: fn(&[u8]) -> bool| states.iter().flatten().any(|bytes| is(bytes));
    assert!(!states.contains(&None), "the name was synced");
    assert!(states.contains(&Some(text.clone())) && states.contains(&Some(Vec::new())));
    assert!(some(|bytes| !bytes.is_empty() && bytes.len() < 3 * 4096));
    assert!(some(|bytes| bytes.len() == 3 * 4096 && bytes.contains(&0) && bytes.contains(&b'x')));
    output.finish().unwrap();
    assert_eq!(left(&directory, "a"), [Some(text)].into());
}

#[test]
fn names_that_were_not_synced_can_be_there_or_not() {
    let directory = FaultDirectory::new();
    write(&directory, "a", b"one").unwrap();
    assert_eq!(left(&directory, "a"), [None, Some(b"one".to_vec())].into());
    directory.sync().unwrap();
    write(&directory, "b", b"two").unwrap();
    directory.rename("b", "a").unwrap();
    let both = (0..SEEDS).any(|seed| directory.after_power_cut(seed).list().unwrap() == ["a", "b"]);
    assert!(both, "a rename can be lost after the file was created");
    assert_eq!(left(&directory, "a"), [Some(b"one".to_vec()), Some(b"two".to_vec())].into());
    directory.sync().unwrap();
    assert_eq!(left(&directory, "a"), [Some(b"two".to_vec())].into());
    directory.remove("a").unwrap();
    assert_eq!(left(&directory, "a"), [None, Some(b"two".to_vec())].into());
}

#[test]
fn creating_a_file_again_endangers_what_it_held() {
    let directory = FaultDirectory::new();
    write(&directory, "a", b"one").unwrap();
    directory.sync().unwrap();
    drop(directory.create("a").unwrap());
    let states = left(&directory, "a");
    assert!(states.contains(&Some(b"one".to_vec())) && states.contains(&Some(Vec::new())), "{states:?}");
}

#[test]
fn the_state_at_each_call_can_be_asked_for_afterwards() {
    let directory = FaultDirectory::new();
    write(&directory, "a", b"one").unwrap();
    directory.sync().unwrap();
    directory.remove("a").unwrap();
    directory.sync().unwrap();
    let kinds: Vec<_> = directory.calls().iter().map(|call| call.kind).collect();
    use CallKind::{Create, Finish, Remove, Sync, Write};
    assert_eq!(kinds, [Create, Write, Finish, Sync, Remove, Sync]);
    let has = |call| {
        let mut found = (0..SEEDS).map(|seed| directory.after_power_cut_at(call, seed).list().unwrap().len());
        let first = found.next().unwrap();
        if found.all(|count| count == first) { Some(first) } else { None }
    };
    assert_eq!([0, 1, 3, 4, 5, 6].map(has), [Some(0), None, None, Some(1), None, Some(0)]);
}

#[test]
fn each_fault_does_what_it_says_once() {
    for kind in [Fault::Io, Fault::NoSpace, Fault::TooManyFiles] {
        let directory = FaultDirectory::new();
        directory.fail_at(0, kind);
        assert!(matches!(write(&directory, "a", b"one"), Err(Error::Io { action: "create", .. })));
        assert!(directory.list().unwrap().is_empty());
        write(&directory, "a", b"one").unwrap();
    }
    let directory = FaultDirectory::new();
    directory.fail_at(1, Fault::Short);
    write(&directory, "a", b"four").unwrap();
    assert_eq!(&*directory.open("a").unwrap(), b"four", "the rest was written by a second call");
    assert_eq!(directory.call_count(), 5);
    directory.fail_at(5, Fault::Short);
    assert_eq!(&*directory.open("a").unwrap(), b"fo");
    directory.fail_at(6, Fault::LostReply);
    assert!(directory.rename("a", "b").is_err());
    assert_eq!(directory.list().unwrap(), ["b"]);
}

#[test]
fn a_sync_that_fails_loses_the_bytes() {
    let directory = FaultDirectory::new();
    directory.fail_at(2, Fault::Io);
    assert!(matches!(write(&directory, "a", b"one"), Err(Error::Io { action: "sync", .. })));
    assert_eq!(&*directory.open("a").unwrap(), [0; 3]);
    directory.sync().unwrap();
    assert!(!left(&directory, "a").contains(&Some(b"one".to_vec())));
}

#[test]
fn without_power_every_call_fails_and_nothing_changes() {
    let directory = FaultDirectory::new();
    write(&directory, "a", b"one").unwrap();
    directory.sync().unwrap();
    let lock = directory.lock().unwrap();
    assert!(matches!(directory.lock(), Err(Error::Locked { .. })));
    directory.cut_power_at(directory.call_count());
    assert!(directory.open("a").is_err() && directory.list().is_err() && directory.sync().is_err());
    assert!(directory.remove("a").is_err() && directory.rename("a", "b").is_err());
    assert!(directory.create("b").is_err() && directory.lock().is_err());
    drop(lock);
    assert_eq!(left(&directory, "a"), [Some(b"one".to_vec())].into());
}

#[test]
fn space_ends_at_a_page() {
    let directory = FaultDirectory::new();
    write(&directory, "a", &[1; 5000]).unwrap();
    assert_eq!(directory.used_space(), 8192);
    directory.limit_space(Some(3 * 4096 + 100));
    assert!(write(&directory, "b", &[2; 4097]).is_err());
    assert_eq!(directory.open("b").unwrap().len(), 4096);
    directory.remove("b").unwrap();
    write(&directory, "b", &[2; 4096]).unwrap();
    directory.limit_space(None);
    let again = FaultDirectory::with_files(&directory).unwrap();
    write(&again, "c", &[3; 9999]).unwrap();
    assert_eq!(left(&again, "a"), [Some(vec![1; 5000])].into());
}
