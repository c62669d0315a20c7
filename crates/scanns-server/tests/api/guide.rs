//! docs/API.md is the one that the code makes, and its examples are true.

use std::fs;
use std::path::Path;

use axum::body::Body;
use axum::http::Request;
use scanns_server::api_guide;

use crate::support::{Server, build, everything, file_options};

#[test]
fn the_guide_is_made_of_the_description() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/API.md");
    if std::env::var_os("SCANNS_WRITE").is_some() {
        fs::write(&path, api_guide()).unwrap();
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    let how = "docs/API.md is old: SCANNS_WRITE=1 cargo test -p scanns-server --test api guide";
    assert!(written == api_guide(), "{how}");
    assert!(!written.contains("(#)") && written.matches("```sh").count() > 15);
}

/// The text between the quotes that follow `before`.
fn quoted<'t>(command: &'t str, before: &str) -> Option<&'t str> {
    command.split_once(before)?.1.split_once('\'').map(|(text, _)| text)
}

#[tokio::test(flavor = "multi_thread")]
async fn the_examples_of_the_guide_are_true() {
    let place = tempfile::tempdir().unwrap();
    let (docs, from) =
        (place.path().join("data/docs"), Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs"));
    fs::create_dir_all(docs.join("more")).unwrap();
    for name in ["search.md", "QUERIES.md", "EXPORT.md", "access.md"] {
        fs::copy(from.join(name), docs.join(name)).unwrap();
    }
    let paths = ["docs.scanns", "before.scanns"].map(|name| place.path().join(name));
    build(&paths[1], &file_options(vec![docs.clone()], false));
    fs::write(docs.join("more/license.md"), "a license without warranty").unwrap();
    build(&paths[0], &file_options(vec![docs], false));
    let server = Server::of(&[&paths[0], &paths[1]]);
    let data = place.path().join("data").to_str().unwrap().to_owned();
    let guide = api_guide().replace("\\\n    ", "");
    let commands: Vec<&str> = guide.lines().filter(|line| line.starts_with("curl ")).collect();
    assert!(commands.len() > 15);
    for command in commands {
        let address = quoted(command, "'http://localhost").unwrap();
        let address = address.replace("%2Fdata", &data.replace('/', "%2F")).replace("/data", &data);
        let request = match quoted(command, "--data-binary '") {
            None => Request::get(&address).body(Body::empty()),
            Some(body) => {
                let kind = quoted(command, "'Content-Type: ").unwrap();
                Request::post(&address).header("content-type", kind).body(Body::from(body.to_owned()))
            }
        };
        let reply = server.send(Some(&everything()), request.unwrap()).await;
        let text = String::from_utf8_lossy(&reply.body);
        assert!(reply.status == 200 && !text.contains("\"error\":"), "{command}: {text}");
        let is_found =
            ["\"hits\":[]", "\"children\":[]", "\"terms\":[]"].iter().all(|none| !text.contains(none));
        assert!(is_found && !text.is_empty(), "{command}: {text}");
    }
}
