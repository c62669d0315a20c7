//! A collection in JSON lines, with nested objects, lists, nulls and missing names, compared with DuckDB's
//! read_json over the same file.

use serde_json::{Value, json};

use super::{any, duckdb};
use crate::{Place, run, scanns};

/// How DuckDB reads the collection. Dates are text in it, and cast where they are compared.
const TABLE: &str = "read_json('files/books.jsonl', format='newline_delimited', columns={
    'id': 'VARCHAR', 'title': 'VARCHAR', 'year': 'BIGINT', 'price': 'DOUBLE', 'open': 'BOOLEAN',
    'added': 'VARCHAR', 'tags': 'VARCHAR[]', 'publisher': 'STRUCT(name VARCHAR, city VARCHAR)'})";

/// 4,000 records whose names come in any order.
fn collection(seed: u64) -> Place {
    let mut random = fastrand::Rng::with_seed(seed);
    let words = ["graph", "theory", "Sea", "naïve", "quote\"d", "back\\slash", "日本", "the", "of"];
    let cities = ["London", "New York", "Zürich", "Paris, France", "say \"hi\"", "日本"];
    let mut text = String::new();
    for number in 0..4000 {
        let title: Vec<&str> = (0..random.usize(1..5)).map(|_| any(&mut random, &words)).collect();
        let mut record = vec![("id", json!(format!("b-{number}"))), ("title", json!(title.join(" ")))];
        if random.u8(..10) > 0 {
            record
                .push(("year", json!(random.i64(1900..2026) - if random.u8(..50) == 0 { 3900 } else { 0 })));
        }
        // Quarters have exact sums.
        match random.u8(..10) {
            0 => record.push(("price", json!(null))),
            1 => {}
            _ => record.push(("price", json!(f64::from(random.u32(..4000)) / 4.0))),
        }
        record.push(("open", json!(random.bool())));
        let (month, day, hour) = (random.u8(1..13), random.u8(1..29), random.u8(..24));
        record.push((
            "added",
            json!(format!("20{:02}-{month:02}-{day:02}T{hour:02}:30:00Z", random.u8(10..26))),
        ));
        let tags: Vec<&str> =
            (0..random.usize(..4)).map(|_| any(&mut random, &["new", "used", "rare; old", "x"])).collect();
        record.push(("tags", json!(tags)));
        if random.u8(..8) > 0 {
            let city = any(&mut random, &cities);
            record.push(("publisher", json!({"name": format!("P{}", random.u8(..30)), "city": city})));
        }
        random.shuffle(&mut record);
        let fields: Vec<String> = record.iter().map(|(name, value)| format!("\"{name}\": {value}")).collect();
        text.push_str(&format!("{{{}}}\n", fields.join(", ")));
    }
    let place = Place::with(&[("books.jsonl", &text)]);
    place.indexed(&["--records", "jsonl", "--key", "id"]);
    place
}

#[test]
fn filters_count_what_duckdb_counts() {
    let seed = fastrand::u64(..);
    let place = collection(seed);
    // Lists match if a value does, as list_has_any; comparisons with NULL are false in both.
    let pairs = [
        ("year:1984", "year = 1984"),
        ("year:[1950 TO 1970}", "year >= 1950 AND year < 1970"),
        ("year:<1000", "year < 1000"),
        ("year:\"-1950\"", "year = -1950"),
        ("price:>500 open:true", "price > 500 AND open"),
        ("price:<=12.25", "price <= 12.25"),
        ("NOT price:*", "price IS NULL"),
        ("NOT year:*", "year IS NULL"),
        ("added:2015", "added::TIMESTAMP >= '2015-01-01' AND added::TIMESTAMP < '2016-01-01'"),
        (
            "added:2015-07-04T12",
            "added::TIMESTAMP >= '2015-07-04 12:00' AND added::TIMESTAMP < '2015-07-04 13:00'",
        ),
        ("added:>2020-06", "added::TIMESTAMP >= '2020-07-01'"),
        ("tags:new", "list_contains(tags, 'new')"),
        ("tags:new tags:used", "list_contains(tags, 'new') AND list_contains(tags, 'used')"),
        ("tags:\"rare; old\"", "list_contains(tags, 'rare; old')"),
        ("NOT tags:*", "len(tags) = 0"),
        ("publisher.city:London", "publisher.city = 'London'"),
        ("publisher.city:\"New York\"", "publisher.city = 'New York'"),
        ("publisher.city:\"say \\\"hi\\\"\"", "publisher.city = 'say \"hi\"'"),
        ("publisher.city:in(London 日本) year:>2000", "publisher.city IN ('London', '日本') AND year > 2000"),
        ("publisher.city:Z*", "publisher.city LIKE 'Z%'"),
        ("NOT publisher.city:*", "publisher IS NULL"),
        (
            "open:false NOT publisher.name:P7",
            "NOT open AND (publisher.name IS NULL OR publisher.name <> 'P7')",
        ),
        ("title:theory", "regexp_matches(title, '(^| )theory( |$)')"),
        (
            "title:sea AND title:graph",
            "regexp_matches(title, '(^| )Sea( |$)') AND regexp_matches(title, '(^| )graph( |$)')",
        ),
    ];
    let sql: Vec<String> = pairs
        .iter()
        .map(|(_, condition)| format!("SELECT count(*) FROM {TABLE} WHERE {condition}"))
        .collect();
    let sql: Vec<&str> = sql.iter().map(String::as_str).collect();
    let Some(expected) = duckdb(&place, "filters_count_what_duckdb_counts", &sql) else { return };
    let mut total = 0;
    for ((query, _), rows) in pairs.iter().zip(expected) {
        assert_eq!(json!(place.count(query)), rows[0][0], "seed {seed:x} {query}");
        total += place.count(query);
    }
    assert!(total > 10_000, "seed {seed:x} {total}");
}

#[test]
fn facets_with_sums_are_the_groups_of_duckdb() {
    let seed = fastrand::u64(..);
    let place = collection(seed);
    // A document with several tags, or twice the same one, counts once for each.
    let sql = [
        format!(
            "SELECT publisher.city AS value, count(*), sum(price), count(price) FROM {TABLE}
            WHERE open AND publisher IS NOT NULL GROUP BY value ORDER BY value"
        ),
        format!(
            "SELECT value, count(*), sum(price), count(price) FROM
            (SELECT price, unnest(list_distinct(tags)) AS value FROM {TABLE} WHERE open)
            GROUP BY value ORDER BY value"
        ),
    ];
    let Some(expected) = duckdb(&place, "facets_with_sums", &[&sql[0], &sql[1]]) else { return };
    for (field, expected) in ["publisher.city", "tags"].iter().zip(expected) {
        let facet = format!("{field}:all:by=sum(price)");
        let lines = place.search(&["--count", "--json", "--facet", &facet, "open:true"]).lines();
        let facet = lines.iter().find(|line| line.get("facet").is_some()).unwrap();
        let mut found: Vec<Value> = facet["buckets"]
            .as_array()
            .unwrap()
            .iter()
            .map(|bucket| {
                let sums = &bucket["nested"][0];
                json!([bucket["value"], bucket["count"], sums["sum"], sums["values"]])
            })
            .collect();
        let sums: Vec<f64> = found.iter().map(|row| row[2].as_f64().unwrap()).collect();
        assert!(sums.is_sorted_by(|a, b| a >= b), "seed {seed:x} {sums:?}");
        found.sort_by_key(|row| row[0].as_str().unwrap().to_owned());
        assert_eq!(found, expected, "seed {seed:x} {field}");
    }
}

#[test]
fn sorted_hits_are_the_rows_of_duckdb_in_order() {
    let seed = fastrand::u64(..);
    let place = collection(seed);
    // Documents without a value come last in either order.
    let orders = [
        ("price:desc,id", "price DESC NULLS LAST, id"),
        ("year,price:desc,id:desc", "year NULLS LAST, price DESC NULLS LAST, id DESC"),
        ("publisher.city:desc,added,id", "publisher.city DESC NULLS LAST, added, id"),
        ("open,added:desc,id", "open, added DESC, id"),
    ];
    let sql: Vec<String> = orders
        .iter()
        .map(|(_, order)| {
            format!("SELECT id FROM {TABLE} WHERE year > 1950 OR year IS NULL ORDER BY {order}")
        })
        .collect();
    let sql: Vec<&str> = sql.iter().map(String::as_str).collect();
    let Some(expected) = duckdb(&place, "sorted_hits_are_the_rows_of_duckdb", &sql) else { return };
    for ((order, _), rows) in orders.iter().zip(expected) {
        let args = ["--json", "--sort", order, "year:>1950 OR NOT year:*"];
        let keys = |more: &[&str]| {
            let hits = place.search(&[&args[..], more].concat()).lines();
            let hits = hits.iter().filter(|hit| hit.get("rank").is_some());
            hits.map(|hit| json!([hit["key"]])).collect::<Vec<_>>()
        };
        assert_eq!(keys(&["-k", "4000"]), rows, "seed {seed:x} {order}");
        assert_eq!(keys(&["-k", "25"]), rows[..25], "seed {seed:x} {order}");
    }
}

#[test]
fn exports_in_every_format_are_read_by_duckdb_as_the_collection_is() {
    let seed = fastrand::u64(..);
    let place = collection(seed);
    let fields = "id,title,year,price,open,added,tags,publisher.city";
    for name in ["out.csv", "out.jsonl", "out.parquet"] {
        let ran = run(scanns(&["export", "a.scanns", "year:>1950", "--fields", fields, "-o", name])
            .current_dir(place.dir.path()));
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    }
    // The values of a keyword in a document are a set, in ascending order.
    let original = format!(
        "(SELECT id, year, price, open, added::TIMESTAMP AS added, list_sort(list_distinct(tags)) AS tags,
         publisher.city AS city FROM {TABLE} WHERE year > 1950)"
    );
    // Several values are separated by `;` in CSV, with a backslash before one in a value. A value alone is
    // unchanged, so only who knows the values can tell it from two.
    let tags = "CASE WHEN tags IS NULL THEN [] WHEN tags = 'rare; old' THEN [tags] ELSE
        [replace(tag, '\\;', ';') FOR tag IN regexp_extract_all(tags, '(\\\\.|[^;])+')] END";
    let csv = format!(
        "(SELECT id, year, price, open, added::TIMESTAMP AS added, {tags} AS tags, city FROM
         read_csv('out.csv', header=false, skip=1, columns={{'id': 'VARCHAR', 'title': 'VARCHAR',
         'year': 'BIGINT', 'price': 'DOUBLE', 'open': 'BOOLEAN', 'added': 'VARCHAR', 'tags': 'VARCHAR',
         'city': 'VARCHAR'}}))"
    );
    // In JSON lines, a list of one value is the value.
    let jsonl = "(SELECT id, year, price, open, added::TIMESTAMP AS added, CASE WHEN tags IS NULL THEN []
        WHEN json_type(tags) = 'ARRAY' THEN tags::VARCHAR[] ELSE [tags->>'$'] END AS tags,
        \"publisher.city\" AS city \
         FROM read_json('out.jsonl', format='newline_delimited', columns={
        'id': 'VARCHAR',
        'year': 'BIGINT', 'price': 'DOUBLE', 'open': 'BOOLEAN', 'added': 'VARCHAR', 'tags': 'JSON',
        'publisher.city': 'VARCHAR'}))";
    let parquet = "(SELECT id, year, price, open, added::TIMESTAMP AS added, coalesce(tags, []) AS tags,
        \"publisher.city\" AS city FROM 'out.parquet')";
    let mut sql = vec![format!("SELECT count(*) FROM {original}")];
    for exported in [csv.as_str(), jsonl, parquet] {
        sql.push(format!("{original} EXCEPT ALL {exported} LIMIT 2"));
        sql.push(format!("{exported} EXCEPT ALL {original} LIMIT 2"));
    }
    let sql: Vec<&str> = sql.iter().map(String::as_str).collect();
    let Some(answers) = duckdb(&place, "exports_in_every_format", &sql) else { return };
    assert!(answers[0][0][0].as_u64().unwrap() > 1000, "seed {seed:x} {:?}", answers[0]);
    for (answer, query) in answers.iter().zip(&sql).skip(1) {
        assert!(answer.is_empty(), "seed {seed:x} {query}: {answer:?}");
    }
}
