//! The short help of each verb: what most users need. `--help` has everything.

use clap::{Arg, Command};

/// The arguments that `-h` shows, by verb; other verbs have few enough to show all.
const COMMON: [(&str, &[&str]); 7] = [
    (
        "index",
        &[
            "paths",
            "files_from",
            "null",
            "include",
            "exclude",
            "records",
            "analyzer",
            "positions",
            "schema",
            "store",
            "reindex",
            "keep_removed",
            "time_limit",
            "threads",
            "memory",
            "output",
            "snapshot",
            "json",
            "quiet",
        ],
    ),
    (
        "search",
        &[
            "index",
            "query",
            "top",
            "all",
            "count",
            "field",
            "default_operator",
            "content",
            "json",
            "null",
            "sort",
            "fields",
            "group",
            "facet",
            "stats",
            "snippets",
            "like",
            "color",
        ],
    ),
    ("export", &["index", "query", "fields", "sort", "format", "output", "resume"]),
    (
        "plan",
        &[
            "paths",
            "files_from",
            "null",
            "include",
            "exclude",
            "records",
            "analyzer",
            "positions",
            "schema",
            "dump",
            "store",
            "output",
            "shards",
            "index",
            "status",
            "json",
            "quiet",
        ],
    ),
    ("build-shard", &["plan", "shard", "scratch", "output", "threads", "memory", "json", "quiet"]),
    (
        "serve",
        &[
            "indexes",
            "listen",
            "socket",
            "host",
            "base_path",
            "tls_certificate",
            "tls_key",
            "shared",
            "trust_proxy",
            "user_header",
            "max_connections",
            "log",
            "grace",
        ],
    ),
    ("tune", &["paths", "budget", "out", "json"]),
];

/// Hides the other arguments in `-h`, and lets every option take a negative number, which its parser refuses
/// with a better message than the parser of the command line.
pub(super) fn shortened(command: Command) -> Command {
    let verbs: Vec<String> = command.get_subcommands().map(|verb| verb.get_name().to_owned()).collect();
    verbs.into_iter().fold(command, |command, name| {
        let common = COMMON.iter().find(|(verb, _)| *verb == name).map(|(_, common)| *common);
        let long = format!("scanns {name} --help has examples and explains every option.");
        command.mut_subcommand(name, |verb| {
            let verb = verb.mut_args(|arg| shown(arg, common));
            let examples = verb.get_after_help().cloned().unwrap_or_default();
            verb.after_long_help(examples).after_help(long)
        })
    })
}

fn shown(arg: Arg, common: Option<&[&str]>) -> Arg {
    let is_common = common.is_none_or(|common| common.contains(&arg.get_id().as_str()));
    let takes_values = arg.get_action().takes_values() && !arg.is_positional();
    let arg = if takes_values { arg.allow_negative_numbers(true) } else { arg };
    if is_common { arg } else { arg.hide_short_help(true) }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn short_help_fits_on_a_page_and_long_help_has_everything() {
        let mut command = shortened(super::super::Command::command().term_width(100));
        command.build();
        for verb in
            command.get_subcommands_mut().filter(|verb| verb.get_name() != "help" && !verb.is_hide_set())
        {
            let short = verb.render_help().to_string();
            assert!(short.lines().count() <= 60, "{}: {short}", verb.get_name());
            let long = verb.render_long_help().to_string();
            for name in verb.get_arguments().filter(|arg| !arg.is_hide_set()).filter_map(|arg| arg.get_long())
            {
                assert!(long.contains(&format!("--{name}")), "--{name} is missing");
            }
            assert!(long.contains("Examples:"), "{long}");
        }
    }

    #[test]
    fn every_common_argument_exists() {
        let command = super::super::Command::command();
        for (name, common) in COMMON {
            let verb = command.find_subcommand(name).unwrap();
            for argument in common {
                assert!(verb.get_arguments().any(|arg| arg.get_id() == argument), "{name} {argument}");
            }
        }
    }
}
