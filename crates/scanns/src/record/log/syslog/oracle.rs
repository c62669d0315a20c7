//! A slow parser of the lines that the tests make, by splitting them at words.

use crate::schema::{format_date, parse_date};

const FACILITIES: &str = "kern user mail daemon auth syslog lpr news uucp cron authpriv ftp ntp audit \
    alert clock \
    local0 local1 local2 local3 local4 local5 local6 local7";
const SEVERITIES: &str = "emerg alert crit err warning notice info debug";

fn put(values: &mut Vec<String>, name: &str, value: &str) {
    if !matches!(value, "" | "-") {
        values.push(format!("{name}={value}"));
    }
}

fn put_priority(values: &mut Vec<String>, number: usize) {
    put(values, "facility", FACILITIES.split_whitespace().nth(number / 8).unwrap());
    put(values, "severity", SEVERITIES.split_whitespace().nth(number % 8).unwrap());
}

/// The values of a line as in RFC 5424, whose structured data has no escapes and no `] ` in quotes.
pub(super) fn slow_5424(line: &str) -> Vec<String> {
    let (priority, rest) = line.strip_prefix('<').unwrap().split_once(">1 ").unwrap();
    let words: Vec<&str> = rest.splitn(6, ' ').collect();
    let mut values = Vec::new();
    if words[0] != "-" {
        put(&mut values, "date", &format_date(parse_date(words[0].as_bytes()).unwrap()));
    }
    put(&mut values, "host", words[1]);
    put(&mut values, "app", words[2]);
    put(&mut values, "pid", words[3]);
    put_priority(&mut values, priority.parse().unwrap());
    put(&mut values, "msgid", words[4]);
    let rest = words[5];
    let (data, message) = match rest.strip_prefix('-') {
        Some(message) => ("", message),
        None => rest.split_once("] ").map_or((rest, ""), |(data, _)| rest.split_at(data.len() + 1)),
    };
    put(&mut values, "data", data);
    let message = message.strip_prefix(' ').unwrap_or(message);
    let message = message.strip_prefix('\u{feff}').unwrap_or(message);
    if !message.is_empty() {
        values.push(format!("message={message}"));
    }
    values
}

/// The values of a line as in RFC 3164, or with a date in RFC 3339; it has a host, a program and a colon.
pub(super) fn slow_3164(line: &str, years: std::ops::RangeInclusive<i64>, latest: i64) -> Vec<String> {
    let (priority, rest) = match line.strip_prefix('<').map(|rest| rest.split_once('>').unwrap()) {
        Some((priority, rest)) => (Some(priority), rest),
        None => (None, line),
    };
    let mut values = Vec::new();
    let is_iso = rest.starts_with('2');
    let (date, rest) = if is_iso { rest.split_once(' ').unwrap() } else { rest.split_at(15) };
    let date = if is_iso {
        parse_date(date.as_bytes())
    } else {
        let (day, clock) = date.split_at(7);
        let in_year =
            |year: i64| parse_date(format!("{} {year}{clock}", day.trim().replace("  ", " ")).as_bytes());
        let reordered = |year: i64| {
            let (month, day) = date[..6].split_once(' ').unwrap();
            parse_date(format!("{} {month} {year} {}", day.trim(), clock.trim()).as_bytes())
                .or_else(|| in_year(year))
        };
        years.rev().filter_map(reordered).find(|date| *date <= latest * 1_000_000_000)
    };
    put(&mut values, "date", &format_date(date.unwrap()));
    let (host, rest) = rest.trim_start().split_once(' ').unwrap();
    put(&mut values, "host", host);
    let (tag, message) = rest.split_once(": ").unwrap();
    let (app, pid) = tag.strip_suffix(']').map_or((tag, ""), |tag| tag.split_once('[').unwrap());
    put(&mut values, "app", app);
    put(&mut values, "pid", pid);
    if let Some(priority) = priority {
        put_priority(&mut values, priority.parse().unwrap());
    }
    if !message.is_empty() {
        values.push(format!("message={message}"));
    }
    values
}
