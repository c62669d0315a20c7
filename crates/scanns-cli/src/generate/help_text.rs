//! The parts of the text below the options in a help: headings, paragraphs, examples and lists.
//!
//! A help is plain text. A line that ends with a colon and has indented lines below it is a heading. Other
//! lines without indentation form paragraphs. Below the heading `Examples`, a line that is indented by two
//! spaces is a command, and lines that are indented further explain it. Other indented lines keep their form.

/// A part of a help.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum HelpPart {
    /// A heading, without its colon.
    Heading(String),
    /// Text without indentation, as one line.
    Paragraph(String),
    /// Commands that belong together, and the lines that explain them.
    Example { commands: Vec<String>, explanation: Vec<String> },
    /// Lines that keep their form.
    Literal(Vec<String>),
}

/// The heading of examples.
pub(super) const EXAMPLES: &str = "Examples";

/// The parts of a help, in order.
pub(super) fn parts(help: &str) -> Vec<HelpPart> {
    let lines: Vec<&str> = help.lines().map(str::trim_end).collect();
    let mut found: Vec<HelpPart> = Vec::new();
    let mut are_examples = false;
    let mut after_gap = true;
    for (at, line) in lines.iter().enumerate() {
        let is_above_indented = lines.get(at + 1).is_some_and(|next| next.starts_with("  "));
        if line.is_empty() {
            after_gap = true;
            continue;
        }
        if line.starts_with("  ") {
            match are_examples {
                true => add_example_line(&mut found, line),
                false => add_literal(&mut found, line),
            }
        } else if let Some(heading) = line.strip_suffix(':').filter(|_| after_gap && is_above_indented) {
            are_examples = heading == EXAMPLES;
            found.push(HelpPart::Heading(heading.to_owned()));
        } else {
            are_examples = false;
            match found.last_mut() {
                Some(HelpPart::Paragraph(text)) if !after_gap => {
                    text.push(' ');
                    text.push_str(line);
                }
                _ => found.push(HelpPart::Paragraph((*line).to_owned())),
            }
        }
        after_gap = false;
    }
    found
}

fn add_example_line(found: &mut Vec<HelpPart>, line: &str) {
    let text = line.trim_start();
    let is_command = line.len() - text.len() < 4;
    match found.last_mut() {
        Some(HelpPart::Example { explanation, .. }) if !is_command => explanation.push(text.to_owned()),
        // A command without an explanation belongs to the next one.
        Some(HelpPart::Example { commands, explanation }) if explanation.is_empty() => {
            commands.push(text.to_owned());
        }
        _ => found.push(HelpPart::Example { commands: vec![text.to_owned()], explanation: Vec::new() }),
    }
}

fn add_literal(found: &mut Vec<HelpPart>, line: &str) {
    let text = line.strip_prefix("  ").unwrap_or(line).to_owned();
    match found.last_mut() {
        Some(HelpPart::Literal(lines)) => lines.push(text),
        _ => found.push(HelpPart::Literal(vec![text])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_help_has_headings_examples_lists_and_paragraphs() {
        let help = "Examples:\n  scanns a\n  scanns b\n      does both\n      in order\n  scanns c\n\n\
                    Words: one, two\nand three.\n\nKinds, of all:\n  x    first\n         more\n\nEnd.";
        let line = |text: &str| text.to_owned();
        let expected = [
            HelpPart::Heading(line("Examples")),
            HelpPart::Example {
                commands: vec![line("scanns a"), line("scanns b")],
                explanation: vec![line("does both"), line("in order")],
            },
            HelpPart::Example { commands: vec![line("scanns c")], explanation: Vec::new() },
            HelpPart::Paragraph(line("Words: one, two and three.")),
            HelpPart::Heading(line("Kinds, of all")),
            HelpPart::Literal(vec![line("x    first"), line("       more")]),
            HelpPart::Paragraph(line("End.")),
        ];
        assert_eq!(parts(help), expected);
    }

    #[test]
    fn the_help_of_every_command_keeps_all_of_its_words() {
        let command = crate::args::definitions();
        for verb in command.get_subcommands() {
            let help = verb.get_after_help().map(ToString::to_string).unwrap_or_default();
            let mut shown = String::new();
            for part in parts(&help) {
                match part {
                    HelpPart::Heading(text) => shown.push_str(&format!(" {text}:")),
                    HelpPart::Paragraph(text) => shown.push_str(&format!(" {text}")),
                    HelpPart::Example { commands, explanation } => {
                        shown.push_str(&format!(" {} {}", commands.join(" "), explanation.join(" ")));
                    }
                    HelpPart::Literal(lines) => shown.push_str(&format!(" {}", lines.join(" "))),
                }
            }
            let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
            assert_eq!(words(&shown), words(&help), "{}", verb.get_name());
        }
    }
}
