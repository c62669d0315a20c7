//! Sums of directories are compared with the files.

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
    let few = server.get("/api/v1/a/usage?limit=1&by=count").await.good();
    assert_eq!((few["children"].as_array().unwrap().len(), &few["more"]), (1, &json!(sums.len() - 1)));
    server.get("/api/v1/a/usage?path=/nothing").await.problem(404);
    let path = records(place.path(), "cacm.scanns", 5, &mut random);
    Server::of(&[&path]).get("/api/v1/cacm/usage").await.problem(422);
}
