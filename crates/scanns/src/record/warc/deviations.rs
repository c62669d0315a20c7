//! What a record has that the specification does not allow, or that was left out of its values.

pub(super) const LF_LINES: &str = "lines end with LF";
pub(super) const LINE_ENDS_BEFORE: &str = "line ends before the record";
pub(super) const LINE_ENDS_AFTER: &str = "other line ends after the record than two";
pub(super) const WRONG_LENGTH: &str = "wrong Content-Length";
pub(super) const NO_LENGTH: &str = "no valid Content-Length";
pub(super) const NOT_NAMED: &str = "header line without a name";
pub(super) const NO_TYPE: &str = "no WARC-Type";
pub(super) const BRACKETS: &str = "URL in angle brackets";
pub(super) const SPACES: &str = "URL with spaces";
pub(super) const NOT_UTF8: &str = "invalid UTF-8 in a header";
pub(super) const BAD_DATE: &str = "date that is not a time";
pub(super) const REWRITTEN_DATE: &str = "date in another form than RFC 3339";
pub(super) const TRUNCATED: &str = "truncated payload";
pub(super) const SEGMENT: &str = "first segment of a payload";
pub(super) const NO_HTTP: &str = "response without an HTTP header";
pub(super) const HTTP_WITHOUT_END: &str = "HTTP header without end";
pub(super) const EXTRA_LINE_END: &str = "extra line end after the HTTP header";
pub(super) const NOT_CHUNKED: &str = "chunked body without chunks";
pub(super) const WRONG_CHUNKS: &str = "wrong chunks";
pub(super) const CUT_CHUNKS: &str = "cut chunks";
pub(super) const UNKNOWN_ENCODING: &str = "unknown content encoding";
pub(super) const MANY_ENCODINGS: &str = "more than four content encodings";
pub(super) const NOT_ENCODED: &str = "body without its content encoding";
pub(super) const DAMAGED_ENCODING: &str = "damaged content encoding";
pub(super) const TOO_LONG: &str = "decoded payload longer than 64 MiB";
pub(super) const NO_TEXT: &str = "payload without text";
