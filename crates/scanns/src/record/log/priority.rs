//! The numbers of severities and facilities as names (RFC 5424, section 6.2.1; names as in syslog.h).

const SEVERITIES: [&str; 8] = ["emerg", "alert", "crit", "err", "warning", "notice", "info", "debug"];

const FACILITIES: [&str; 24] = [
    "kern", "user", "mail", "daemon", "auth", "syslog", "lpr", "news", "uucp", "cron", "authpriv", "ftp",
    "ntp", "audit", "alert", "clock", "local0", "local1", "local2", "local3", "local4", "local5", "local6",
    "local7",
];

/// The name of a severity, from 0 for the worst to 7; None for other numbers.
pub(super) fn severity(number: usize) -> Option<&'static str> {
    SEVERITIES.get(number).copied()
}

/// A priority: a facility times eight plus a severity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Priority {
    pub facility: &'static str,
    pub severity: &'static str,
}

impl Priority {
    /// Splits off the priority, `<0>` to `<191>`, that a text begins with.
    pub fn split(text: &[u8]) -> Option<(Self, &[u8])> {
        let inside = text.strip_prefix(b"<")?;
        let digits = inside.iter().take(4).position(|byte| *byte == b'>')?;
        let (number, rest) = inside.split_at_checked(digits).filter(|_| digits > 0)?;
        let number = number
            .iter()
            .try_fold(0, |sum, digit| digit.is_ascii_digit().then(|| sum * 10 + usize::from(digit - b'0')))?;
        let priority =
            Priority { facility: FACILITIES.get(number / 8).copied()?, severity: severity(number % 8)? };
        Some((priority, rest.get(1..).unwrap_or_default()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn priorities_have_a_facility_and_a_severity() {
        for (text, facility, severity) in [
            ("<0>x", "kern", "emerg"),
            ("<34>x", "auth", "crit"),
            ("<165>x", "local4", "notice"),
            ("<191>x", "local7", "debug"),
            ("<013>x", "user", "notice"),
        ] {
            let (priority, rest) = Priority::split(text.as_bytes()).unwrap();
            assert_eq!(
                (priority.facility, priority.severity, rest),
                (facility, severity, &b"x"[..]),
                "{text}"
            );
        }
        for text in ["", "<", "<>", "<a>", "<192>", "<0000>", "<-1>", "13>", "<13", "<1 3>"] {
            assert_eq!(Priority::split(text.as_bytes()), None, "{text}");
        }
    }
}
