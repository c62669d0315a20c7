//! The engines to compare with, prepared as far as they can be had.

use std::path::Path;

use anyhow::{Result, bail};
use clap::ValueEnum;
use scanns_bench::results::Results;

use crate::toolchain::{self, Ready};

/// An engine to compare with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Peer {
    /// Apache Lucene
    Lucene,
    /// tantivy
    Tantivy,
    /// SeekStorm
    Seekstorm,
}

/// The peers that could be prepared.
#[derive(Clone, Debug, Default)]
pub struct Peers {
    /// Lucene.
    pub lucene: Option<Ready>,
    /// tantivy.
    pub tantivy: Option<Ready>,
    /// The others, by name: engines that find words by rules of their own.
    pub guests: Vec<(&'static str, Ready)>,
}

impl Peer {
    /// The name, as its makers write it.
    pub fn name(self) -> &'static str {
        match self {
            Peer::Lucene => "Lucene",
            Peer::Tantivy => "tantivy",
            Peer::Seekstorm => "SeekStorm",
        }
    }

    fn prepare(self, work: &Path, heap_mib: u64) -> Result<Ready> {
        match self {
            Peer::Lucene => toolchain::lucene(work, heap_mib),
            Peer::Tantivy => toolchain::adapter(work, "tantivy"),
            Peer::Seekstorm => toolchain::adapter(work, "seekstorm"),
        }
    }
}

impl Peers {
    /// Prepares the wanted peers in the directory `work`; Lucene will have a heap of `heap_mib` MiB. A peer
    /// that cannot be prepared is noted and left out.
    ///
    /// # Errors
    /// If no peer is left.
    pub fn prepare(wanted: &[Peer], work: &Path, heap_mib: u64, results: &mut Results) -> Result<Self> {
        Self::of(wanted, |peer| peer.prepare(work, heap_mib), results)
    }

    fn of(wanted: &[Peer], make: impl Fn(Peer) -> Result<Ready>, results: &mut Results) -> Result<Self> {
        let (mut peers, mut reasons) = (Peers::default(), Vec::new());
        for &peer in wanted {
            eprintln!("peers: preparing {}", peer.name());
            match make(peer) {
                Ok(ready) if peer == Peer::Lucene => peers.lucene = Some(ready),
                Ok(ready) if peer == Peer::Tantivy => peers.tantivy = Some(ready),
                Ok(ready) => peers.guests.push((peer.name(), ready)),
                Err(error) => reasons.push(format!("{} is left out: {error:#}", peer.name())),
            }
        }
        if reasons.len() == wanted.len() {
            bail!("no engine to compare with is available\n{}", reasons.join("\n"));
        }
        reasons.into_iter().for_each(|reason| results.note(reason));
        Ok(peers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_peer_that_is_missing_is_noted_and_the_others_are_compared() {
        let make = |peer: Peer| match peer {
            Peer::Lucene => bail!("no JDK"),
            peer => Ok(Ready { version: peer.name().into(), command: Vec::new() }),
        };
        let mut results = Results::begin(&[]);
        let peers = Peers::of(&[Peer::Lucene, Peer::Tantivy, Peer::Seekstorm], make, &mut results).unwrap();
        assert!(peers.lucene.is_none() && peers.tantivy.is_some());
        assert_eq!(peers.guests.iter().map(|(name, _)| *name).collect::<Vec<_>>(), ["SeekStorm"]);
        assert!(results.notes.iter().any(|note| note == "Lucene is left out: no JDK"), "{:?}", results.notes);
        let error = Peers::of(&[Peer::Lucene], make, &mut results).unwrap_err().to_string();
        assert!(error.contains("no engine") && error.contains("no JDK"), "{error}");
    }
}
