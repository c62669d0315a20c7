use super::parser::MAX_DEPTH;
use super::paths::Paths;
use super::*;
use crate::record::error::RecordError;
use crate::record::raw::RawScalar;
use crate::record::scalar::Scalar;

/// Names and values of a record. Values are as in JSON, except for strings, which have a quote in front.
fn read(paths: &mut Paths, record: &[u8]) -> Result<Vec<(String, String)>, RecordError> {
    let mut raws = Vec::new();
    parse(record, paths, &mut |raw| raws.push(raw))?;
    let mut text = Vec::new();
    let show = |raw: &RawScalar, text: &mut Vec<u8>| match raw.scalar(record, text) {
        None => "null".into(),
        Some(Scalar::Boolean(truth)) => truth.to_string(),
        Some(Scalar::Number(number, _)) => String::from_utf8(number.to_vec()).unwrap(),
        Some(Scalar::Text(text)) => format!("\"{}", std::str::from_utf8(text).unwrap()),
    };
    Ok(raws.iter().map(|raw| (paths.source(raw.name).into(), show(raw, &mut text))).collect())
}

fn values(record: &str) -> Vec<(String, String)> {
    read(&mut Paths::new(), record.as_bytes()).unwrap_or_else(|error| panic!("{record}: {error}"))
}

fn is_accepted(record: &[u8]) -> bool {
    parse(record, &mut Paths::new(), &mut |_| {}) == Ok(true)
}

#[track_caller]
fn assert_values(record: &str, expected: &[(&str, &str)]) {
    let values = values(record);
    let values: Vec<_> = values.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    assert_eq!(values, expected, "{record}");
}

#[test]
fn objects_and_arrays_are_flattened() {
    assert_values("{}", &[]);
    assert_values("{\"a\":{},\"b\":[],\"c\":[[],{}]}", &[]);
    assert_values(
        " {\t\"a\" :\r 1 ,\n\"b\": [ true , null ] } ",
        &[("a", "1"), ("b", "true"), ("b", "null")],
    );
    assert_values(
        r#"{"a":{"b":1,"c":{"d":"x"}},"e":[1,{"f":2},[3,{"f":4}]],"g":5}"#,
        &[("a.b", "1"), ("a.c.d", "\"x"), ("e", "1"), ("e.f", "2"), ("e", "3"), ("e.f", "4"), ("g", "5")],
    );
    assert_values(r#"{"a":1,"a":[2],"a":{"a":3}}"#, &[("a", "1"), ("a", "2"), ("a.a", "3")]);
    assert_values(r#"{"a.b":1,"a":{"b":2}}"#, &[("a.b", "1"), ("a.b", "2")]);
    assert_values(
        r#"{"":1,"a":{"":2},"\u0061":3,"x\ny":4}"#,
        &[("", "1"), ("a.", "2"), ("a", "3"), ("x\ny", "4")],
    );
    assert_values("\u{feff}{\"ä\":\"ö\\\"\"}", &[("ä", "\"ö\"")]);
}

#[test]
fn names_are_found_whether_they_were_guessed_or_not() {
    let seed = 0x5eed_9a7e;
    let mut random = fastrand::Rng::with_seed(seed);
    let mut paths = Paths::new();
    for round in 0..3000 {
        let mut members = Vec::new();
        let mut expected = Vec::new();
        for number in 0..random.usize(..8) {
            let key = ["a", "ab", "b", "\\u0061", "c\\\"", "long name", ""][random.usize(..7)];
            let name = key.replace("\\u0061", "a").replace("\\\"", "\"");
            let (member, path) = match random.usize(..3) {
                0 => (format!("{{\"a\":{number}}}"), format!("{name}.a")),
                1 => (format!("[{{\"b\":[{number}]}}]"), format!("{name}.b")),
                _ => (number.to_string(), name),
            };
            members.push(format!("\"{key}\":{member}"));
            expected.push((path, number.to_string()));
        }
        let record = format!("{{{}}}", members.join(","));
        assert_eq!(read(&mut paths, record.as_bytes()), Ok(expected), "seed {seed:x} round {round} {record}");
    }
    assert!(paths.len() < 200, "each spelling of a name gets one number: {}", paths.len());
}

#[test]
fn valid_records_are_accepted() {
    for value in [
        "0",
        "-0",
        "-1",
        "1.5",
        "-0.0",
        "1e1",
        "1E+1",
        "1e-1",
        "0e0",
        "1.25e00012",
        "123456789012345678901234567890",
        "true",
        "false",
        "null",
        "\"\"",
        "[]",
        "{}",
        "[[[]]]",
        "[1,2]",
        "[null]",
        "[\"a\",{}]",
        "\"\\u0000\"",
        "\"\\ud83d\\ude00\"",
        "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"",
        "\"\u{7f}\"",
        "\"\u{2028}\"",
        "\"\u{10ffff}\"",
        "\"\\uFFFF\"",
        "\"\u{feff}\"",
        "{\"\":{\"\":[]}}",
        "1e999999",
        "\"/\"",
    ] {
        assert!(is_accepted(format!("{{\"a\":{value}}}").as_bytes()), "{value}");
        assert!(is_accepted(format!("\t{{ \"a\" : [ {value} , {value} ] }}\r\n").as_bytes()), "{value}");
    }
    for blank in ["", " ", "\r\n", " \t\r\n ", "\u{feff}"] {
        assert_eq!(parse(blank.as_bytes(), &mut Paths::new(), &mut |_| {}), Ok(false), "{blank:?}");
    }
}

/// Text that is not a value.
const NO_VALUES: &[&str] = &[
    "",
    ",",
    ":",
    "]",
    "[",
    "{",
    "[1",
    "[1,",
    "[1,]",
    "[,1]",
    "[1 2]",
    "[1}",
    "{\"a\"}",
    "{\"a\":}",
    "{\"a\":1,}",
    "{,}",
    "{\"a\" 1}",
    "{a:1}",
    "{'a':1}",
    "{1:1}",
    "{\"a\":1 \"b\":2}",
    "{\"a\":1]",
    "{\"a\"::1}",
    "{null:1}",
    "01",
    "-01",
    "+1",
    "-",
    ".5",
    "5.",
    "1e",
    "1e+",
    "1.e1",
    "0x1",
    "1_0",
    "--1",
    "1-",
    "- 1",
    "1.2.3",
    "Infinity",
    "-Infinity",
    "NaN",
    "1a",
    "\u{ff11}",
    "True",
    "tru",
    "truee",
    "nul",
    "nulll",
    "fals",
    "TRUE",
    "undefined",
    "\"",
    "\"a",
    "'a'",
    "\"\\\"",
    "\"\\x\"",
    "\"\\u12\"",
    "\"\\u12g4\"",
    "\"\\ud800\"",
    "\"\\udc00\"",
    "\"\\ud800\\u0041\"",
    "\"\\ud800\\ud800\"",
    "\"a\nb\"",
    "\"a\tb\"",
    "\"\0\"",
    "\"\u{1f}\"",
    "\"\\\n\"",
    "\"a\"b",
    "\"a\"\"b\"",
    "1 2",
    "\0",
    "1\0",
    "\u{feff}1",
    "\u{a0}1",
    "1\u{b}",
    "1\u{c}",
    "// c\n1",
    "/* c */1",
    "1#",
    "(1)",
    "<a>",
    "*",
    "[1;2]",
    "\\n",
    "[\\n]",
    "\"\\a\"",
    "\"\\\u{e4}\"",
    "\"\\u\u{e4}abc\"",
];

/// Text that is not a record.
const NO_RECORDS: &[&str] = &[
    "1",
    "\"a\"",
    "[]",
    "[{}]",
    "null",
    "{}{}",
    "{} {}",
    "{},",
    "{}x",
    "{",
    "}",
    "{\"a\":1",
    "{\"a",
    "{\"a\"",
    "{\"a\":",
    "x{}",
    "{}\0",
    "\0{}",
    "\u{feff}\u{feff}{}",
    "{}\u{feff}",
    "{\u{feff}}",
    "a,b",
    "'",
    "{]",
    "{\"a\":1}}",
    "{{}}",
    "{\"a\n\":1}",
    "{\"\\ud800\":1}",
];

#[test]
fn invalid_records_are_refused() {
    for value in NO_VALUES {
        assert!(!is_accepted(format!("{{\"a\":{value}}}").as_bytes()), "{value}");
        assert!(!is_accepted(format!("{{\"a\":{{\"b\":[{value},1]}}}}").as_bytes()), "{value}");
    }
    for record in NO_RECORDS {
        assert!(!is_accepted(record.as_bytes()), "{record}");
    }
}

#[test]
fn invalid_utf8_is_refused_at_its_place() {
    let cases: [&[u8]; 10] = [
        b"\xff",
        b"\x80",
        b"\xc0\xaf",
        b"\xc1\x81",
        b"\xe0\x80\xaf",
        b"\xed\xa0\x80",
        b"\xf0\x80\x80\xaf",
        b"\xf4\x90\x80\x80",
        b"\xc3",
        b"\xe2\x82",
    ];
    for bytes in cases {
        for (before, after) in [("{\"a\":\"", "\"}"), ("{\"", "\":1}"), ("{\"a\":1}", "")] {
            let record = [before.as_bytes(), bytes, after.as_bytes()].concat();
            let error = parse(&record, &mut Paths::new(), &mut |_| {});
            assert_eq!(error, Err(RecordError::NotUtf8 { at: before.len() }), "{bytes:x?}");
        }
    }
}

#[test]
fn errors_say_where_and_what() {
    for (record, text) in [
        ("1", "expected the { of an object at byte 0"),
        ("[1]", "expected an object, not an array (jq -c '.[]' makes a line of each element) at byte 0"),
        ("{\"a\":1} x", "expected the end of the record after its object at byte 8"),
        ("{\"a\":1 \"b\":2}", "expected a comma or } at byte 7"),
        ("{\"a\":[1 2]}", "expected a comma or ] at byte 8"),
        ("{\"a\":01}", "expected no digit after a leading zero at byte 6"),
        ("{\"a\":\"x", "expected the closing quote of a string at byte 7"),
        ("{\"a\" 1}", "expected the colon after a name at byte 5"),
        ("{a:1}", "expected the opening quote of a name at byte 1"),
        ("{\"a\":\"\\q\"}", "expected one of \" \\ / b f n r t u at byte 7"),
    ] {
        let error = read(&mut Paths::new(), record.as_bytes()).unwrap_err();
        assert_eq!(error.to_string(), text, "{record}");
    }
}

#[test]
fn depth_is_limited_and_takes_no_stack() {
    let nested = |depth: usize| format!("{{\"a\":{}1{}}}", "[".repeat(depth), "]".repeat(depth));
    assert_values(&nested(MAX_DEPTH - 1), &[("a", "1")]);
    let error = read(&mut Paths::new(), nested(MAX_DEPTH).as_bytes());
    assert_eq!(error, Err(RecordError::TooDeep { at: 5 + MAX_DEPTH - 1, limit: MAX_DEPTH }));
    for record in
        ["{\"a\":".repeat(100_000), format!("{{\"a\":{}", "[".repeat(100_000)), "[{".repeat(100_000)]
    {
        assert!(!is_accepted(record.as_bytes()));
    }
    let deep = format!("{}1{}", "{\"a\":".repeat(MAX_DEPTH), "}".repeat(MAX_DEPTH));
    let name = values(&deep)[0].0.clone();
    assert_eq!(name, vec!["a"; MAX_DEPTH].join("."));
}

#[test]
fn long_names_are_cut_between_characters() {
    let long = "ä".repeat(200);
    let name = values(&format!("{{\"{long}\":{{\"{long}\":1}}}}"))[0].0.clone();
    assert_eq!(name, "ä".repeat(127) + ".");
}

/// Names and values in a record that serde_json has parsed.
fn flatten(name: Option<&str>, value: &serde_json::Value, out: &mut Vec<(String, String)>) {
    match value {
        serde_json::Value::Array(items) => items.iter().for_each(|item| flatten(name, item, out)),
        serde_json::Value::Object(members) => {
            for (member, value) in members {
                let name = name.map_or(member.clone(), |name| format!("{name}.{member}"));
                flatten(Some(&name), value, out);
            }
        }
        serde_json::Value::String(text) => out.push((name.unwrap_or_default().into(), format!("\"{text}"))),
        scalar => out.push((name.unwrap_or_default().into(), scalar.to_string())),
    }
}

/// True if two values are the same; serde_json rounds some numbers to a neighbour.
fn same(ours: &str, theirs: &str) -> bool {
    match (ours.parse::<f64>(), theirs.parse::<f64>()) {
        (Ok(ours), Ok(theirs)) => (ours - theirs).abs() <= theirs.abs() * 1e-15,
        _ => ours == theirs,
    }
}

fn random_value(random: &mut fastrand::Rng, depth: usize, out: &mut String) {
    let space = |random: &mut fastrand::Rng| ["", "", "", " ", "\t", " \r\n"][random.usize(..6)];
    match random.usize(..if depth > 4 { 5 } else { 8 }) {
        0 => out.push_str(["true", "false", "null"][random.usize(..3)]),
        1 => out.push_str(&(random.i64(..) >> random.u32(..64)).to_string()),
        2 => out.push_str(&format!("{:e}", (random.f64() - 0.5) * 10f64.powi(random.i32(-300..300)))),
        3 | 4 => random_string(random, "", out),
        kind => {
            let (open, close) = if kind == 5 { ('[', ']') } else { ('{', '}') };
            out.push(open);
            for number in 0..random.usize(..5) {
                if number > 0 {
                    out.push(',');
                }
                out.push_str(space(random));
                if kind != 5 {
                    // The number makes the names in an object distinct.
                    random_string(random, &number.to_string(), out);
                    out.push_str(space(random));
                    out.push(':');
                }
                random_value(random, depth + 1, out);
                out.push_str(space(random));
            }
            out.push(close);
        }
    }
}

fn random_string(random: &mut fastrand::Rng, start: &str, out: &mut String) {
    out.push('"');
    out.push_str(start);
    let parts = [
        "a",
        "bc",
        "ä",
        "😀",
        "\\n",
        "\\\"",
        "\\\\",
        "\\u00e4",
        "\\ud83d\\uDE00",
        "/",
        " ",
        ":",
        "{",
        "\u{7f}",
    ];
    for _ in 0..random.usize(..random.clone().usize(1..30)) {
        out.push_str(parts[random.usize(..parts.len())]);
    }
    out.push('"');
}

#[test]
fn random_and_mutated_records_are_read_as_serde_json_reads_them() {
    let seed = 0x5eed_15e7;
    let mut random = fastrand::Rng::with_seed(seed);
    let mut paths = Paths::new();
    let (mut accepted, mut refused) = (0, 0);
    for round in 0..20_000 {
        let mut text = String::from("{\"r\":");
        random_value(&mut random, 0, &mut text);
        text.push('}');
        let mut bytes = text.into_bytes();
        let mutated = random.u8(..4) > 0;
        for _ in 0..if mutated { random.usize(1..4) } else { 0 } {
            let at = random.usize(..bytes.len());
            let alphabet = b"\"\\{}[],:0123456789eE+-.tfnu \n\0\xff\xc3\xa4";
            match random.u8(..5) {
                0 => bytes.truncate(at.max(1)),
                1 => drop(bytes.remove(at)),
                2 => bytes.insert(at, alphabet[random.usize(..alphabet.len())]),
                3 => bytes[at] = alphabet[random.usize(..alphabet.len())],
                _ => bytes[at] ^= 1 << random.u8(..8),
            }
            if bytes.is_empty() {
                break;
            }
        }
        let context = format!("seed {seed:x} round {round} {}", String::from_utf8_lossy(&bytes));
        let ours = read(&mut paths, &bytes);
        let theirs = serde_json::from_slice::<serde_json::Value>(&bytes);
        let (theirs, ours) = match (theirs, ours) {
            (Ok(theirs), Ok(ours)) => (theirs, ours),
            (Ok(theirs), Err(error)) => {
                assert!(!theirs.is_object(), "{error}: {context}");
                continue;
            }
            (Err(error), Ok(_)) => {
                let excused =
                    error.to_string().contains("number out of range") || bytes.trim_ascii().is_empty();
                assert!(excused, "{error}: {context}");
                continue;
            }
            (Err(_), Err(_)) => {
                refused += 1;
                continue;
            }
        };
        accepted += 1;
        let mut expected = Vec::new();
        flatten(None, &theirs, &mut expected);
        let matches = |(name, value): &(String, String)| {
            // serde_json does not limit the length of names.
            let cut = crate::record::names::cut(name, 255);
            ours.iter().any(|(own, ours)| own == cut && same(ours, value))
        };
        // A mutation may have made two names equal, of which serde_json keeps one value.
        assert!(expected.iter().all(matches), "{ours:?} {expected:?} {context}");
        assert!(mutated && ours.len() > expected.len() || ours.len() == expected.len(), "{context}");
    }
    assert!(accepted > 5000 && refused > 5000, "{accepted} accepted, {refused} refused");
}

#[test]
fn a_record_of_64_mib_and_one_of_many_names_are_read() {
    let long = format!("{{\"a\":\"{}\",\"b\":{}1}}", "x".repeat(48 << 20), " ".repeat(16 << 20));
    let mut count = 0;
    assert_eq!(parse(long.as_bytes(), &mut Paths::new(), &mut |_| count += 1), Ok(true));
    assert_eq!(count, 2);
    let members: Vec<_> = (0..100_000).map(|number| format!("\"name {number}\":{number}")).collect();
    let many = format!("{{{}}}", members.join(","));
    let mut paths = Paths::new();
    for _ in 0..2 {
        let values = read(&mut paths, many.as_bytes()).unwrap();
        assert_eq!(values.len(), 100_000);
        assert_eq!(values[99_999], ("name 99999".into(), "99999".into()));
    }
    assert_eq!(paths.len(), 100_001);
    assert!(paths.is_full());
}
