//! Options about the columns of documents: orders, counts, statistics, and the values to show.

use clap::Args;
use scanns::search::MOST_DISTANCE;

use super::values::number;

/// An order of documents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SortArg {
    /// By score, the best first.
    Score,
    /// By the bytes of the key.
    Key,
    /// By the bytes of the key, descending.
    KeyDown,
    /// By these fields, one after the other.
    Fields(Vec<FieldSort>),
}

/// One of the fields of an order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldSort {
    /// Its name, or `score`.
    pub name: String,
    /// Whether the greatest values come first.
    pub descending: bool,
    /// Whether documents without a value come first.
    pub missing_first: bool,
}

/// Parses an order: `score`, `key`, `-key`, or fields separated by commas.
pub(super) fn sort(text: &str) -> Result<SortArg, String> {
    match text {
        "score" => return Ok(SortArg::Score),
        "key" => return Ok(SortArg::Key),
        "-key" => return Ok(SortArg::KeyDown),
        _ => {}
    }
    text.split(',').map(field_sort).collect::<Result<_, _>>().map(SortArg::Fields)
}

fn field_sort(text: &str) -> Result<FieldSort, String> {
    let mut parts = text.split(':');
    let name = parts.next().unwrap_or_default();
    let plain = name.strip_prefix('-').unwrap_or(name);
    if plain.is_empty() {
        return Err("a field has no name: write score, key, -key, or fields as in size:desc,owner".into());
    }
    if plain == "key" {
        return Err("key cannot be combined with fields: write --sort key or --sort -key".into());
    }
    let descending = plain != name || plain == "score";
    let mut sort = FieldSort { name: plain.into(), descending, missing_first: false };
    for part in parts {
        match part {
            "asc" => sort.descending = false,
            "desc" => sort.descending = true,
            "first" => sort.missing_first = true,
            "last" => sort.missing_first = false,
            _ => return Err(format!("'{part}' after '{name}' is unknown: use asc, desc, first or last")),
        }
    }
    Ok(sort)
}

/// Options about the values of documents.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Columns")]
pub struct ColumnArgs {
    /// Show these fields of each document after its key: columns and stored fields
    #[arg(long, value_name = "NAME,NAME", value_delimiter = ',', conflicts_with = "count")]
    pub fields: Vec<String>,
    /// Show the best hit of each value of a column, or the best three with FIELD:3. -k limits the number of
    /// values; they are sorted by their best hits
    #[arg(long, value_name = "FIELD[:N]")]
    #[arg(conflicts_with_all = ["all", "count", "after", "like", "like_file", "queries", "print_query"])]
    pub group: Option<String>,
    /// With --group, also show the documents without a value as a group
    #[arg(long, requires = "group")]
    pub group_missing: bool,
    /// Show documents whose texts are nearly equal once, with the number of the others. Their sketches differ
    /// in at most BITS of 64 bits, 0 to 15 [default: 5]; the index must have been built with
    /// --near-duplicates
    #[arg(long, value_name = "BITS", num_args = 0..=1, require_equals = true, default_missing_value = "5")]
    #[arg(value_parser = |text: &str| number(text, 0, MOST_DISTANCE))]
    #[arg(conflicts_with_all = ["all", "count", "after", "group", "queries", "print_query"])]
    pub collapse: Option<u32>,
    /// Count the matching documents by the values of a column; may be given several times
    ///
    /// FIELD counts the ten most frequent values, FIELD:20 twenty, FIELD:all all. FIELD:by=value sorts them
    /// by value, FIELD:by=sum(size) by the sum of a column, the largest first; a number may come before it,
    /// as in ext:20:by=sum(size). FIELD:prefix:TEXT counts values with this prefix;
    /// FIELD:ranges:..1MiB,1MiB..1GiB,1GiB.. counts ranges, which include their first value and exclude
    /// their last; FIELD:every:100 counts intervals; FIELD:year, month, week, day or hour counts dates;
    /// FIELD:below:DIR/ counts the directories in DIR/. Append ' > ' and another facet, sum:FIELD,
    /// stats:FIELD or distinct:FIELD to compute it for each value. The result is a table with one line for
    /// each value
    #[arg(long, value_name = "FIELD[:HOW]", conflicts_with_all = ["queries", "print_query"])]
    pub facet: Vec<String>,
    /// Show count, sum, mean, deviation, least and greatest value of a column of numbers or dates;
    /// FIELD:50,99 adds percentiles
    #[arg(long, value_name = "FIELD[:PERCENT,PERCENT]", conflicts_with_all = ["queries", "print_query"])]
    pub stats: Vec<String>,
    /// Count the different values of a column; FIELD:estimate takes 16 KiB of memory and errs by about 1 %
    #[arg(long, value_name = "FIELD[:estimate]", conflicts_with_all = ["queries", "print_query"])]
    pub distinct: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_read_as_people_write_them() {
        let field = |name: &str, descending, missing_first| FieldSort {
            name: name.into(),
            descending,
            missing_first,
        };
        assert_eq!(sort("-key"), Ok(SortArg::KeyDown));
        assert_eq!(sort("size"), Ok(SortArg::Fields(vec![field("size", false, false)])));
        let all = vec![field("size", true, false), field("when", true, true), field("score", true, false)];
        assert_eq!(sort("-size,when:desc:first,score"), Ok(SortArg::Fields(all)));
        assert_eq!(sort("score:asc"), Ok(SortArg::Fields(vec![field("score", false, false)])));
        for wrong in ["", "size,", "-", "size:down", "size,key"] {
            assert!(sort(wrong).is_err(), "{wrong}");
        }
    }
}
