//! Links of an HDF5 group that lead to no member: to named types, to other files, or to absent objects.
//!
//! A group with few links keeps them as messages of its header, one with many in a fractal heap that a B-tree
//! indexes. Groups of the first version have neither; their soft links are members where the target exists.

use std::collections::HashSet;

use hdf5_reader::Hdf5File;
use hdf5_reader::btree_v2::{BTreeV2Header, BTreeV2Record, collect_btree_v2_records_storage};
use hdf5_reader::error::Result;
use hdf5_reader::fractal_heap::{FractalHeap, FractalHeapDirectBlockCache};
use hdf5_reader::io::Cursor;
use hdf5_reader::messages::HdfMessage;
use hdf5_reader::messages::link::{self, LinkMessage, LinkTarget};
use hdf5_reader::messages::link_info::LinkInfoMessage;

use crate::science::cdl::Attribute;

/// The links of the group at `address` whose names are not in `members`, as attributes.
pub(super) fn without_member(
    file: &Hdf5File,
    address: u64,
    members: &HashSet<&str>,
) -> Result<Vec<Attribute>> {
    let header = file.get_or_parse_header(address)?;
    let mut found = Vec::new();
    for message in &header.messages {
        match message {
            HdfMessage::Link(link) => found.extend(attribute(link, members)),
            HdfMessage::LinkInfo(info) if is_dense(file, info) => dense(file, info, members, &mut found)?,
            _ => {}
        }
    }
    Ok(found)
}

fn attribute(link: &LinkMessage, members: &HashSet<&str>) -> Option<Attribute> {
    let target = match &link.target {
        LinkTarget::Hard { .. } if members.contains(link.name.as_str()) => return None,
        LinkTarget::Hard { .. } => "named type".to_string(),
        LinkTarget::Soft { path } => format!("link to {path}"),
        LinkTarget::External { filename, path } => format!("link to {filename} {path}"),
    };
    Some(Attribute::text(link.name.as_str(), target))
}

/// Whether the links are in a heap: its address is then defined.
fn is_dense(file: &Hdf5File, info: &LinkInfoMessage) -> bool {
    !Cursor::is_undefined_offset(info.fractal_heap_address, file.superblock().offset_size)
}

fn dense(
    file: &Hdf5File,
    info: &LinkInfoMessage,
    members: &HashSet<&str>,
    found: &mut Vec<Attribute>,
) -> Result<()> {
    let storage = file.storage();
    let (offset, length) = (file.superblock().offset_size, file.superblock().length_size);
    let heap = FractalHeap::parse_at_storage(storage, info.fractal_heap_address, offset, length)?;
    let tree = BTreeV2Header::parse_at_storage(storage, info.btree_name_index_address, offset, length)?;
    let records = collect_btree_v2_records_storage(storage, &tree, offset, length, None, &[], None)?;
    let mut blocks = FractalHeapDirectBlockCache::default();
    for record in &records {
        let BTreeV2Record::LinkNameHash { heap_id, .. } = record else { continue };
        let bytes = heap.get_object_storage_cached(heap_id, storage, offset, length, &mut blocks)?;
        let link = link::parse(&mut Cursor::new(&bytes), offset, length, bytes.len())?;
        found.extend(attribute(&link, members));
    }
    Ok(())
}
