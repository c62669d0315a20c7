//! The lists of files that `mmapplypolicy` of IBM Storage Scale writes: [`list`] is what a rule of type LIST
//! gives to scripts and to `-f`, [`records`] is what `-I prepare` writes for `-r`.
//!
//! Both may hold values of the files that the rule names in its SHOW clause: see [`show`].
//!
//! Source: the pages "File list format", "Record format" and "Policy rules: Terms" of IBM's documentation.

mod list;
mod records;
mod show;
#[cfg(test)]
mod tests;

pub use list::PolicyList;
pub use records::PolicyRecords;
pub use show::ShowColumns;
