//! Tests of search. `fixture.rs` has a leaf made of maps, `oracle.rs` scores every document by the
//! definitions.

mod budget;
mod explain;
mod fixture;
mod formulas;
mod oracle;
mod paging;
mod phrases;
mod ranking;
mod strategy;
mod threads;

pub(in crate::search) use fixture::{Document, MapLeaf};
pub(in crate::search) use oracle::{distance, fits};
pub(crate) use ranking::{MODELS, random_query};
