//! Data of others for tests.

use std::path::PathBuf;

/// A file of the test data, which `SCANNS_TEST_DATA` names, or `shared/data` beside the project. Prints
/// SKIPPED and gives `None` where it is absent.
pub(crate) fn test_data(name: &str) -> Option<Vec<u8>> {
    let beside = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data");
    let folder = std::env::var_os("SCANNS_TEST_DATA").map_or_else(|| beside.into(), PathBuf::from);
    let data = std::fs::read(folder.join(name)).ok();
    if data.is_none() {
        println!("SKIPPED: there is no {name} in {}", folder.display());
    }
    data
}
