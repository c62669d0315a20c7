//! The `scanns` command: builds, searches and maintains indexes, and tunes parameters for a machine.
//!
//! `args/` defines the command line. Each verb has a file of its own, which turns its arguments into calls of
//! the library. `records.rs` and `schema_file.rs` are about records with fields, and `similar.rs` makes
//! queries from documents. `output.rs` is standard output, `terminal.rs` its colours and `quoting.rs` its
//! names that are not safe to print. `answer_text.rs`, `indexed_path.rs` and `missing.rs` serve the verbs
//! about file systems, `missing_index.rs` helps if an index does not exist. `report.rs`, `explain.rs`,
//! `progress.rs` and `units.rs` format errors, scores, progress, sizes and counts. `as_user.rs` is about
//! users whose rights are asked for. `program_messages.rs` writes messages for programs, and `memory.rs` is
//! about memory that runs out, `panics.rs` about bugs. `generate/` writes man pages and a reference from the
//! definitions in `args/`.

mod answer_text;
mod args;
mod as_user;
mod completions;
mod diff;
mod du;
mod dump;
mod duplicates;
mod eval;
mod explain;
mod export;
mod extract;
mod file_report;
mod find;
mod generate;
mod index;
mod indexed_path;
mod indexes;
mod info;
mod ls;
mod maintain;
mod memory;
mod missing;
mod missing_index;
mod output;
mod panics;
mod plan;
mod profile;
mod program_messages;
mod progress;
mod quoting;
mod records;
mod report;
mod schema_file;
mod search;
mod serve;
mod similar;
mod stat;
#[cfg(feature = "arrow")]
mod tables;
mod terminal;
mod terms;
mod tune;
mod units;
mod watch;
mod whole_file;
mod why;

use std::process::ExitCode;

use args::Verb;

fn main() -> ExitCode {
    report::begin();
    panics::begin();
    memory::begin();
    let command = match args::parse() {
        Ok(command) => command,
        Err(answer) => return report::usage(&answer),
    };
    report::exit_code(match &command.verb {
        Verb::Index(args) => index::run(args),
        Verb::Plan(args) => plan::run(args),
        Verb::BuildShard(args) => plan::build_shard(args),
        Verb::Assemble(args) => plan::assemble(args),
        Verb::Watch(args) => watch::run(args),
        Verb::Search(args) => search::run(args),
        Verb::Serve(args) => serve::run(args),
        Verb::Find(args) => find::run(args),
        Verb::Du(args) => du::run(args),
        Verb::Report(args) => file_report::run(args),
        Verb::Ls(args) => ls::run(args),
        Verb::Stat(args) => stat::run(args),
        Verb::Dump(args) => dump::run(args),
        Verb::Diff(args) => diff::run(args),
        Verb::Duplicates(args) => duplicates::run(args),
        Verb::Eval(args) => eval::run(args),
        Verb::Info(args) => info::run(args),
        Verb::Export(args) => export::run(args),
        Verb::Extract(args) => extract::run(args),
        Verb::Terms(args) => terms::run(args),
        Verb::Why(args) => why::run(args),
        Verb::Delete(args) => maintain::delete(args),
        Verb::Update(args) => maintain::update(args),
        Verb::Merge(args) => maintain::merge(args),
        Verb::Check(args) => maintain::check(args),
        Verb::Tune(args) => tune::run(args),
        Verb::Completions(args) => completions::run(args),
        Verb::Dumps => index::print_dump_help(),
        Verb::Generate(args) => generate::run(args),
    })
}
