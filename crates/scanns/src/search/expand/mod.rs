//! Queries made from documents: relevance feedback (RM3) and documents like a given one.

pub(crate) mod more_like_this;
pub(crate) mod rm3;
