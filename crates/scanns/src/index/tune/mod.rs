//! tune
mod search;
