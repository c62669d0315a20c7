//! Shows near-duplicates once: hits whose texts nearly repeat the text of a better hit.
//!
//! Documents have sketches in a column, if the index was built with them: numbers that differ in few bits if
//! the texts have nearly the same words in nearly the same order (`tokenize/sketch.rs`). Read `collapsed.rs`
//! first, which reads the sketches of the best hits. `collapse.rs` goes through them in the order of their
//! ranks, and finds those that nearly repeat an earlier one; `bands.rs` says which sketches may be near.

mod bands;
mod collapse;
mod collapsed;

pub use bands::MOST_DISTANCE;
pub use collapse::{KeptHit, NEAR_DISTANCE};
pub use collapsed::{Collapsed, NearHits};
