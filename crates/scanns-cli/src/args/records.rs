//! Options about the fields of documents: the fields of JSON and CSV records, and the metadata of files.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use scanns::schema::Records;
use scanns::sources::{CsvDelimiter, CsvNames, CsvQuotes};

/// Which fields documents have.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Fields")]
pub struct FieldArgs {
    /// The fields of JSON or CSV records: a file in the format of --infer-schema [default: the fields of the
    /// index; for a new index, the fields inferred from a sample of the records]
    #[arg(long, value_name = "FILE")]
    pub schema: Option<PathBuf>,
    /// Infer the fields from a sample of the records, write them to FILE (- for standard output), and index
    /// nothing. Edit the file and pass it with --schema
    #[arg(long, value_name = "FILE", conflicts_with = "schema")]
    pub infer_schema: Option<PathBuf>,
    /// The field whose values are the keys of documents: a record replaces an earlier one with the same key,
    /// and search, delete, update and eval name documents by it [default: the key of the index or of the
    /// schema; for a new index, the first field of paths that all differ in a sample, if there is one]
    #[arg(long, value_name = "FIELD")]
    pub key: Option<String>,
    /// The delimiter of CSV values: one character, or tab [default: the most frequent one in the header of
    /// comma, semicolon, tab and bar]
    #[arg(long, value_name = "CHAR", value_parser = delimiter)]
    pub csv_delimiter: Option<CsvDelimiter>,
    /// Whether quotes enclose values of CSV, and are doubled in them (double), or are ordinary characters
    /// (none) [default: double; with tabs, none unless a sample has quoted values]
    #[arg(long, value_name = "HOW", value_enum)]
    pub csv_quote: Option<QuoteArg>,
    /// Whether the first row of CSV names the columns: yes; no, columns are column1, column2 and so on; or
    /// the names of the columns of files without a header, as in 'name,size,mtime' [default: as a sample
    /// suggests]
    #[arg(long, value_name = "yes|no|NAMES", value_parser = names)]
    pub csv_header: Option<CsvNames>,
    /// Do not store the metadata of files as columns: path, name, ext, size, mtime, atime, ctime, owner,
    /// group, uid, gid, mode, inode, links and device. They are stored by default where a file is a document,
    /// and cannot be added to an existing index
    #[arg(long)]
    pub no_metadata: bool,
    /// Store who may see each file, by the owners, modes and ACLs of the file and of all directories above
    /// it, so that scanns why and others can ask for a user with --as. Directories must be given, not a list
    /// of files. The first build of an index decides, and every update finds out anew who may see what: a
    /// directory that is opened to others is enough. ACLs are stored, too, with --content none
    #[arg(long, conflicts_with_all = ["no_metadata", "files_from"])]
    pub access: bool,
    /// Names of the users who own files, for files of another machine: a file in the format of /etc/passwd.
    /// Give it with every update of the index [default: the users of this system, as getent prints them]
    #[arg(long, value_name = "FILE", conflicts_with = "no_metadata")]
    pub passwd: Option<PathBuf>,
    /// Names of groups, as --passwd: a file in the format of /etc/group
    #[arg(long, value_name = "FILE", conflicts_with = "no_metadata")]
    pub group: Option<PathBuf>,
}

/// What quotes are in CSV.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum QuoteArg {
    /// A quote encloses values
    Double,
    /// A quote is an ordinary character
    None,
}

impl From<QuoteArg> for CsvQuotes {
    fn from(quote: QuoteArg) -> Self {
        match quote {
            QuoteArg::Double => CsvQuotes::Always,
            QuoteArg::None => CsvQuotes::Never,
        }
    }
}

fn names(text: &str) -> Result<CsvNames, String> {
    match text {
        "" => Err("name the columns, or write yes or no".into()),
        "yes" => Ok(CsvNames::FirstRow),
        "no" => Ok(CsvNames::Numbered),
        names => Ok(CsvNames::Given(names.split(',').map(|name| name.trim().to_owned()).collect())),
    }
}

fn delimiter(text: &str) -> Result<CsvDelimiter, String> {
    CsvDelimiter::parse(text).map_err(|error| error.to_string())
}

/// What one document is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum RecordsArg {
    /// As all files say that are looked at, else one document per file, and per record of a web archive,
    /// mailbox, TREC collection or dump of MediaWiki among them
    Auto,
    /// One document per file, whatever it holds, and per member of an archive
    File,
    /// One document per line
    Lines,
    /// One document per line, a JSON object whose members are fields; a nested member is called a.b. Every
    /// row of a Parquet or Arrow file is one, too
    Jsonl,
    /// One document per row of CSV, whose columns are fields; the first row names them
    Csv,
    /// Like csv, with tabs between values
    Tsv,
    /// One document per page or file in web archives: WARC, WET or ARC
    Warc,
    /// One document per <DOC> of TREC collections, also of their web pages
    Trec,
    /// One document per .I of collections of the SMART system, such as CACM
    Smart,
    /// One document per message of mailboxes, or of files with one message each
    Mbox,
    /// One document per page of XML dumps of MediaWiki, such as Wikipedia's
    Mediawiki,
    /// One document per line of access logs of web servers, in the common or combined format
    Access,
    /// One document per line of syslog, as in /var/log/syslog
    Syslog,
    /// One document per entry of journalctl -o json
    Journal,
}

impl RecordsArg {
    /// The kind of records; `None` if the files say it.
    pub fn kind(self) -> Option<Records> {
        Some(match self {
            RecordsArg::Auto => return None,
            RecordsArg::File => Records::File,
            RecordsArg::Lines => Records::Lines,
            RecordsArg::Jsonl => Records::Jsonl,
            RecordsArg::Csv | RecordsArg::Tsv => Records::Csv,
            RecordsArg::Warc => Records::Warc,
            RecordsArg::Trec => Records::Trec,
            RecordsArg::Smart => Records::Smart,
            RecordsArg::Mbox => Records::Mbox,
            RecordsArg::Mediawiki => Records::MediaWiki,
            RecordsArg::Access => Records::Access,
            RecordsArg::Syslog => Records::Syslog,
            RecordsArg::Journal => Records::Journal,
        })
    }
}
