//! A reference in Markdown: `README.md` lists the commands, and each of them has a page.

use clap::{Arg, Command};

use super::help_text::{HelpPart, parts};
use super::written_page::WrittenPage;

/// The heading of arguments without one.
const OPTIONS: &str = "Arguments and options";

/// The list of commands, and a page for each.
pub(super) fn pages(command: &Command) -> Vec<WrittenPage> {
    let mut list = format!(
        "# Commands\n\n{}. `scanns help COMMAND` prints the same.\n\n| command | what it does |\n|---|---|\n",
        about(command)
    );
    let mut pages = Vec::new();
    for verb in command.get_subcommands() {
        let name = verb.get_name();
        if verb.is_hide_set() {
            if let Some(text) = whole_help(verb) {
                list.push_str(&format!("| [`scanns help {name}`](scanns-{name}.md) | {} |\n", about(verb)));
                let text = format!("# scanns help {name}\n\n```text\n{text}\n```\n");
                pages.push(WrittenPage { name: format!("scanns-{name}.md"), bytes: text.into_bytes() });
            }
            continue;
        }
        list.push_str(&format!("| [`scanns {name}`](scanns-{name}.md) | {} |\n", about(verb)));
        pages.push(WrittenPage { name: format!("scanns-{name}.md"), bytes: page(verb).into_bytes() });
    }
    list.push('\n');
    add_help(&mut list, command);
    pages.push(WrittenPage { name: "README.md".into(), bytes: list.into_bytes() });
    pages
}

/// The help of a hidden verb that has no arguments, and is there for its help alone.
fn whole_help(verb: &Command) -> Option<String> {
    let has_arguments = verb.get_arguments().any(|argument| argument.get_id() != "help");
    (!has_arguments).then(|| verb.clone().render_long_help().to_string().trim_end().to_owned())
}

/// The page of a verb.
fn page(verb: &Command) -> String {
    let usage = verb.clone().render_usage().to_string();
    let usage = usage.strip_prefix("Usage: ").unwrap_or(&usage);
    let mut text = format!("# scanns {}\n\n{}.\n\n```text\n{usage}\n```\n", verb.get_name(), about(verb));
    for heading in headings(verb) {
        text.push_str(&format!("\n## {heading}\n\n"));
        for argument in shown(verb).filter(|argument| heading_of(argument) == heading) {
            add_argument(&mut text, argument);
        }
    }
    text.push('\n');
    add_help(&mut text, verb);
    text
}

/// The headings of arguments, in order.
fn headings(verb: &Command) -> Vec<&str> {
    let mut headings = Vec::new();
    for argument in shown(verb) {
        let heading = heading_of(argument);
        if !headings.contains(&heading) {
            headings.push(heading);
        }
    }
    headings
}

fn heading_of(argument: &Arg) -> &str {
    argument.get_help_heading().unwrap_or(OPTIONS)
}

fn shown(verb: &Command) -> impl Iterator<Item = &Arg> {
    verb.get_arguments().filter(|argument| !argument.is_hide_set())
}

/// An argument as an item of a list, which links can name by its long option.
fn add_argument(text: &mut String, argument: &Arg) {
    let anchor = argument.get_long().map(|long| format!("<a id=\"{long}\"></a>")).unwrap_or_default();
    let help = argument.get_long_help().or_else(|| argument.get_help());
    let help = help.map(|help| escaped(&help.to_string())).unwrap_or_default();
    text.push_str(&format!("- {anchor}`{argument}`{}  \n", short(argument)));
    for line in help.lines() {
        // An empty line begins a paragraph of the same item.
        text.push_str(if line.is_empty() { "\n" } else { "  " });
        text.push_str(line);
        text.push('\n');
    }
    let takes_values = argument.get_action().takes_values();
    let defaults = argument.get_default_values().iter().map(|value| value.to_string_lossy());
    let defaults: Vec<_> = defaults.filter(|_| takes_values).collect();
    if !defaults.is_empty() && !argument.is_hide_default_value_set() {
        // Two spaces at the end of the help begin a new line.
        text.truncate(text.trim_end().len());
        text.push_str(&format!("  \n  Default: `{}`.\n", defaults.join(",")));
    }
    if !takes_values || argument.is_hide_possible_values_set() {
        return;
    }
    for value in argument.get_possible_values().iter().filter(|value| !value.is_hide_set()) {
        let help = value.get_help().map(|help| format!(": {}", escaped(&help.to_string())));
        text.push_str(&format!("  - `{}`{}\n", value.get_name(), help.unwrap_or_default()));
    }
}

/// The short form of an option that also has a long one.
fn short(argument: &Arg) -> String {
    let short = argument.get_short().filter(|_| argument.get_long().is_some());
    short.map(|short| format!(", `-{short}`")).unwrap_or_default()
}

/// The text below the options.
fn add_help(text: &mut String, command: &Command) {
    let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    for part in parts(&help) {
        match part {
            HelpPart::Heading(heading) => text.push_str(&format!("## {}\n\n", escaped(&heading))),
            HelpPart::Paragraph(paragraph) => text.push_str(&format!("{}\n\n", escaped(&paragraph))),
            HelpPart::Example { commands, explanation } => {
                text.push_str(&format!("```sh\n{}\n```\n\n", commands.join("\n")));
                match explanation.as_slice() {
                    [] => {}
                    [sentence] => text.push_str(&format!("{}\n\n", escaped(sentence))),
                    lines => text.push_str(&format!("```text\n{}\n```\n\n", lines.join("\n"))),
                }
            }
            HelpPart::Literal(lines) => text.push_str(&format!("```text\n{}\n```\n\n", lines.join("\n"))),
        }
    }
}

fn about(command: &Command) -> String {
    let about = command.get_about().map(|about| escaped(&about.to_string())).unwrap_or_default();
    about.trim_end_matches('.').to_owned()
}

/// Text whose characters have no meaning in Markdown.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        if "\\`*_[]<>|#~".contains(character) {
            escaped.push('\\');
        }
        escaped.push(character);
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reference_has_a_page_for_each_command_and_an_anchor_for_each_option() {
        let mut command = crate::args::definitions().disable_help_subcommand(true);
        command.build();
        let pages = pages(&command);
        let text = |name: &str| {
            let page = pages.iter().find(|page| page.name == name);
            String::from_utf8(page.unwrap().bytes.clone()).unwrap()
        };
        for verb in command.get_subcommands().filter(|verb| !verb.is_hide_set()) {
            let name = verb.get_name();
            assert!(text("README.md").contains(&format!("[`scanns {name}`](scanns-{name}.md)")));
            let page = text(&format!("scanns-{name}.md"));
            for long in shown(verb).filter_map(Arg::get_long) {
                assert!(page.contains(&format!("<a id=\"{long}\"></a>")), "--{long} is missing in\n{page}");
            }
        }
        assert!(text("scanns-dumps.md").contains("find"));
        assert!(!pages.iter().any(|page| page.name == "scanns-generate.md"));
    }

    #[test]
    fn special_characters_are_literal() {
        assert_eq!(escaped("a *.o [x] <b> `c` d_e"), "a \\*.o \\[x\\] \\<b\\> \\`c\\` d\\_e");
    }
}
