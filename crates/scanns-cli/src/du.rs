//! `scanns du`: the space that directories take, from an index, as GNU du prints it.

use std::io::{self, BufWriter, IsTerminal, Write};
use std::os::unix::ffi::OsStringExt;

use anyhow::{Context, Result, bail};
use scanns::Snapshot;
use scanns::files::{
    ReportOptions, UsageKey, UsageLine, UsageMeasure, UsageOptions, UsageReport, UsageTime, disk_usage,
    human_size, usage_by,
};

use crate::args::{DuArgs, DuKeyArg, DuTimeArg};
use crate::as_user;
use crate::indexed_path::{all_in_index, note_not_in_index, note_without_entry};
use crate::missing::{AskedPlaces, note_missing};
use crate::quoting::{harmless, quoted};
use crate::report::{self, Outcome};
use crate::units;

/// How sums are printed.
#[derive(Clone, Debug, PartialEq, Eq)]
enum SumFormat {
    /// In units of this number of bytes, rounded up, with a suffix.
    Blocks(u64, String),
    /// With a unit that suits the sum, of powers of this number.
    Human(u64),
}

/// Runs the verb.
pub fn run(args: &DuArgs) -> Result<Outcome> {
    let snapshot = as_user::seen(Snapshot::open(&args.index)?, &args.as_user)?;
    let format = format(args)?;
    let threshold = args.threshold.as_deref().map(threshold).transpose()?;
    let options = options(args)?;
    let paths: Vec<Vec<u8>> = args.paths.iter().map(|path| path.clone().into_vec()).collect();
    let zone = jiff::tz::TimeZone::system();
    let mut printer = DuPrinter {
        out: BufWriter::with_capacity(64 << 10, io::stdout().lock()),
        is_terminal: io::stdout().is_terminal(),
        format,
        threshold,
        zone: args.time.is_some().then_some(zone),
        end: if args.null { 0 } else { b'\n' },
    };
    if let Some(key) = args.by {
        return by_value(args, key, &snapshot, &mut printer);
    }
    let mut failed = None;
    let report = disk_usage(&snapshot, &paths, options, |line| {
        printer.line(line).map_err(|error| {
            let kind = error.kind();
            failed = Some(error);
            scanns::Error::io("write to", std::path::Path::new("standard output"), kind.into())
        })
    });
    if let Some(error) = failed {
        return Err(error.into());
    }
    let report = report?;
    if args.total && !report.has_no_sizes {
        let (sum, time) = (report.total, report.latest);
        printer.line(&UsageLine { path: b"total".to_vec(), sum, time })?;
    }
    printer.out.flush()?;
    outcome(args, &snapshot, &report)
}

/// Prints sums by a value.
fn by_value(args: &DuArgs, key: DuKeyArg, snapshot: &Snapshot, printer: &mut DuPrinter) -> Result<Outcome> {
    let paths: Vec<Vec<u8>> = args.paths.iter().map(|path| path.clone().into_vec()).collect();
    let (key, none) = match key {
        DuKeyArg::Owner => (UsageKey::Owner, "(unknown)"),
        DuKeyArg::Group => (UsageKey::Group, "(unknown)"),
        DuKeyArg::Ext => (UsageKey::Extension, "(none)"),
        DuKeyArg::Age => (UsageKey::Age { now: ReportOptions::default().now }, "(unknown)"),
        DuKeyArg::Type => (UsageKey::Type, "(unknown)"),
    };
    let (sums, report) = usage_by(snapshot, &paths, options(args)?, key)?;
    for one in sums {
        let path = one.value.unwrap_or_else(|| none.into());
        printer.line(&UsageLine { path, sum: one.sum, time: None })?;
    }
    if args.total && !report.has_no_sizes {
        printer.line(&UsageLine { path: b"total".to_vec(), sum: report.total, time: None })?;
    }
    printer.out.flush()?;
    outcome(args, snapshot, &report)
}

fn outcome(args: &DuArgs, snapshot: &Snapshot, report: &UsageReport) -> Result<Outcome> {
    let asked = AskedPlaces { paths: &all_in_index(snapshot, &args.paths), depth: None };
    let lacks = note_missing(snapshot, &args.index, asked)?;
    note_not_in_index(snapshot, &report.missing);
    note_without_entry(snapshot, &report.without_entry);
    if report.has_no_sizes {
        report::note("the index has no sizes: --inodes counts entries, or index a dump that has sizes");
        return Ok(Outcome::WithFailures);
    }
    if report.unknown > 0 {
        let entries = units::counted(report.unknown, "entry");
        let example = quoted(&report.first_unknown).into_owned();
        report::note(&format!(
            "the index does not know the space of {entries}, and their sizes are counted; the first is \
             {example}"
        ));
    }
    if report.unsized_files > 0 {
        let files = units::counted(report.unsized_files, "file");
        let example = quoted(&report.first_unsized).into_owned();
        report::note(&format!(
            "the index does not know the size of {files}, which count nothing; the first is {example}"
        ));
    }
    let is_whole = report.missing.is_empty() && report.unsized_files == 0;
    let outcome = if is_whole { Outcome::Done } else { Outcome::WithFailures };
    Ok(outcome.lacking(lacks))
}

fn options(args: &DuArgs) -> Result<UsageOptions> {
    if args.summarize && args.max_depth.is_some_and(|depth| depth > 0) {
        bail!("-s writes one line for each path, which contradicts --max-depth: leave one of them out");
    }
    Ok(UsageOptions {
        measure: match (args.inodes, args.apparent_size || args.bytes) {
            (true, _) => UsageMeasure::Entries,
            (false, true) => UsageMeasure::ApparentSize,
            (false, false) => UsageMeasure::Space,
        },
        all: args.all,
        max_depth: if args.summarize { Some(0) } else { args.max_depth },
        separate: args.separate_dirs,
        count_links: args.count_links,
        one_device: args.one_file_system,
        time: args.time.map(|time| match time {
            DuTimeArg::Mtime => UsageTime::Modified,
            DuTimeArg::Atime => UsageTime::Accessed,
            DuTimeArg::Ctime => UsageTime::Changed,
        }),
        exclude: args.exclude.iter().map(|pattern| pattern.clone().into_vec()).collect(),
    })
}

fn format(args: &DuArgs) -> Result<SumFormat> {
    let plain = |unit| SumFormat::Blocks(unit, String::new());
    Ok(if args.human_readable {
        SumFormat::Human(1024)
    } else if args.si {
        SumFormat::Human(1000)
    } else if args.inodes || args.bytes {
        plain(1)
    } else if args.k {
        plain(1 << 10)
    } else if args.m {
        plain(1 << 20)
    } else {
        match &args.block_size {
            Some(size) => block_size(size)?,
            None => plain(1 << 10),
        }
    })
}

/// The unit of `-B`: a number with or without a unit, or a unit alone, which is then printed.
fn block_size(text: &str) -> Result<SumFormat> {
    let digits = text.chars().take_while(char::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let factor = unit_of(unit).with_context(|| format!("'{text}' is no size: write 512, 1K, 1M, K or M"))?;
    let number: u64 = if number.is_empty() { 1 } else { number.parse()? };
    let size = number.checked_mul(factor).filter(|&size| size > 0);
    let suffix = if digits == 0 { unit.to_owned() } else { String::new() };
    Ok(SumFormat::Blocks(size.with_context(|| format!("'{text}' is no size"))?, suffix))
}

/// The bytes of a unit: K and KiB are 1024, KB is 1000.
fn unit_of(unit: &str) -> Option<u64> {
    let Some(first) = unit.chars().next() else { return Some(1) };
    let power = u32::try_from("KMGTPE".find(first.to_ascii_uppercase())?).ok()? + 1;
    let base: u64 = match unit.get(1..)? {
        "" | "iB" => 1024,
        "B" => 1000,
        _ => return None,
    };
    base.checked_pow(power)
}

/// A least sum, or a greatest one if it is negative.
fn threshold(text: &str) -> Result<(bool, u64)> {
    let (is_most, size) = text.strip_prefix('-').map_or((false, text), |size| (true, size));
    match block_size(size)? {
        SumFormat::Blocks(size, _) => Ok((is_most, size)),
        SumFormat::Human(_) => bail!("'{text}' is no size"),
    }
}

struct DuPrinter {
    out: BufWriter<io::StdoutLock<'static>>,
    is_terminal: bool,
    format: SumFormat,
    threshold: Option<(bool, u64)>,
    /// The time zone of dates, if they are shown.
    zone: Option<jiff::tz::TimeZone>,
    end: u8,
}

impl DuPrinter {
    fn line(&mut self, line: &UsageLine) -> io::Result<()> {
        let is_left_out = self.threshold.is_some_and(
            |(is_most, size)| {
                if is_most { line.sum > size } else { line.sum < size }
            },
        );
        if is_left_out {
            return Ok(());
        }
        write!(self.out, "{}\t", sum_text(&self.format, line.sum))?;
        if let Some(zone) = &self.zone {
            let time = jiff::Timestamp::from_nanosecond(line.time.unwrap_or(0).into()).unwrap_or_default();
            let text = line
                .time
                .map_or("?".into(), |_| time.to_zoned(zone.clone()).strftime("%Y-%m-%d %H:%M").to_string());
            write!(self.out, "{text}\t")?;
        }
        if self.is_terminal {
            write!(self.out, "{}", harmless(&String::from_utf8_lossy(&line.path)))?;
        } else {
            self.out.write_all(&line.path)?;
        }
        self.out.write_all(&[self.end])
    }
}

/// A sum as GNU du prints it: rounded up.
fn sum_text(format: &SumFormat, sum: u64) -> String {
    let base = match format {
        SumFormat::Blocks(unit, suffix) => return format!("{}{suffix}", sum.div_ceil(*unit)),
        SumFormat::Human(base) => *base,
    };
    human_size(sum, base)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_rounded_up_in_units_that_people_read() {
        let human = |sum| sum_text(&SumFormat::Human(1024), sum);
        let sums = [0, 1, 1023, 1024, 1025, 10 << 10, (10 << 10) + 1, 1_048_575, 1 << 20, u64::MAX];
        let texts = ["0", "1", "1023", "1.0K", "1.1K", "10K", "11K", "1.0M", "1.0M", "16E"];
        assert_eq!(sums.map(human), texts);
        assert_eq!(sum_text(&SumFormat::Human(1000), 999_500), "1.0M");
        assert_eq!(sum_text(&SumFormat::Blocks(1024, "K".into()), 1025), "2K");
    }

    #[test]
    fn units_have_the_names_of_du() {
        let unit = |text: &str| block_size(text).ok();
        assert_eq!(unit("1K"), Some(SumFormat::Blocks(1024, String::new())));
        assert_eq!(unit("M"), Some(SumFormat::Blocks(1 << 20, "M".into())));
        assert_eq!(unit("2kB"), Some(SumFormat::Blocks(2000, String::new())));
        assert_eq!((unit("0"), unit("x"), unit("1Kx"), unit("99999E")), (None, None, None, None));
        assert_eq!(threshold("-1M").unwrap(), (true, 1 << 20));
    }
}
