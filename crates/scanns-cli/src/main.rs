//! The `scanns` command: builds indexes, searches them, keeps them in order, and finds what suits a machine.
//!
//! `args/` is everything that can be typed; each verb has a file of its own that turns its arguments into a
//! call of the library; `records.rs` and `schema_file.rs` are records with fields, `similar.rs` makes queries
//! of documents; `report.rs`, `explain.rs` and `units.rs` are how results, scores, bytes and sizes are
//! written.

mod args;
mod eval;
mod explain;
mod export;
mod index;
mod info;
mod maintain;
mod profile;
mod progress;
mod records;
mod report;
mod schema_file;
mod search;
mod similar;
mod terms;
mod tune;
mod units;

use std::process::ExitCode;

use args::Verb;

fn main() -> ExitCode {
    let command = match args::parse() {
        Ok(command) => command,
        Err(answer) => return report::usage(&answer),
    };
    report::exit_code(match &command.verb {
        Verb::Index(args) => index::run(args),
        Verb::Search(args) => search::run(args),
        Verb::Eval(args) => eval::run(args),
        Verb::Info(args) => info::run(args),
        Verb::Export(args) => export::run(args),
        Verb::Terms(args) => terms::run(args),
        Verb::Delete(args) => maintain::delete(args),
        Verb::Update(args) => maintain::update(args),
        Verb::Merge(args) => maintain::merge(args),
        Verb::Check(args) => maintain::check(args),
        Verb::Tune(args) => tune::run(args),
    })
}
