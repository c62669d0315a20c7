//! Sums by name: of owners, groups or extensions.

use hashbrown::HashMap;

use super::sums::EntrySums;
use crate::source::EntryKind;

/// The most different names of a table. Entries with others are summed up under [`NameTable::OTHERS`].
const MOST_NAMES: usize = 1 << 20;

/// The sums of the entries with one value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedSums {
    /// The value; `None` for entries without one.
    pub name: Option<Vec<u8>>,
    /// The sums.
    pub sums: EntrySums,
}

/// Numbers names, and sums up entries by them.
#[derive(Debug)]
pub(super) struct NameTable {
    numbers: HashMap<Vec<u8>, u32>,
    names: Vec<Vec<u8>>,
    sums: Vec<EntrySums>,
    /// The number of the last name, since the next entry often has the same.
    last: u32,
}

impl NameTable {
    /// The number of entries without a name.
    pub(super) const NONE: u32 = 0;
    /// The number of all names beyond the limit.
    const OTHERS: u32 = 1;

    pub(super) fn new() -> Self {
        NameTable {
            numbers: HashMap::new(),
            names: vec![Vec::new(), b"(others)".to_vec()],
            sums: vec![EntrySums::default(); 2],
            last: Self::OTHERS,
        }
    }

    /// The number of a name.
    #[inline]
    pub(super) fn number(&mut self, name: &[u8]) -> u32 {
        if self.name(self.last) == Some(name) && self.last != Self::OTHERS {
            return self.last;
        }
        self.last = match self.numbers.get(name) {
            Some(&number) => number,
            None => self.add_name(name),
        };
        self.last
    }

    fn add_name(&mut self, name: &[u8]) -> u32 {
        let number = u32::try_from(self.names.len()).unwrap_or(Self::OTHERS);
        if self.numbers.len() >= MOST_NAMES || number == Self::OTHERS {
            return Self::OTHERS;
        }
        self.numbers.insert(name.to_vec(), number);
        self.names.push(name.to_vec());
        self.sums.push(EntrySums::default());
        number
    }

    /// The name with a number, if it is one of a name.
    pub(super) fn name(&self, number: u32) -> Option<&[u8]> {
        let place = usize::try_from(number).ok().filter(|_| number != Self::NONE)?;
        self.names.get(place).map(Vec::as_slice)
    }

    /// Adds entries with a name.
    #[inline]
    pub(super) fn add(&mut self, number: u32, sums: EntrySums) {
        let place = usize::try_from(number).unwrap_or(usize::MAX);
        if let Some(own) = self.sums.get_mut(place) {
            *own += sums;
        }
    }

    /// Adds the sums of another table, and returns by its numbers the numbers here.
    pub(super) fn merge(&mut self, other: &NameTable) -> Vec<u32> {
        let mut numbers = vec![Self::NONE, Self::OTHERS];
        for name in other.names.iter().skip(numbers.len()) {
            numbers.push(self.number(name));
        }
        for (&number, &sums) in numbers.iter().zip(&other.sums) {
            self.add(number, sums);
        }
        numbers
    }

    /// The sums of all names that entries have, the greatest space first.
    pub(super) fn sorted(&self) -> Vec<NamedSums> {
        self.named(&self.sums)
    }

    /// Other sums by number, with their names, the greatest space first.
    pub(super) fn named(&self, sums: &[EntrySums]) -> Vec<NamedSums> {
        let names = self.names.iter().enumerate().map(|(at, name)| (at > 0).then_some(name));
        let counted = names.zip(sums).filter(|(_, sums)| sums.entries > 0);
        let mut all: Vec<NamedSums> =
            counted.map(|(name, &sums)| NamedSums { name: name.cloned(), sums }).collect();
        sort_by_space(&mut all);
        all
    }
}

/// Sums by the number of a name in a table.
#[derive(Debug, Default)]
pub(super) struct SumsByName(Vec<EntrySums>);

impl SumsByName {
    /// Adds entries with a name.
    #[inline]
    pub(super) fn add(&mut self, number: u32, sums: EntrySums) {
        let place = number as usize;
        if place >= self.0.len() {
            self.0.resize(place + 1, EntrySums::default());
        }
        if let Some(own) = self.0.get_mut(place) {
            *own += sums;
        }
    }

    /// Adds the sums by the names of another table, whose numbers are `numbers` here.
    pub(super) fn merge(&mut self, other: &SumsByName, numbers: &[u32]) {
        for (&number, &sums) in numbers.iter().zip(&other.0) {
            self.add(number, sums);
        }
    }

    /// The sums, the greatest space first.
    pub(super) fn sorted(&self, names: &NameTable) -> Vec<NamedSums> {
        names.named(&self.0)
    }
}

/// Sums by the type of entries.
#[derive(Debug, Default)]
pub(super) struct KindSums {
    /// In the order of [`KINDS`].
    sums: [EntrySums; KINDS.len()],
}

/// All types, the first for entries whose type is not known.
const KINDS: [Option<EntryKind>; 8] = [
    None,
    Some(EntryKind::File),
    Some(EntryKind::Directory),
    Some(EntryKind::Link),
    Some(EntryKind::Fifo),
    Some(EntryKind::Socket),
    Some(EntryKind::Device),
    Some(EntryKind::Member),
];

impl KindSums {
    /// Adds entries of a type.
    #[inline]
    pub(super) fn add(&mut self, kind: Option<EntryKind>, sums: EntrySums) {
        let place = KINDS.iter().position(|&one| one == kind);
        if let Some(own) = place.and_then(|place| self.sums.get_mut(place)) {
            *own += sums;
        }
    }

    pub(super) fn merge(&mut self, other: &KindSums) {
        self.sums.iter_mut().zip(&other.sums).for_each(|(own, &sums)| *own += sums);
    }

    /// The sums of all types that entries have, the greatest space first.
    pub(super) fn sorted(&self) -> Vec<NamedSums> {
        let named = KINDS.iter().zip(&self.sums).filter(|(_, sums)| sums.entries > 0);
        let name = |kind: EntryKind| kind.name().as_bytes().to_vec();
        let mut all: Vec<NamedSums> =
            named.map(|(kind, &sums)| NamedSums { name: kind.map(name), sums }).collect();
        sort_by_space(&mut all);
        all
    }
}

/// Sorts by space, size and number of entries, descending, then by name.
pub(super) fn sort_by_space(all: &mut [NamedSums]) {
    all.sort_unstable_by(|one, other| {
        let order = |sums: &EntrySums| (sums.space, sums.size, sums.entries);
        order(&other.sums).cmp(&order(&one.sums)).then_with(|| one.name.cmp(&other.name))
    });
}
