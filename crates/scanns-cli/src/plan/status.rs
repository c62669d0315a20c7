//! `scanns plan --status`: which shards of a plan are done, running or missing.

use std::io::Write;
use std::path::Path;

use anyhow::Result;
use scanns::index::{ShardPlan, ShardState, ShardStatus};
use serde_json::{Map, Value, json};

use crate::output::Output;
use crate::report::{self, Outcome};
use crate::units;

/// Shards that are described one by one, of each kind.
const SHOWN: usize = 20;

/// Prints the state of the shards. The exit code is 1 until all are done.
pub fn print(path: &Path, as_json: bool) -> Result<Outcome> {
    let plan = ShardPlan::open(path)?;
    let states = plan.status(None)?;
    let is_done = |status: &ShardStatus| matches!(status.state, ShardState::Done { .. });
    let are_done = states.iter().all(is_done);
    // If something is wrong with the list of the shards, assembling the index again mends it.
    let assembled = scanns::index::shards_of(plan.index()).ok().flatten();
    let is_assembled = are_done && assembled.is_some();
    let mut out = Output::stdout();
    if as_json {
        let mut object = Map::new();
        report::put_bytes(&mut object, "plan", path.as_os_str().as_encoded_bytes());
        report::put_bytes(&mut object, "index", plan.index().as_os_str().as_encoded_bytes());
        object.insert("id".into(), format!("{:032x}", plan.id()).into());
        object.insert("is_assembled".into(), is_assembled.into());
        object.insert("shards".into(), states.iter().map(state_json).collect());
        out.json(&object.into())?;
    } else {
        write_text(&mut out, &plan, &states)?;
        match (are_done, is_assembled) {
            (true, true) => writeln!(out, "the index is assembled")?,
            (true, false) => writeln!(out, "scanns assemble {} makes the index", report::path_text(path))?,
            (false, _) => {}
        }
    }
    out.flush()?;
    Ok(if are_done { Outcome::Done } else { Outcome::Different })
}

fn write_text(out: &mut Output, plan: &ShardPlan, states: &[ShardStatus]) -> Result<()> {
    let shards = units::counted(states.len() as u64, "shard");
    let files = units::counted(plan.shards().iter().map(|shard| shard.files).sum(), "file");
    let bytes = units::size(plan.shards().iter().map(|shard| shard.bytes).sum());
    write!(out, "{shards} of {files}, {bytes}, in ")?;
    out.quoted(plan.index().as_os_str().as_encoded_bytes())?;
    writeln!(out)?;
    let of_kind = |is_it: fn(&ShardState) -> bool| {
        states.iter().filter(move |status| is_it(&status.state)).collect::<Vec<_>>()
    };
    let numbers = |found: &[&ShardStatus]| -> Vec<u32> { found.iter().map(|status| status.number).collect() };
    let done = of_kind(|state| matches!(state, ShardState::Done { .. }));
    let sums = done.iter().fold((0, 0), |(documents, failed), status| match status.state {
        ShardState::Done { documents: more, failed: lost } => (documents + more, failed + lost),
        _ => (documents, failed),
    });
    write!(out, "done: {}", done.len())?;
    if !done.is_empty() {
        write!(out, ", {}", units::counted(sums.0, "document"))?;
    }
    if sums.1 > 0 {
        write!(out, "; {} failed", units::counted(sums.1, "input"))?;
    }
    writeln!(out)?;
    let running = of_kind(|state| matches!(state, ShardState::Running { .. }));
    write_each(out, "running", &running)?;
    let stopped = of_kind(|state| matches!(state, ShardState::Stopped { .. }));
    write_each(out, "without a sign of life", &stopped)?;
    let missing = of_kind(|state| matches!(state, ShardState::Missing));
    if !missing.is_empty() {
        writeln!(out, "missing: {}, namely {}", missing.len(), ranges(&numbers(&missing)))?;
    }
    write_each(out, "not usable", &of_kind(|state| matches!(state, ShardState::Unusable(_))))?;
    Ok(())
}

fn write_each(out: &mut Output, what: &str, found: &[&ShardStatus]) -> Result<()> {
    if found.is_empty() {
        return Ok(());
    }
    writeln!(out, "{what}: {}", found.len())?;
    for status in found.iter().take(SHOWN) {
        let number = status.number;
        match &status.state {
            ShardState::Running { host, process, silent } => {
                let silent = units::duration(silent.as_secs_f64());
                writeln!(out, "  {number} by process {process} on {host}, {silent} ago")?;
            }
            ShardState::Stopped { host, process } => {
                writeln!(out, "  {number} by process {process} on {host}")?;
            }
            ShardState::Unusable(reason) => writeln!(out, "  {number}: {reason}")?,
            ShardState::Done { .. } | ShardState::Missing => {}
        }
    }
    if found.len() > SHOWN {
        writeln!(out, "  and {} more", found.len() - SHOWN)?;
    }
    Ok(())
}

fn state_json(status: &ShardStatus) -> Value {
    let number = status.number;
    match &status.state {
        ShardState::Done { documents, failed } => {
            json!({ "shard": number, "state": "done", "documents": documents, "failed": failed })
        }
        ShardState::Running { host, process, silent } => json!({
            "shard": number, "state": "running", "host": host, "process": process, "silent": silent.as_secs(),
        }),
        ShardState::Stopped { host, process } => {
            json!({ "shard": number, "state": "stopped", "host": host, "process": process })
        }
        ShardState::Missing => json!({ "shard": number, "state": "missing" }),
        ShardState::Unusable(reason) => json!({ "shard": number, "state": "unusable", "reason": reason }),
    }
}

/// Ascending numbers in the form that job arrays take: 1-3,7.
pub fn ranges(numbers: &[u32]) -> String {
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for &number in numbers {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => runs.push((number, number)),
        }
    }
    let text = |&(first, last): &(u32, u32)| match last - first {
        0 => first.to_string(),
        _ => format!("{first}-{last}"),
    };
    runs.iter().map(text).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_joined_to_ranges() {
        for (numbers, text) in
            [(&[][..], ""), (&[4], "4"), (&[0, 1, 2], "0-2"), (&[0, 2, 3, 9, 10, 11, 20], "0,2-3,9-11,20")]
        {
            assert_eq!(ranges(numbers), text);
        }
    }
}
