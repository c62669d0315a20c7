//! The groups of an HDF5 file as [`Group`]s, with the names of dimensions where it has dimension scales.
//!
//! A dimension scale is a dataset with the attribute `CLASS` = `DIMENSION_SCALE`. Other datasets refer to
//! their scales in `DIMENSION_LIST`, by the address of their object headers. netCDF-4 keeps a dimension
//! without a variable as a scale whose `NAME` begins with [`NO_VARIABLE`].

use std::collections::{HashMap, HashSet};

use hdf5_reader::Hdf5File;
use hdf5_reader::dataset::Dataset;

use super::links;
use super::value;
use crate::science::cdl::{Attribute, Dim, Group, Variable};

const NO_VARIABLE: &str = "This is a netCDF dimension but not a netCDF variable";
/// Attributes with which the netCDF library keeps its own books.
const BOOKS: [&str; 7] = [
    "CLASS",
    "NAME",
    "DIMENSION_LIST",
    "REFERENCE_LIST",
    "_Netcdf4Dimid",
    "_Netcdf4Coordinates",
    "_nc3_strict",
];
/// The deepest nest of groups that is read.
const MOST_DEPTH: usize = 64;
/// The most groups and datasets that are read.
const MOST_OBJECTS: usize = 200_000;
/// The most bytes of attributes that are kept: links may lead to the same object many times.
const MOST_ATTRIBUTES: usize = 64 << 20;

/// Reads all groups; the second value is the first error.
pub(super) fn read(file: Hdf5File, root: &hdf5_reader::group::Group) -> (Group, Option<String>) {
    let mut walk = Walk::new(file);
    let mut group = walk.group(root, 0);
    walk.name_dims(&mut group, &mut Place::default());
    group.name = String::new();
    (group, walk.trouble)
}

struct Walk {
    file: Hdf5File,
    /// Addresses of the groups that were read: a hard link may lead back to one of them.
    seen: HashSet<u64>,
    objects: usize,
    attribute_bytes: usize,
    /// Names of the dimension scales by the address of their header.
    scales: HashMap<u64, String>,
    /// For each dataset in the order of the walk: the addresses of the scales of its dimensions.
    lists: Vec<Vec<Option<u64>>>,
    /// For each scale in the order of the walk: its address.
    order: Vec<u64>,
    /// The longest dimension that uses a scale: the scale of an unlimited one may itself be shorter.
    lengths: HashMap<u64, u64>,
    trouble: Option<String>,
}

/// How many datasets and scales the second walk has passed.
#[derive(Default)]
struct Place {
    lists: usize,
    scales: usize,
}

impl Walk {
    fn new(file: Hdf5File) -> Self {
        Self {
            file,
            seen: HashSet::new(),
            objects: 0,
            attribute_bytes: 0,
            scales: HashMap::new(),
            lists: Vec::new(),
            order: Vec::new(),
            lengths: HashMap::new(),
            trouble: None,
        }
    }

    fn note(&mut self, reason: impl ToString) {
        self.trouble.get_or_insert_with(|| reason.to_string());
    }

    fn group(&mut self, group: &hdf5_reader::group::Group, depth: usize) -> Group {
        let mut found = Group { name: group.name().to_string(), ..Group::default() };
        if !self.seen.insert(group.address()) {
            return found;
        }
        match group.attributes() {
            Ok(attributes) => found.attributes = attributes.iter().filter_map(value::attribute).collect(),
            Err(error) => self.note(error),
        }
        let (groups, datasets) = self.members(group);
        let names = groups.iter().map(|group| group.name()).chain(datasets.iter().map(Dataset::name));
        match links::without_member(&self.file, group.address(), &names.collect()) {
            Ok(links) => found.attributes.extend(links),
            Err(error) => self.note(error),
        }
        self.keep(&mut found.attributes);
        for dataset in &datasets {
            self.dataset(dataset, &mut found);
        }
        for child in &groups {
            self.objects += 1;
            if depth >= MOST_DEPTH || self.objects > MOST_OBJECTS {
                self.note("too many groups");
                break;
            }
            found.groups.push(self.group(child, depth + 1));
        }
        found
    }

    /// The members of a group: where one of them is damaged, the others.
    fn members(
        &mut self,
        group: &hdf5_reader::group::Group,
    ) -> (Vec<hdf5_reader::group::Group>, Vec<Dataset>) {
        let error = match group.members() {
            Ok(members) => return members,
            Err(error) => error,
        };
        self.note(error);
        let Ok((groups, datasets)) = group.member_names() else { return Default::default() };
        let groups = groups.iter().filter_map(|name| group.group(name).ok()).collect();
        (groups, datasets.iter().filter_map(|name| group.dataset(name).ok()).collect())
    }

    /// Drops attributes over the limit.
    fn keep(&mut self, attributes: &mut Vec<Attribute>) {
        self.attribute_bytes += attributes.iter().map(|a| a.name.len() + a.value.len()).sum::<usize>();
        if self.attribute_bytes > MOST_ATTRIBUTES {
            attributes.clear();
            self.note("too many attributes");
        }
    }

    fn dataset(&mut self, dataset: &Dataset, group: &mut Group) {
        self.objects += 1;
        if self.objects > MOST_OBJECTS {
            return self.note("too many datasets");
        }
        let attributes = dataset.attributes();
        let text = |name| attributes.iter().find(|a| a.name == name).and_then(value::string);
        let is_scale = text("CLASS").is_some_and(|class| class == "DIMENSION_SCALE");
        if is_scale {
            let name = dataset.name().to_string();
            self.scales.insert(dataset.address(), name.clone());
            self.order.push(dataset.address());
            let length = dataset.shape().first().copied().unwrap_or(0);
            let unlimited = dataset.max_dims().and_then(|dims| dims.first().copied()) == Some(u64::MAX);
            group.dims.push(Dim { name, length, unlimited });
            if text("NAME").is_some_and(|name| name.starts_with(NO_VARIABLE)) {
                return;
            }
        }
        let list = attributes.iter().find(|a| a.name == "DIMENSION_LIST");
        let mut scales = list.map(|list| value::references(dataset, list)).unwrap_or_default();
        if scales.is_empty() && is_scale {
            scales.push(Some(dataset.address()));
        }
        for (address, &length) in scales.iter().zip(dataset.shape()) {
            let longest = address.map(|address| self.lengths.entry(address).or_default());
            longest.into_iter().for_each(|longest| *longest = length.max(*longest));
        }
        self.lists.push(scales);
        let mut found = variable(dataset, &attributes);
        self.keep(&mut found.attributes);
        group.variables.push(found);
    }

    /// Names the dimensions of each variable. The walk is the one that filled `lists` and `order`.
    fn name_dims(&self, group: &mut Group, next: &mut Place) {
        for dim in &mut group.dims {
            let longest = self.order.get(next.scales).and_then(|address| self.lengths.get(address));
            next.scales += 1;
            if dim.unlimited {
                dim.length = dim.length.max(longest.copied().unwrap_or(0));
            }
        }
        for variable in &mut group.variables {
            let list = self.lists.get(next.lists).map_or(&[][..], Vec::as_slice);
            next.lists += 1;
            let names: Option<Vec<String>> =
                list.iter().map(|address| self.scales.get(&(*address)?).cloned()).collect();
            variable.dims = names.filter(|names| names.len() == variable.shape.len()).unwrap_or_default();
        }
        for child in &mut group.groups {
            self.name_dims(child, next);
        }
    }
}

fn variable(dataset: &Dataset, attributes: &[hdf5_reader::Attribute]) -> Variable {
    let kept = attributes.iter().filter(|attribute| !BOOKS.contains(&attribute.name.as_str()));
    let mut attributes: Vec<Attribute> = kept.filter_map(value::attribute).collect();
    let members = value::members(dataset.dtype());
    if !members.is_empty() {
        attributes.push(Attribute::text("members", members));
    }
    Variable {
        name: dataset.name().to_string(),
        dtype: value::dtype(dataset.dtype()),
        dims: Vec::new(),
        shape: dataset.shape().to_vec(),
        attributes,
    }
}
