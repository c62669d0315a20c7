//! Sums of directories, and their growth, are compared with the files.

use std::collections::BTreeMap;
use std::fs;

use fastrand::Rng;
use serde_json::{Value as Json, json};

use crate::support::{Server, build, encoded, file_options, records, seed};

#[tokio::test]
async fn directories_have_the_sums_of_their_files() {
    let (mut random, place) = (Rng::with_seed(seed()), tempfile::tempdir().unwrap());
    let root = place.path().join("data/x");
    let mut sums: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    for directory in ["", "a", "a/b", "a/b/c", "d e", "f"] {
        fs::create_dir_all(root.join(directory)).unwrap();
        for file in 0..random.usize(1..6) {
            let bytes = random.usize(1..5000);
            fs::write(root.join(directory).join(format!("{file}.txt")), "x".repeat(bytes)).unwrap();
            let child = directory.split('/').next().unwrap().to_owned();
            let sum = sums.entry(child).or_default();
            *sum = (sum.0 + 1, sum.1 + bytes as u64);
        }
    }
    let index = place.path().join("a.scanns");
    build(&index, &file_options(vec![root.clone()], false));
    let server = Server::of(&[&index]);
    let root_text = root.to_str().unwrap();
    let named = server.get(&format!("/api/v1/a/usage?path={}", encoded(root_text))).await.good();
    let uppermost = server.get("/api/v1/a/usage").await.good();
    for answer in [&named, &uppermost] {
        assert_eq!(answer["path"], root_text);
        let children: BTreeMap<String, (u64, u64)> = answer["children"]
            .as_array()
            .unwrap()
            .iter()
            .map(|child| {
                let name = if child["kind"] == "files" { "" } else { child["name"].as_str().unwrap() };
                (name.to_owned(), (child["count"].as_u64().unwrap(), child["size"].as_u64().unwrap()))
            })
            .collect();
        assert_eq!(children, sums);
        let total: (u64, u64) = sums.values().fold((0, 0), |all, one| (all.0 + one.0, all.1 + one.1));
        assert_eq!(answer["total"], json!({"count": total.0, "size": total.1}));
        let sizes: Vec<u64> = answer["children"]
            .as_array()
            .unwrap()
            .iter()
            .map(|child| child["size"].as_u64().unwrap())
            .collect();
        assert!(sizes.is_sorted_by(|a, b| a >= b));
        assert!(
            answer["children"].as_array().unwrap().iter().all(|child: &Json| child["newest"].is_string())
        );
    }
    let info = server.get("/api/v1/a/info").await.good();
    assert_eq!((&info["sizes"], &info["entries"]), (&json!(true), &json!(false)));
    let few = server.get("/api/v1/a/usage?limit=1&by=count").await.good();
    assert_eq!((few["children"].as_array().unwrap().len(), &few["more"]), (1, &json!(sums.len() - 1)));
    server.get("/api/v1/a/usage?path=/nothing").await.problem(404);
    let path = records(place.path(), "cacm.scanns", 5, &mut random);
    let server = Server::of(&[&path]);
    server.get("/api/v1/cacm/usage").await.problem(422);
    assert_eq!(server.get("/api/v1/cacm/info").await.good()["sizes"], false);
}

/// The sums of a child, or of a total.
fn sums(of: &Json) -> (u64, u64) {
    (of["count"].as_u64().unwrap(), of["size"].as_u64().unwrap())
}

fn children(of: &Json) -> BTreeMap<String, Json> {
    let of = of["children"].as_array().unwrap();
    of.iter().map(|child| (format!("{} {}", child["kind"], child["path"]), child.clone())).collect()
}

#[tokio::test]
async fn sums_of_a_query_and_of_children_are_those_of_the_files() {
    let (mut random, place) = (Rng::with_seed(seed()), tempfile::tempdir().unwrap());
    let root = place.path().join("data");
    let mut expected = (0, 0);
    for number in 0..60 {
        let directory = root.join(format!("a{}/b{}", random.u32(..3), random.u32(..3)));
        fs::create_dir_all(&directory).unwrap();
        let (ending, bytes) = (if random.bool() { "txt" } else { "dat" }, random.usize(1..999));
        fs::write(directory.join(format!("{number}.{ending}")), "x".repeat(bytes)).unwrap();
        if ending == "txt" {
            expected = (expected.0 + 1, expected.1 + bytes as u64);
        }
    }
    let index = place.path().join("a.scanns");
    build(&index, &file_options(vec![root.clone()], false));
    let server = Server::of(&[&index]);
    let path = encoded(root.to_str().unwrap());
    let found = server.get(&format!("/api/v1/a/usage?path={path}&q=ext:txt&depth=2&by=count")).await.good();
    assert_eq!(sums(&found["total"]), expected);
    for (_, child) in children(&found) {
        let inner = encoded(child["path"].as_str().unwrap());
        let alone = server.get(&format!("/api/v1/a/usage?path={inner}&q=ext:txt&by=count")).await.good();
        assert_eq!((sums(&alone["total"]), &alone["children"]), (sums(&child), &child["children"]));
        assert_eq!(child["more"], 0);
    }
    let none = server.get(&format!("/api/v1/a/usage?path={path}&q=ext:none")).await.good();
    assert_eq!((sums(&none["total"]), &none["children"]), ((0, 0), &json!([])));
    let problem = server.get("/api/v1/a/usage?q=(").await.problem(400);
    assert_eq!(problem["parameter"], "q");
    let covered = server.get("/api/v1/a/coverage").await.good()["covered"].clone();
    assert_eq!((&covered[0]["path"], &covered[0]["complete"]), (&json!(root), &json!(true)));
}

#[tokio::test]
async fn growth_has_the_sums_of_both_indexes() {
    let (mut random, place) = (Rng::with_seed(seed()), tempfile::tempdir().unwrap());
    let root = place.path().join("data/x");
    let indexes = ["old.scanns", "new.scanns"].map(|name| place.path().join(name));
    for index in &indexes {
        for _ in 0..25 {
            let directory = root.join(format!("d{}", random.u32(..6)));
            fs::create_dir_all(&directory).unwrap();
            let file = directory.join(format!("{}.txt", random.u32(..9)));
            if file.exists() && random.bool() {
                fs::remove_file(file).unwrap();
            } else {
                fs::write(file, "x".repeat(random.usize(1..999))).unwrap();
            }
        }
        fs::write(root.join("one.txt"), "x".repeat(random.usize(1..99))).unwrap();
        build(index, &file_options(vec![root.clone()], false));
    }
    let server = Server::of(&[&indexes[0], &indexes[1]]);
    let both =
        ["old", "new"].map(|name| format!("/api/v1/{name}/usage?path={}", encoded(root.to_str().unwrap())));
    let (old, new) = (server.get(&both[0]).await.good(), server.get(&both[1]).await.good());
    for more in [format!("&path={}", encoded(root.to_str().unwrap())), String::new()] {
        let growth = server.get(&format!("/api/v1/new/growth?with=old{more}")).await.good();
        assert_eq!((&growth["path"], &growth["with"]), (&json!(root), &json!("old")));
        let (before, after) = (children(&old), children(&new));
        let names: std::collections::BTreeSet<&String> = before.keys().chain(after.keys()).collect();
        let found = children(&growth);
        assert_eq!(found.keys().collect::<std::collections::BTreeSet<_>>(), names);
        let of = |side: &BTreeMap<String, Json>, name: &String| side.get(name).map_or((0, 0), sums);
        for (name, child) in &found {
            assert_eq!(sums(&child["before"]), of(&before, name), "{name}");
            assert_eq!(sums(&child["after"]), of(&after, name), "{name}");
        }
        let changes = growth["children"].as_array().unwrap().iter();
        let changes = changes.map(|child| sums(&child["after"]).1.abs_diff(sums(&child["before"]).1));
        assert!(changes.collect::<Vec<_>>().is_sorted_by(|a, b| a >= b));
        let total = &growth["total"];
        assert_eq!(sums(&total["before"]), sums(&old["total"]));
        assert_eq!(sums(&total["after"]), sums(&new["total"]));
    }
    let few = server.get("/api/v1/new/growth?with=old&limit=1&by=count").await.good();
    assert_eq!(few["children"].as_array().unwrap().len(), 1);
    server.get("/api/v1/new/growth?with=old&path=/nothing").await.problem(404);
}
