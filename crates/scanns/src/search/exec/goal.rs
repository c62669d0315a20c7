//! The goal of a run over a view.

use std::ops::ControlFlow;

use crate::search::top_k::TopK;

/// Takes hits in batches: ascending documents and their scores.
pub(crate) type Sink<'s> = dyn FnMut(&[u32], &[f32]) -> ControlFlow<()> + 's;

/// Every hit, or only the best ones.
pub(crate) enum Goal<'g, 's> {
    All(&'g mut Sink<'s>),
    Top(&'g mut TopK<'s>),
}
