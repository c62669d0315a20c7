//! Reads the parameters of a request: of the query of an address, or of a JSON object. Errors name them.

use std::borrow::Cow;
use std::time::Duration;

use axum::http::StatusCode;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};

use super::parameter::{Parameter, ParameterKind};
use crate::problem::Problem;

/// The maximum number of parameters of an address.
const MOST: usize = 1000;

/// The maximum number of texts of a list.
const MOST_TEXTS: usize = 256;

/// The maximum length of a text in bytes, and of one that is a query or a key.
const LONGEST: usize = 8 << 10;
const LONGEST_QUERY: usize = 64 << 10;

/// The groups of parameters of a route.
pub(super) type Known = &'static [&'static [Parameter]];

/// What a request gives.
#[derive(Debug)]
pub(super) struct Given {
    known: Known,
    values: Vec<(&'static Parameter, GivenValue)>,
}

#[derive(Debug)]
enum GivenValue {
    /// Of an address, percent-decoded.
    Raw(Vec<u8>),
    Json(Value),
}

impl Given {
    /// The parameters of the query of an address.
    ///
    /// # Errors
    /// 400 for an unknown name, for one that is given twice, and for a text that is not percent-encoded.
    pub(super) fn of_address(query: Option<&str>, known: Known) -> Result<Self, Problem> {
        let mut given = Given { known, values: Vec::new() };
        let pairs = query.unwrap_or_default().split('&').filter(|pair| !pair.is_empty());
        for (number, pair) in pairs.enumerate() {
            if number == MOST {
                return Err(Problem::parameter(
                    "query string",
                    format!("there are more than {MOST} parameters"),
                ));
            }
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let name = decoded(name, true).and_then(|name| String::from_utf8(name).ok());
            let name = name.ok_or_else(|| not_encoded("query string"))?;
            let parameter = given.find(&name)?;
            let value = decoded(value, true).ok_or_else(|| not_encoded(parameter.name))?;
            given.add(parameter, GivenValue::Raw(value))?;
        }
        Ok(given)
    }

    /// The members of a JSON object.
    ///
    /// # Errors
    /// 400 for what is not a JSON object, and for an unknown name.
    pub(super) fn of_json(body: &[u8], known: Known) -> Result<Self, Problem> {
        let object: Map<String, Value> = serde_json::from_slice(body).map_err(|error| {
            let (line, column) = (error.line(), error.column());
            let (kind, title) = ("/problems/json", "The body is not a JSON object");
            let detail = format!("{}, at line {line}, byte {column}", plain(&error));
            Problem::new(StatusCode::BAD_REQUEST, kind, title, detail)
        })?;
        let mut given = Given { known, values: Vec::new() };
        for (name, value) in object {
            let parameter = given.find(&name)?;
            if !value.is_null() {
                given.add(parameter, GivenValue::Json(value))?;
            }
        }
        Ok(given)
    }

    /// Adds the parameters of a body to those of an address.
    ///
    /// # Errors
    /// 400 for a parameter that both have.
    pub(super) fn merge(&mut self, other: Given) -> Result<(), Problem> {
        other.values.into_iter().try_for_each(|(parameter, value)| self.add(parameter, value))
    }

    fn find(&self, name: &str) -> Result<&'static Parameter, Problem> {
        let mut known = self.known.iter().copied().flatten();
        if let Some(found) = known.find(|parameter| parameter.name == name) {
            return Ok(found);
        }
        let cut: String = name.chars().take(60).collect();
        let known: Vec<&str> = self.known.iter().copied().flatten().map(|known| known.name).collect();
        let known = match &known[..] {
            [] => "there are no parameters".into(),
            known => format!("the parameters are {}", known.join(", ")),
        };
        Err(Problem::parameter(&cut, format!("there is no parameter '{cut}': {known}")))
    }

    fn add(&mut self, parameter: &'static Parameter, value: GivenValue) -> Result<(), Problem> {
        let repeats = matches!(parameter.kind, ParameterKind::List | ParameterKind::Texts);
        if !repeats && self.values.iter().any(|(other, _)| other.name == parameter.name) {
            return Err(wrong(parameter, "is given twice: give it once"));
        }
        self.values.push((parameter, value));
        Ok(())
    }

    fn all(&self, name: &'static str) -> impl Iterator<Item = &(&'static Parameter, GivenValue)> {
        self.values.iter().filter(move |(parameter, _)| parameter.name == name)
    }

    fn one(&self, name: &'static str) -> Option<&(&'static Parameter, GivenValue)> {
        self.all(name).next()
    }

    /// True if the request has the parameter.
    pub(super) fn has(&self, name: &'static str) -> bool {
        self.one(name).is_some()
    }

    /// A text.
    ///
    /// # Errors
    /// 400 if the value is something else.
    pub(super) fn text(&self, name: &'static str) -> Result<Option<&str>, Problem> {
        self.one(name).map(|(parameter, value)| text_of(parameter, value)).transpose()
    }

    /// Bytes: a text in JSON, or an object with `base64`.
    pub(super) fn bytes(&self, name: &'static str) -> Result<Option<Cow<'_, [u8]>>, Problem> {
        let Some((parameter, value)) = self.one(name) else { return Ok(None) };
        let object = match value {
            GivenValue::Raw(bytes) => return Ok(Some(Cow::Borrowed(bytes))),
            GivenValue::Json(Value::String(text)) => return Ok(Some(Cow::Borrowed(text.as_bytes()))),
            GivenValue::Json(value) => value.as_object().filter(|object| object.len() == 1),
        };
        let text = object.and_then(|object| object.get("base64")?.as_str());
        let bytes = text.and_then(|text| STANDARD.decode(text).ok());
        let wrong = || wrong(parameter, "must be a string, or an object such as {\"base64\": \"/2E=\"}");
        bytes.map(|bytes| Some(Cow::Owned(bytes))).ok_or_else(wrong)
    }

    /// A whole number.
    pub(super) fn number(&self, name: &'static str) -> Result<Option<u64>, Problem> {
        let Some((parameter, value)) = self.one(name) else { return Ok(None) };
        let ParameterKind::Number(least, most) = parameter.kind else { return Ok(None) };
        let number = match value {
            GivenValue::Raw(_) => text_of(parameter, value)?.parse().ok(),
            GivenValue::Json(value) => value.as_u64(),
        };
        match number.filter(|number| (least..=most).contains(number)) {
            Some(number) => Ok(Some(number)),
            None if most == u64::MAX => {
                Err(wrong(parameter, &format!("must be a whole number from {least} on")))
            }
            None => Err(wrong(parameter, &format!("must be a whole number from {least} to {most}"))),
        }
    }

    /// A number.
    pub(super) fn decimal(&self, name: &'static str) -> Result<Option<f64>, Problem> {
        let Some((parameter, value)) = self.one(name) else { return Ok(None) };
        let number = match value {
            GivenValue::Json(value) if value.is_number() => value.as_f64(),
            // Infinity has no number in JSON.
            value => text_of(parameter, value)?.parse().ok(),
        };
        number.filter(|number| !number.is_nan()).map(Some).ok_or_else(|| wrong(parameter, "must be a number"))
    }

    /// True or false. In an address, the name alone is true.
    pub(super) fn flag(&self, name: &'static str) -> Result<Option<bool>, Problem> {
        let Some((parameter, value)) = self.one(name) else { return Ok(None) };
        let flag = match value {
            GivenValue::Raw(raw) => match &raw[..] {
                b"" | b"true" | b"1" => Some(true),
                b"false" | b"0" => Some(false),
                _ => None,
            },
            GivenValue::Json(value) => value.as_bool(),
        };
        flag.map(Some).ok_or_else(|| wrong(parameter, "must be true or false"))
    }

    /// A time, which is longer than zero.
    pub(super) fn time(&self, name: &'static str) -> Result<Option<Duration>, Problem> {
        let Some((parameter, value)) = self.one(name) else { return Ok(None) };
        let time = time_of(text_of(parameter, value)?);
        time.map(Some).ok_or_else(|| wrong(parameter, "must be a time above zero, such as 50ms, 2s or 1m"))
    }

    /// One of the words of the parameter.
    pub(super) fn word(&self, name: &'static str) -> Result<Option<&'static str>, Problem> {
        let Some((parameter, value)) = self.one(name) else { return Ok(None) };
        let ParameterKind::Word(words) = parameter.kind else { return Ok(None) };
        let given = text_of(parameter, value)?;
        let found = words.iter().find(|word| **word == given);
        found.map(|word| Some(*word)).ok_or_else(|| {
            let cut: String = given.chars().take(60).collect();
            wrong(parameter, &format!("is '{cut}', but must be {}", words.join(" or ")))
        })
    }

    /// Several texts.
    pub(super) fn texts(&self, name: &'static str) -> Result<Vec<String>, Problem> {
        let mut texts = Vec::new();
        for (parameter, value) in self.all(name) {
            let by_comma = parameter.kind == ParameterKind::List;
            let mut add = |text: &str| match by_comma {
                true => texts.extend(text.split(',').filter(|part| !part.is_empty()).map(String::from)),
                false => texts.push(text.to_owned()),
            };
            match value {
                GivenValue::Json(Value::Array(all)) => {
                    for one in all {
                        let text =
                            one.as_str().ok_or_else(|| wrong(parameter, "must be a list of strings"))?;
                        texts.push(text.to_owned());
                    }
                }
                value => add(text_of(parameter, value)?),
            }
            if let Some(long) = texts.iter().find(|text| text.len() > LONGEST) {
                return Err(too_long(parameter, long.len(), LONGEST));
            }
            if texts.len() > MOST_TEXTS {
                return Err(wrong(parameter, &format!("has more than {MOST_TEXTS} parts")));
            }
        }
        Ok(texts)
    }

    /// JSON as text.
    pub(super) fn object(&self, name: &'static str) -> Result<Option<Cow<'_, str>>, Problem> {
        let Some((parameter, value)) = self.one(name) else { return Ok(None) };
        Ok(Some(match value {
            GivenValue::Raw(_) => Cow::Borrowed(text_of(parameter, value)?),
            GivenValue::Json(value) => Cow::Owned(value.to_string()),
        }))
    }
}

fn text_of<'g>(parameter: &Parameter, value: &'g GivenValue) -> Result<&'g str, Problem> {
    let text = match value {
        GivenValue::Raw(bytes) => {
            std::str::from_utf8(bytes).map_err(|_| wrong(parameter, "is not valid UTF-8"))?
        }
        GivenValue::Json(Value::String(text)) => text,
        GivenValue::Json(_) => return Err(wrong(parameter, "must be a string")),
    };
    let is_query = matches!(parameter.name, "q" | "query" | "key" | "path");
    let longest = if is_query { LONGEST_QUERY } else { LONGEST };
    if text.len() > longest { Err(too_long(parameter, text.len(), longest)) } else { Ok(text) }
}

fn too_long(parameter: &Parameter, bytes: usize, most: usize) -> Problem {
    wrong(parameter, &format!("has {bytes} bytes, and may have {most}"))
}

fn wrong(parameter: &Parameter, how: &str) -> Problem {
    Problem::parameter(parameter.name, format!("{} {how}", parameter.name))
}

fn not_encoded(parameter: &str) -> Problem {
    Problem::parameter(parameter, format!("{parameter} is not percent-encoded UTF-8: write % as %25"))
}

/// What serde_json says, without the place.
fn plain(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.split(" at line ").next().unwrap_or(&text).to_owned()
}

/// A percent-encoded text as bytes; `None` if a `%` is not followed by two digits. In a query, a `+` is a
/// space.
pub(super) fn decoded(text: &str, in_query: bool) -> Option<Vec<u8>> {
    let (mut bytes, mut rest) = (Vec::with_capacity(text.len()), text.as_bytes());
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        bytes.push(match first {
            b'+' if in_query => b' ',
            b'%' => {
                let ([high, low], after) = after.split_first_chunk()?;
                rest = after;
                let digit =
                    |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
                digit(*high)? << 4 | digit(*low)?
            }
            other => *other,
        });
    }
    Some(bytes)
}

/// A time such as `50ms`, `1.5s` or `2m`.
fn time_of(text: &str) -> Option<Duration> {
    let digits = text.find(|letter: char| !letter.is_ascii_digit() && letter != '.')?;
    let (number, unit) = text.split_at_checked(digits)?;
    let seconds = match unit.trim() {
        "us" | "µs" => 1e-6,
        "ms" => 1e-3,
        "s" | "sec" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return None,
    };
    let time = Duration::try_from_secs_f64(number.parse::<f64>().ok()? * seconds).ok()?;
    Some(time).filter(|time| !time.is_zero())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::parameter::{EXAMPLE, FACETS, FIELDS, PAGE, QUERY, SHOW};

    const KNOWN: Known = &[QUERY, PAGE, FIELDS, FACETS, SHOW, EXAMPLE];

    #[test]
    fn an_address_and_an_object_say_the_same() {
        let address = "q=a+b%2B%C3%A4&limit=3&fields=size,owner&facet=a:1,2&facet=b&snippets&count=false\
                       &timeout=1.5s&key=%ff&query=%7B%7D";
        let object = r#"{"q": "a b+ä", "limit": 3, "fields": ["size", "owner"], "facet": ["a:1,2", "b"],
            "snippets": true, "count": false, "timeout": "1500ms", "key": {"base64": "/w=="}, "query": {},
            "after": null}"#;
        for given in [
            Given::of_address(Some(address), KNOWN).unwrap(),
            Given::of_json(object.as_bytes(), KNOWN).unwrap(),
        ] {
            assert_eq!(given.text("q").unwrap(), Some("a b+ä"));
            assert_eq!(given.number("limit").unwrap(), Some(3));
            assert_eq!(given.texts("fields").unwrap(), ["size", "owner"]);
            assert_eq!(given.texts("facet").unwrap(), ["a:1,2", "b"]);
            assert_eq!(
                (given.flag("snippets").unwrap(), given.flag("count").unwrap()),
                (Some(true), Some(false))
            );
            assert_eq!(given.time("timeout").unwrap(), Some(Duration::from_millis(1500)));
            assert_eq!(given.bytes("key").unwrap().as_deref(), Some(&b"\xff"[..]));
            assert_eq!(given.object("query").unwrap().as_deref(), Some("{}"));
            assert!(!given.has("after"));
        }
    }

    #[test]
    fn errors_name_the_parameter() {
        let of = |address: &str, read: &dyn Fn(&Given) -> Result<(), Problem>| {
            let read = Given::of_address(Some(address), KNOWN).and_then(|given| read(&given));
            read.unwrap_err().parameter.unwrap()
        };
        assert_eq!(of("wrong=1", &|_| Ok(())), "wrong");
        assert_eq!(of("q=a&q=b", &|_| Ok(())), "q");
        assert_eq!(of("q=%f", &|_| Ok(())), "q");
        assert_eq!(of("%ff=1", &|_| Ok(())), "query string");
        assert_eq!(of("q=%ff", &|given| given.text("q").map(drop)), "q");
        assert_eq!(of("limit=-1", &|given| given.number("limit").map(drop)), "limit");
        assert_eq!(of("limit=18446744073709551616", &|given| given.number("limit").map(drop)), "limit");
        assert_eq!(of("snippets=2", &|given| given.flag("snippets").map(drop)), "snippets");
        for time in ["", "1", "s", "0s", "-1s", "1e300s", "1..2s", "9999999999999999999999h", "é"] {
            assert_eq!(of(&format!("timeout={time}"), &|given| given.time("timeout").map(drop)), "timeout");
        }
        for body in ["", "[]", "{", "{\"q\": 1} x", &"[".repeat(100_000), &"{\"query\":".repeat(100_000)] {
            assert_eq!(Given::of_json(body.as_bytes(), KNOWN).unwrap_err().status, StatusCode::BAD_REQUEST);
        }
        assert!(Given::of_json(b"{\"q\": 1}", KNOWN).unwrap().text("q").is_err());
    }
}
