//! Dates in a format of strftime(3), with the additions of GNU date such as `%N` and `%-d`.

use jiff::fmt::strtime::{BrokenDownTime, Config, PosixCustom};
use jiff::tz::TimeZone;

use super::find::timestamp;

/// The date and time that `stat` prints.
pub(super) const WHOLE: &str = "%Y-%m-%d %H:%M:%S.%N %z";

/// A time in nanoseconds since 1970 in a format. What is not a directive is printed as it stands.
pub(super) fn date_text(time: i64, format: &str, zone: &TimeZone) -> String {
    let config = Config::new().custom(PosixCustom::new()).lenient(true);
    let zoned = timestamp(time).to_zoned(zone.clone());
    BrokenDownTime::from(&zoned).to_string_with_config(&config, format).unwrap_or_else(|_| format.to_owned())
}
