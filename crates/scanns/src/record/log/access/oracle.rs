//! A slow parser of access logs, by regular expressions.

use regex_automata::meta::Regex;
use regex_automata::util::captures::Captures;
use std::collections::BTreeMap;

/// Parses lines of the combined log format and its variants.
pub(super) struct SlowAccess {
    line: Regex,
    request: Regex,
    vhost: Regex,
    names: Regex,
    escapes: Regex,
}

/// The group of a match, as text.
fn group<'t>(text: &'t str, found: &Captures, name: &str) -> &'t str {
    found.get_group_by_name(name).map_or("", |span| &text[span.range()])
}

fn captures(regex: &Regex, text: &str) -> Option<Captures> {
    let mut found = regex.create_captures();
    regex.captures(text, &mut found);
    found.is_match().then_some(found)
}

impl SlowAccess {
    pub fn new() -> Self {
        let quoted = |name: &str| format!(r#""(?P<{name}>(?:[^"\\]|\\.)*)""#);
        let [request, referer, agent] = ["request", "referer", "agent"].map(quoted);
        let date = r"\d\d/\w{3}/\d{4}:\d\d:\d\d:\d\d [+-]\d{4}";
        let start = format!(r"^(?P<names>.*?) \[(?P<date>{date})\] {request}");
        let rest = format!(r#"(?: {referer}(?: {agent}(?: .*)?)?| [^"].*)?$"#);
        let line = format!(r"{start} (?P<status>\d{{3}}|-) (?P<bytes>\d+|-){rest}");
        let full = r"^(?P<method>[A-Za-z_-]{1,32}) (?:(?P<path>.*) )?(?P<protocol>[A-Z]+/\d[\d.]*)$";
        let old = r"^(?P<old>[A-Za-z_-]{1,32}) (?P<plain>(?:/|http).*|[*])$";
        let host = r"(?P<host>[^ -]\S*)";
        let vhost = format!(r"^(?P<vhost>\S+?)(?::\d+)? {host} (?P<ident>-) (?P<user>.+)$");
        SlowAccess {
            line: Regex::new(&line).unwrap(),
            request: Regex::new(&format!("{full}|{old}")).unwrap(),
            vhost: Regex::new(&vhost).unwrap(),
            names: Regex::new(r"^(?P<host>\S+) (?P<ident>\S+) (?P<user>.+)$").unwrap(),
            escapes: Regex::new(r#"\\x([0-9A-Fa-f]{2})|\\(["\\bntvr])"#).unwrap(),
        }
    }

    /// The values of a line, by name, without those that are missing; None if the line is not of the format.
    pub fn parse(&self, line: &str) -> Option<BTreeMap<&'static str, String>> {
        let found = captures(&self.line, line)?;
        let mut values = BTreeMap::new();
        let mut put = |name, value: &str| {
            if !matches!(value, "" | "-") {
                values.insert(name, value.to_owned());
            }
        };
        let names = group(line, &found, "names");
        let split = captures(&self.vhost, names).or_else(|| captures(&self.names, names))?;
        for name in ["vhost", "host", "user"] {
            put(name, group(names, &split, name));
        }
        put("date", &utc(group(line, &found, "date"))?);
        let request = group(line, &found, "request");
        if let Some(parts) = captures(&self.request, request) {
            for (name, other) in [("method", "old"), ("path", "plain"), ("protocol", "protocol")] {
                let value = group(request, &parts, name);
                let value = if value.is_empty() { group(request, &parts, other) } else { value };
                put(name, self.unescape(value).trim());
            }
        }
        for name in ["status", "bytes", "referer", "agent"] {
            put(name, &self.unescape(group(line, &found, name)));
        }
        put("text", line);
        Some(values)
    }

    fn unescape(&self, text: &str) -> String {
        let (mut bytes, mut at) = (Vec::new(), 0);
        for found in self.escapes.captures_iter(text) {
            let whole = found.get_match().unwrap().range();
            bytes.extend_from_slice(&text.as_bytes()[at..whole.start]);
            bytes.push(match (found.get_group(1), found.get_group(2)) {
                (Some(digits), _) => u8::from_str_radix(&text[digits.range()], 16).unwrap(),
                (_, Some(letter)) => match &text[letter.range()] {
                    "b" => 8,
                    "n" => 10,
                    "t" => 9,
                    "v" => 11,
                    "r" => 13,
                    other => other.as_bytes()[0],
                },
                _ => unreachable!("one of the groups matches"),
            });
            at = whole.end;
        }
        bytes.extend_from_slice(&text.as_bytes()[at..]);
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

/// A date with an offset as UTC, counted day by day.
fn utc(text: &str) -> Option<String> {
    let names = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let number = |range: std::ops::Range<usize>| text[range].parse::<i64>().ok();
    let mut month = i64::try_from(names.iter().position(|name| *name == &text[3..6])?).ok()? + 1;
    let (mut day, mut year) = (number(0..2)?, number(7..11)?);
    let (hour, minute, second) = (number(12..14)?, number(15..17)?, number(18..20)?);
    let offset = (number(22..24)? * 60 + number(24..26)?) * if &text[21..22] == "-" { 1 } else { -1 };
    let is_leap = |year: i64| year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let length = |year, month| match month {
        2 => 28 + i64::from(is_leap(year)),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    };
    if !(1..=length(year, month)).contains(&day) || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let minutes = hour * 60 + minute + offset;
    day += minutes.div_euclid(1440);
    if day < 1 {
        (year, month) = if month == 1 { (year - 1, 12) } else { (year, month - 1) };
        day = length(year, month);
    } else if day > length(year, month) {
        (year, month, day) = if month == 12 { (year + 1, 1, 1) } else { (year, month + 1, 1) };
    }
    let minutes = minutes.rem_euclid(1440);
    Some(format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}:{second:02}Z", minutes / 60, minutes % 60))
}
