//! Man pages: `scanns.1`, and `scanns-VERB.1` for each verb.
//!
//! `clap_mangen` writes names, synopses and options. The text below the options is written here, because
//! `clap_mangen` would fill the lines of examples and lists.

use anyhow::{Context, Result};
use clap::Command;
use clap_mangen::Man;
use clap_mangen::roff::{Inline, Roff, bold, roman};
use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::help_text::{EXAMPLES, HelpPart, parts};
use super::written_page::WrittenPage;

/// The pages of the command and of its verbs.
pub(super) fn pages(command: &Command) -> Result<Vec<WrittenPage>> {
    let date = date(std::env::var("SOURCE_DATE_EPOCH").ok().as_deref())?;
    let verbs: Vec<&Command> = command.get_subcommands().filter(|verb| !verb.is_hide_set()).collect();
    let mut pages = vec![page(command, &date, &verbs)?];
    for verb in &verbs {
        pages.push(page(verb, &date, &[])?);
    }
    Ok(pages)
}

/// The day in UTC of a number of seconds since 1970, or today.
fn date(seconds: Option<&str>) -> Result<String> {
    let time = match seconds {
        None => Timestamp::now(),
        Some(text) => {
            let seconds = text.parse().context("SOURCE_DATE_EPOCH is not a number of seconds")?;
            Timestamp::from_second(seconds).context("SOURCE_DATE_EPOCH")?
        }
    };
    Ok(time.to_zoned(TimeZone::UTC).strftime("%Y-%m-%d").to_string())
}

/// One page. `others` are commands with pages of their own.
fn page(command: &Command, date: &str, others: &[&Command]) -> Result<WrittenPage> {
    let source = format!("scanns {}", env!("CARGO_PKG_VERSION"));
    // Of options that the short help hides, only the long help would be written.
    let shown = command.clone().mut_args(|argument| argument.hide_short_help(false));
    let man = Man::new(shown).date(date).source(source).manual("scanns");
    let mut bytes = Vec::new();
    man.render_title(&mut bytes)?;
    man.render_name_section(&mut bytes)?;
    man.render_synopsis_section(&mut bytes)?;
    man.render_description_section(&mut bytes)?;
    man.render_options_section(&mut bytes)?;
    if !others.is_empty() {
        man.render_subcommands_section(&mut bytes)?;
    }
    let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let mut roff = Roff::new();
    add_help(&mut roff, &help);
    roff.control("SH", ["SEE ALSO"]);
    match others.is_empty() {
        true => roff.text([bold("scanns"), roman("(1)")]),
        false => roff.text(other_pages(others)),
    };
    roff.to_writer(&mut bytes)?;
    Ok(WrittenPage { name: man.get_filename(), bytes: mended(&String::from_utf8(bytes)?).into_bytes() })
}

/// A page without what `mandoc -T lint` warns about: empty lines between breaks, and backslashes whose escape
/// is for macros.
fn mended(page: &str) -> String {
    page.replace(".br\n\n.br\n", ".sp\n").replace("\\\\", "\\(rs")
}

/// The names of pages, with commas between them.
fn other_pages(others: &[&Command]) -> Vec<Inline> {
    let mut names = Vec::new();
    for (at, other) in others.iter().enumerate() {
        names.push(bold(format!("scanns-{}", other.get_name())));
        names.push(roman(if at + 1 < others.len() { "(1), " } else { "(1)" }));
    }
    names
}

/// The text below the options. Paragraphs that follow examples are notes.
fn add_help(roff: &mut Roff, help: &str) {
    let mut is_below_notes = false;
    let mut is_below_heading = false;
    for part in parts(help) {
        if matches!(part, HelpPart::Paragraph(_)) && !is_below_notes {
            roff.control("SH", ["NOTES"]);
            is_below_notes = true;
            is_below_heading = true;
        }
        if !is_below_heading && matches!(part, HelpPart::Paragraph(_) | HelpPart::Example { .. }) {
            roff.control("PP", []);
        }
        is_below_heading = matches!(part, HelpPart::Heading(_));
        match part {
            HelpPart::Heading(text) if text == EXAMPLES => {
                roff.control("SH", ["EXAMPLES"]);
            }
            HelpPart::Heading(text) => {
                roff.control("SH", [text.to_uppercase().as_str()]);
                is_below_notes = true;
            }
            HelpPart::Paragraph(text) => {
                roff.text([roman(text)]);
            }
            HelpPart::Example { commands, explanation } => {
                add_literal(roff, commands.iter().map(|command| bold(command.as_str())));
                add_explanation(roff, &explanation);
            }
            HelpPart::Literal(lines) => add_literal(roff, lines.iter().map(|line| roman(line.as_str()))),
        }
    }
}

/// What an example does: a sentence, or lines that keep their form.
fn add_explanation(roff: &mut Roff, explanation: &[String]) {
    if explanation.is_empty() {
        return;
    }
    roff.control("RS", ["4"]);
    match explanation {
        [sentence] => {
            roff.text([roman(sentence.as_str())]);
        }
        lines => add_literal(roff, lines.iter().map(|line| roman(line.as_str()))),
    }
    roff.control("RE", []);
}

fn add_literal(roff: &mut Roff, lines: impl Iterator<Item = Inline>) {
    roff.control("nf", []);
    for line in lines {
        roff.text([line]);
    }
    roff.control("fi", []);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_verb_has_a_page_with_all_of_its_options() {
        let mut command = crate::args::definitions();
        command.build();
        let pages = pages(&command).unwrap();
        let text = |name: &str| {
            let page = pages.iter().find(|page| page.name == name).unwrap();
            String::from_utf8(page.bytes.clone()).unwrap().replace("\\-", "-")
        };
        assert!(text("scanns.1").contains("scanns-index(1)"), "{}", text("scanns.1"));
        for verb in command.get_subcommands().filter(|verb| !verb.is_hide_set()) {
            if verb.get_name() == "help" {
                continue;
            }
            let page = text(&format!("scanns-{}.1", verb.get_name()));
            for option in verb.get_arguments().filter(|option| !option.is_hide_set()) {
                let name = option.get_long().map(|name| format!("--{name}")).unwrap_or_default();
                let help = option.get_help().map(ToString::to_string).unwrap_or_default();
                let word = help.split_whitespace().next().unwrap();
                let found = page.split("\n.TP\n").find(|part| part.contains(&name) && part.contains(word));
                assert!(found.is_some(), "{name} or its help is missing in\n{page}");
            }
            assert!(page.contains(".SH EXAMPLES\n"), "{page}");
        }
        assert!(!pages.iter().any(|page| page.name.contains("generate")));
    }

    #[test]
    fn pages_have_the_date_of_the_source() {
        assert_eq!(date(Some("86400")).unwrap(), "1970-01-02");
        assert!(date(Some("today")).is_err());
        assert_eq!(date(None).unwrap().len(), "2026-01-01".len());
    }
}
