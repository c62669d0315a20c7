//! Reads topics: TREC's `<top>` elements, lines, or lines of JSON as BEIR has them.

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::args::PartArg;

/// A topic.
#[derive(Debug, PartialEq, Eq)]
pub struct Topic {
    /// Its name in judgements.
    pub id: String,
    /// Its text.
    pub text: String,
}

/// Reads topics: elements if the text contains `<top>`, lines of JSON if it begins with a brace, else lines.
pub fn parse(text: &str, parts: &[PartArg]) -> Result<Vec<Topic>> {
    let topics = match text.trim_start() {
        _ if text.contains("<top>") => elements(text, parts)?,
        json if json.starts_with('{') => json_lines(text)?,
        _ => lines(text)?,
    };
    if topics.is_empty() {
        bail!(
            "there is no topic: write <top> elements like TREC, or lines of an identifier, a tab and a \
             text"
        );
    }
    Ok(topics)
}

fn lines(text: &str) -> Result<Vec<Topic>> {
    let mut topics = Vec::new();
    for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
        let Some((id, text)) = line.split_once('\t').map(|(id, text)| (id.trim(), text)) else {
            bail!("line {number} has no tab between identifier and text");
        };
        topics.push(Topic { id: checked(id, &format!("line {number}"))?, text: text.into() });
    }
    Ok(topics)
}

/// Reads objects with `_id` and `text`.
fn json_lines(text: &str) -> Result<Vec<Topic>> {
    let mut topics = Vec::new();
    for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
        let object: Value =
            serde_json::from_str(line).with_context(|| format!("line {number} is not JSON"))?;
        let member = |names: &[&str]| {
            names.iter().find_map(|name| match object.get(name)? {
                Value::String(text) => Some(text.clone()),
                Value::Number(number) => Some(number.to_string()),
                _ => None,
            })
        };
        let (Some(id), Some(text)) = (member(&["_id", "id"]), member(&["text", "query", "title"])) else {
            bail!("line {number} has no \"_id\" or no \"text\"");
        };
        topics.push(Topic { id: checked(&id, &format!("line {number}"))?, text });
    }
    Ok(topics)
}

/// Checks that an identifier is one word.
fn checked(id: &str, place: &str) -> Result<String> {
    if id.is_empty() || id.contains(char::is_whitespace) {
        bail!("{place} has the identifier '{id}': it must be one word");
    }
    Ok(id.into())
}

/// Reads elements; a part ends where the next tag begins, since tags need not be closed.
fn elements(text: &str, parts: &[PartArg]) -> Result<Vec<Topic>> {
    let mut topics = Vec::new();
    for (number, element) in (1..).zip(text.split("<top>").skip(1)) {
        let element = element.split("</top>").next().unwrap_or(element);
        let part = |name: &str, label: &str| {
            let (_, rest) = element.split_once(&format!("<{name}>"))?;
            let text = rest.split('<').next().unwrap_or(rest).trim();
            Some(text.strip_prefix(label).unwrap_or(text).trim())
        };
        let Some(id) = part("num", "Number:") else { bail!("topic {number} has no <num>") };
        let mut text = String::new();
        for wanted in parts {
            let (name, label) = match wanted {
                PartArg::Title => ("title", "Topic:"),
                PartArg::Desc => ("desc", "Description:"),
                PartArg::Narr => ("narr", "Narrative:"),
            };
            let Some(part) = part(name, label) else {
                bail!("topic {id} has no <{name}>: choose other --parts")
            };
            text.push_str(part);
            text.push('\n');
        }
        topics.push(Topic { id: checked(id, &format!("topic {number}"))?, text });
    }
    Ok(topics)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TREC: &str = "<top>\n<num> Number: 301 \n<title> International Organized Crime\n\n<desc> \
        Description: \nIdentify organizations\nthat act.\n\n<narr> Narrative:\nAll.\n</top>\n\
        <top><num>302</num>\n<title>Topic: Poliomyelitis</title><desc>d</desc></top>";

    #[test]
    fn topics_of_trec_have_parts_that_need_not_be_closed() {
        let topics = parse(TREC, &[PartArg::Title]).unwrap();
        let read: Vec<(&str, &str)> = topics.iter().map(|topic| (&*topic.id, topic.text.trim())).collect();
        assert_eq!(read, [("301", "International Organized Crime"), ("302", "Poliomyelitis")]);
        let topics = parse(TREC, &[PartArg::Desc, PartArg::Title]).unwrap();
        assert!(topics[0].text.starts_with("Identify organizations\nthat act.\nInternational"), "{topics:?}");
        let error = parse(TREC, &[PartArg::Narr]).unwrap_err().to_string();
        assert!(error.contains("302") && error.contains("--parts"), "{error}");
    }

    #[test]
    fn lines_of_json_are_topics() {
        let topics =
            parse("{\"_id\": \"q.1\", \"text\": \"a b\"}\n\n{\"id\": 7, \"query\": \"c\"}", &[]).unwrap();
        let read: Vec<(&str, &str)> = topics.iter().map(|topic| (&*topic.id, &*topic.text)).collect();
        assert_eq!(read, [("q.1", "a b"), ("7", "c")]);
        for (text, hint) in [("{\"_id\": 1}", "no \"text\""), ("{", "line 1 is not JSON")] {
            let error = format!("{:#}", parse(text, &[]).unwrap_err());
            assert!(error.contains(hint), "{error}");
        }
    }

    #[test]
    fn lines_are_topics_and_what_is_wrong_with_one_is_said() {
        let topics = parse("1\ta b\n\n2\tc\td\r\n", &[PartArg::Title]).unwrap();
        assert_eq!((topics.len(), &*topics[1].id, topics[1].text.trim()), (2, "2", "c\td"));
        for (text, hint) in
            [("", "no topic"), ("1 a", "line 1"), ("1\ta\n\tb", "one word"), ("<top><title>x", "<num>")]
        {
            let error = parse(text, &[PartArg::Title]).unwrap_err().to_string();
            assert!(error.contains(hint), "{text:?}: {error}");
        }
    }
}
