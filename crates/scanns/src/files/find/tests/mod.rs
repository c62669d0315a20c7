//! Tests against GNU find on a live tree, and of single pieces.

mod batches;
mod device;
mod dump;
mod generate;
mod indexed;
mod live;
mod oracle;
mod texts;
mod tree;
