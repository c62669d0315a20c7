//! The `scanns` command.
fn main() {}
