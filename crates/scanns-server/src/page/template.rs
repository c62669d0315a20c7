//! The HTML of the page: a template with places that the server fills.
//!
//! A place is a comment `<!--scanns:NAME-->`. It stands in text or in an attribute with double quotes, and
//! what replaces it must be escaped by [`escaped`], or be markup that is.

use axum::http::StatusCode;

use super::files::FILES;
use crate::problem::Problem;

const BEGIN: &str = "<!--scanns:";
const END: &str = "-->";

/// The page with values in its places; places without a value become empty.
///
/// # Errors
/// 404 if the program was built without the page.
pub fn filled_page(values: &[(&str, &str)]) -> Result<String, Problem> {
    let template = FILES.iter().find(|file| file.path == "index.html");
    let Some(text) = template.and_then(|file| std::str::from_utf8(file.plain).ok()) else {
        let detail = "this program was built without its page, which make web builds; its API is complete";
        return Err(Problem::new(StatusCode::NOT_FOUND, "/problems/page", "There is no page", detail));
    };
    Ok(filled(text, values))
}

/// Text for an attribute with quotes, in which it stays as it is: a form sends it back.
pub fn attribute(text: &str) -> String {
    let escaped = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    escaped.replace('"', "&quot;").replace('\'', "&#39;")
}

fn filled(template: &str, values: &[(&str, &str)]) -> String {
    let mut parts = template.split(BEGIN);
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        // Values are not looked at again: they may contain what looks like a place.
        let (name, rest) = part.split_once(END).unwrap_or((part, ""));
        text.push_str(values.iter().find(|(known, _)| *known == name).map_or("", |(_, value)| *value));
        text.push_str(rest);
    }
    text
}

/// Text for HTML, within an element or within an attribute with quotes. Characters that nobody can see or
/// that change the direction of the text are shown by their numbers.
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(letter),
            letter if letter.is_control() || is_invisible(letter) => {
                out.push_str(&format!("\\u{{{:x}}}", u32::from(letter)));
            }
            letter => out.push(letter),
        }
    }
    out
}

/// True for characters that change the direction of text, or join or separate without being seen.
fn is_invisible(letter: char) -> bool {
    matches!(letter,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_filled_once() {
        let template = "<i title=\"<!--scanns:q-->\"><!--scanns:results--></i><!--scanns:none-->.";
        let values = [("q", "<!--scanns:results-->"), ("results", "<b>1</b>")];
        assert_eq!(filled(template, &values), "<i title=\"<!--scanns:results-->\"><b>1</b></i>.");
        assert_eq!(filled("a<!--scanns:cut", &values), "a");
    }

    #[test]
    fn hostile_text_stays_text() {
        let hostile = "<img src=x onerror=alert(1)>\"'&\u{202e}gpj.exe\u{0}\u{feff}ä";
        let text = escaped(hostile);
        assert_eq!(
            text,
            "&lt;img src=x onerror=alert(1)&gt;&quot;&#39;&amp;\\u{202e}gpj.exe\\u{0}\\u{feff}ä"
        );
    }

    #[test]
    fn the_page_is_html_or_says_that_it_was_not_built() {
        match filled_page(&[("q", "rose")]) {
            Ok(page) => assert!(page.contains("value=\"rose\"") && !page.contains("<!--scanns:")),
            Err(problem) => assert!(FILES.is_empty() && problem.status == StatusCode::NOT_FOUND),
        }
        assert_eq!(attribute("\"a' <b>\u{202e}"), "&quot;a&#39; &lt;b&gt;\u{202e}");
    }
}
