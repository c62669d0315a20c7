//! Times as find prints them: `%a`, `%Ak` and the like, in the local time zone and the C locale.
//!
//! Seconds have ten digits after the point, the last of which is always 0.

use jiff::civil::DateTime;
use jiff::tz::{Offset, TimeZone};

use super::date::timestamp;

const SECOND: i64 = 1_000_000_000;
const DAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// A time in a time zone.
pub(super) struct LocalTime<'a> {
    time: i64,
    date: DateTime,
    offset: Offset,
    zone: &'a TimeZone,
}

impl<'a> LocalTime<'a> {
    /// A time in nanoseconds in a zone.
    pub(super) fn new(time: i64, zone: &'a TimeZone) -> Self {
        let timestamp = timestamp(time);
        let offset = zone.to_offset(timestamp);
        LocalTime { time, date: offset.to_datetime(timestamp), offset, zone }
    }

    /// `%a`, `%c`, `%t`: as ctime(3), with the fraction of the second.
    pub(super) fn whole(&self) -> String {
        let date = self.date;
        let (hour, minute, second) = (date.hour(), date.minute(), date.second());
        let (day, month) = (short(self.weekday()), short(self.month()));
        let (number, year) = (date.day(), date.year());
        format!("{day} {month} {number:2} {hour:02}:{minute:02}:{second:02}{} {year:04}", self.fraction())
    }

    /// The date of `-ls`: with the time of the day if the entry is at most 180 days old.
    pub(super) fn listed(&self, now: i64) -> String {
        let (time, now) = (self.seconds(), now.div_euclid(SECOND));
        let is_recent = now - 180 * 86_400 <= time && time <= now + 3600;
        let date = self.date;
        let start = format!("{} {:2}", short(self.month()), date.day());
        match is_recent {
            true => format!("{start} {:02}:{:02}", date.hour(), date.minute()),
            false => format!("{start}  {}", date.year()),
        }
    }

    /// One part: a letter of strftime(3), `@` for seconds since 1970 or `+` for date and time.
    pub(super) fn part(&self, letter: u8) -> Vec<u8> {
        let text = match letter {
            b'@' => self.epoch(),
            b'+' => format!("{}+{}{}", self.iso_date(), self.time_of_day(), self.fraction()),
            b'T' | b'X' => format!("{}{}", self.time_of_day(), self.fraction()),
            b'S' => format!("{:02}{}", self.date.second(), self.fraction()),
            letter => match self.date_part(letter).or_else(|| self.time_part(letter)) {
                Some(text) => text,
                None => return vec![b'%', letter],
            },
        };
        text.into_bytes()
    }

    fn date_part(&self, letter: u8) -> Option<String> {
        let date = self.date;
        let (year, month, day) = (date.year(), date.month(), date.day());
        let weekday = i16::from(date.weekday().to_sunday_zero_offset());
        let in_year = date.day_of_year() - 1;
        let week = |first: i16| (in_year + 7 - (weekday + 7 - first) % 7) / 7;
        let iso = date.date().iso_week_date();
        Some(match letter {
            b'a' => short(self.weekday()).to_owned(),
            b'A' => self.weekday().to_owned(),
            b'b' | b'h' => short(self.month()).to_owned(),
            b'B' => self.month().to_owned(),
            b'C' => format!("{:02}", year.div_euclid(100)),
            b'd' => format!("{day:02}"),
            b'D' | b'x' => format!("{month:02}/{day:02}/{:02}", year.rem_euclid(100)),
            b'e' => format!("{day:2}"),
            b'F' => self.iso_date(),
            b'g' => format!("{:02}", iso.year().rem_euclid(100)),
            b'G' => iso.year().to_string(),
            b'j' => format!("{:03}", in_year + 1),
            b'm' => format!("{month:02}"),
            b'u' => date.weekday().to_monday_one_offset().to_string(),
            b'U' => format!("{:02}", week(0)),
            b'V' => format!("{:02}", iso.week()),
            b'w' => weekday.to_string(),
            b'W' => format!("{:02}", week(1)),
            b'y' => format!("{:02}", year.rem_euclid(100)),
            b'Y' => year.to_string(),
            _ => return None,
        })
    }

    fn time_part(&self, letter: u8) -> Option<String> {
        let date = self.date;
        let (hour, minute, second) = (date.hour(), date.minute(), date.second());
        let half = (hour + 11) % 12 + 1;
        let noon = if hour < 12 { "AM" } else { "PM" };
        Some(match letter {
            b'c' => {
                let (day, month) = (short(self.weekday()), short(self.month()));
                format!("{day} {month} {:2} {} {}", date.day(), self.time_of_day(), date.year())
            }
            b'H' => format!("{hour:02}"),
            b'I' => format!("{half:02}"),
            b'k' => format!("{hour:2}"),
            b'l' => format!("{half:2}"),
            b'M' => format!("{minute:02}"),
            b'n' => "\n".to_owned(),
            b'p' => noon.to_owned(),
            b'P' => noon.to_ascii_lowercase(),
            b'r' => format!("{half:02}:{minute:02}:{second:02} {noon}"),
            b'R' => format!("{hour:02}:{minute:02}"),
            b's' => self.seconds().to_string(),
            b't' => "\t".to_owned(),
            b'z' => self.numeric_offset(),
            b'Z' => self.zone.to_offset_info(timestamp(self.time)).abbreviation().to_owned(),
            b'%' => "%".to_owned(),
            _ => return None,
        })
    }

    fn seconds(&self) -> i64 {
        self.time.div_euclid(SECOND)
    }

    /// The fraction of the second, with a zero after it.
    fn fraction(&self) -> String {
        format!(".{:09}0", self.time.rem_euclid(SECOND))
    }

    fn epoch(&self) -> String {
        format!("{}{}", self.seconds(), self.fraction())
    }

    fn iso_date(&self) -> String {
        format!("{}-{:02}-{:02}", self.date.year(), self.date.month(), self.date.day())
    }

    fn time_of_day(&self) -> String {
        format!("{:02}:{:02}:{:02}", self.date.hour(), self.date.minute(), self.date.second())
    }

    fn numeric_offset(&self) -> String {
        let seconds = self.offset.seconds();
        let minutes = seconds.abs() / 60;
        format!("{}{:02}{:02}", if seconds < 0 { '-' } else { '+' }, minutes / 60, minutes % 60)
    }

    fn weekday(&self) -> &'static str {
        let day = usize::try_from(self.date.weekday().to_sunday_zero_offset()).unwrap_or(0);
        DAYS.get(day).copied().unwrap_or_default()
    }

    fn month(&self) -> &'static str {
        let month = usize::try_from(self.date.month() - 1).unwrap_or(0);
        MONTHS.get(month).copied().unwrap_or_default()
    }
}

/// The three letters of a name of a day or a month.
fn short(name: &'static str) -> &'static str {
    name.get(..3).unwrap_or(name)
}
