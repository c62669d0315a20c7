//! Finds the parameters of a build that suit a machine and its data, and reports what limits the build.
//!
//! [`tune`] in `run.rs` measures memory, devices and processor (`memory.rs`, `device.rs`, `processor.rs`),
//! takes a sample of the inputs (`sample.rs`), builds an index of it with different parameters (`trial.rs`),
//! searches for the best of them (`search.rs`, over the grid in `profile.rs`), and compares the best rate
//! with the limit of each resource (`roofline.rs`). Read `search.rs` first: measurements are noisy, and the
//! search is designed for that.

mod device;
mod memory;
mod numbers;
mod processor;
mod profile;
mod report;
mod roofline;
mod run;
mod sample;
mod search;
mod trial;

pub use device::{DeviceLimits, ReadRate};
pub use memory::MemoryLimits;
pub use processor::ProcessorLimits;
pub use profile::Profile;
pub use report::{Tried, TuneOptions, TuneReport, TuneStep, Tuned};
pub use roofline::{Resource, Roofline};
pub use run::{find_parameters, tune};
pub use trial::{Trial, Trials};

#[cfg(test)]
mod tests;
