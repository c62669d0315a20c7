//! Which objects of a PowerPoint stream belong to the presentation as it was saved last.
//!
//! A save may append changed objects and leave the old ones in the stream. Each save ends with a
//! `UserEditAtom`, which leads to a directory of places by object number and to the save before it; the
//! stream `Current User` has the place of the last one. The document lists the numbers of its masters,
//! slides and notes.

use std::collections::{HashMap, HashSet};

use super::record::{Record, SLIDE_LIST};
use crate::document::bytes::{size_at, u32_at};

/// Types of records.
const USER_EDIT: u16 = 4_085;
const DIRECTORY: u16 = 6_002;
const SLIDE_PLACE: u16 = 1_011;
/// The instances of the lists of slides and of their notes.
const SLIDES: u16 = 0;
const NOTES: u16 = 2;
/// The bits of a directory's entry for its first object number; the others count its places.
const NUMBER_BITS: u32 = 20;

/// The places of the document, its slides and its notes, each once; `None` if the directory is damaged or
/// the document lists no slide.
pub(super) fn objects(stream: &[u8], current_user: &[u8]) -> Option<Vec<usize>> {
    let (document, places) = directory(stream, size_at(current_user, 16)?)?;
    let document = *places.get(&document)?;
    let slides = listed(stream, document, SLIDES);
    if slides.is_empty() {
        return None;
    }
    let numbers = slides.into_iter().chain(listed(stream, document, NOTES));
    let mut seen = HashSet::from([document]);
    let mut objects = vec![document];
    objects.extend(
        numbers.filter_map(|number| places.get(&number).copied()).filter(|place| seen.insert(*place)),
    );
    Some(objects)
}

/// The number of the document and the places of objects by number, by the save at `edit` and those before.
fn directory(stream: &[u8], edit: usize) -> Option<(u32, HashMap<u32, usize>)> {
    let mut places = HashMap::new();
    let mut document = None;
    let mut at = edit;
    loop {
        let edit = Record::at(stream, at, stream.len()).filter(|record| record.kind == USER_EDIT)?;
        let body = edit.body(stream);
        document = document.or(u32_at(body, 16));
        let directory = Record::at(stream, size_at(body, 12)?, stream.len())?;
        if directory.kind != DIRECTORY {
            return None;
        }
        entries(directory.body(stream), &mut places);
        let before = size_at(body, 8)?;
        if before == 0 {
            return document.map(|document| (document, places));
        }
        if before >= at {
            return None;
        }
        at = before;
    }
}

/// Adds the entries of a directory that no later one has.
fn entries(mut rest: &[u8], places: &mut HashMap<u32, usize>) {
    while let Some(head) = u32_at(rest, 0) {
        let (first, count) = (head & ((1 << NUMBER_BITS) - 1), head >> NUMBER_BITS);
        rest = rest.get(4..).unwrap_or_default();
        for number in first..first + count {
            let Some(place) = size_at(rest, 0) else { return };
            places.entry(number).or_insert(place);
            rest = rest.get(4..).unwrap_or_default();
        }
    }
}

/// The object numbers in the document's list of this instance.
fn listed(stream: &[u8], document: usize, instance: u16) -> Vec<u32> {
    let Some(document) = Record::at(stream, document, stream.len()) else { return Vec::new() };
    let is_wanted = |record: &Record| record.kind == SLIDE_LIST && record.instance == instance;
    let lists = document.children(stream).filter(is_wanted);
    let slides = lists.flat_map(|list| list.children(stream)).filter(|record| record.kind == SLIDE_PLACE);
    slides.filter_map(|record| u32_at(record.body(stream), 0)).collect()
}
