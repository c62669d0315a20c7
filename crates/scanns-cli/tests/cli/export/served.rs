//! The server exports the same bytes as the command, in every format and order.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, Stdio};

use arrow_ipc::reader::FileReader;
use fastrand::Rng;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use super::{Fields, Row, as_bytes, fields, rows};
use crate::scanns;

/// A server of an index, which ends with the test.
struct ServedIndex {
    child: Child,
    socket: PathBuf,
}

impl ServedIndex {
    fn of(fields: &Fields) -> Self {
        let runtime = fields.place.dir.path().join("run");
        std::fs::create_dir(&runtime).unwrap();
        let mut command = scanns(&["serve", "--log", "none"]);
        command.arg(fields.place.index()).env("XDG_RUNTIME_DIR", &runtime);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        // The link is printed when the socket is there.
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut String::new()).unwrap();
        ServedIndex { child, socket: runtime.join("scanns/a.sock") }
    }

    /// The status and the body of an answer.
    fn get(&self, query: &str) -> (String, Vec<u8>) {
        let mut stream = UnixStream::connect(&self.socket).unwrap();
        write!(stream, "GET /api/v1/a/export?{query} HTTP/1.0\r\nhost: localhost\r\n\r\n").unwrap();
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).unwrap();
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").unwrap();
        let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
        (head, bytes[end + 4..].to_vec())
    }
}

impl Drop for ServedIndex {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn encoded(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

#[test]
fn an_export_of_the_server_is_the_one_of_the_command() {
    let seed = fastrand::u64(..);
    println!("seed {seed:x}");
    let mut random = Rng::with_seed(seed);
    let fields = fields(3_000, 0x5eed_0670);
    let server = ServedIndex::of(&fields);
    let orders = [
        "",
        "score",
        "key",
        "-key",
        "unsigned",
        "-signeds:first,date",
        "keyword:desc,floats",
        "truths,score:asc",
    ];
    for round in 0..48 {
        let query =
            *random.choice(&["*", "a", "a b", "+a -b", "unsigned:>100 b", "keyword:a*", "none"]).unwrap();
        let order = orders[round % orders.len()];
        let format = ["csv", "jsonl", "arrow", "parquet"][random.usize(..4)];
        let mut names: Vec<&str> = fields.names.iter().map(String::as_str).chain(["_key"]).collect();
        random.shuffle(&mut names);
        names.truncate(if random.bool() { 0 } else { random.usize(1..6) });
        let (names, model) = (names.join(","), *random.choice(&["bm25", "dph"]).unwrap());
        let mut more = vec![query, "--model", model];
        let mut address = format!("q={}&format={format}&model={model}", encoded(query));
        if !names.is_empty() {
            more.extend(["--fields", &names]);
            address.push_str(&format!("&fields={names}"));
        }
        if !order.is_empty() {
            more.extend(["--sort", order]);
            address.push_str(&format!("&sort={}", encoded(order)));
        }
        let expected = fields.exported(&format!("a.{format}"), &more);
        let (head, found) = server.get(&address);
        assert!(head.contains(" 200 ") && head.contains(&format!("filename=\"a.{format}\"")), "{head}");
        assert!(found == expected, "{address}: {} bytes, not {}", found.len(), expected.len());
    }
}

#[test]
fn tables_of_the_server_have_the_values_of_the_index() {
    let fields = fields(3_000, 0x5eed_0671);
    let server = ServedIndex::of(&fields);
    // The columns that have texts, of which some are not valid UTF-8, are of bytes.
    let plain = |rows: &[Row]| as_bytes(rows, &(0..rows[0].len()).collect::<Vec<_>>());
    let expected = plain(&fields.expected("a"));
    let (_, file) = server.get("q=a&format=arrow");
    let batches: Vec<_> =
        FileReader::try_new(std::io::Cursor::new(file), None).unwrap().map(Result::unwrap).collect();
    assert!(plain(&rows(&batches)) == expected);
    let out = fields.out("served.parquet");
    std::fs::write(&out, server.get("q=a&format=parquet").1).unwrap();
    let reader = ParquetRecordBatchReaderBuilder::try_new(std::fs::File::open(&out).unwrap()).unwrap();
    let batches: Vec<_> = reader.build().unwrap().map(Result::unwrap).collect();
    assert!(plain(&rows(&batches)) == expected);
    for (query, parameter) in [("format=xls", "format"), ("sort=note", "sort"), ("sort=paths", "sort")] {
        let (head, body) = server.get(query);
        let body = String::from_utf8(body).unwrap();
        let named = format!("\"parameter\":\"{parameter}\"");
        assert!(head.contains(" 400 ") && body.contains(&named), "{query}: {body}");
    }
}
