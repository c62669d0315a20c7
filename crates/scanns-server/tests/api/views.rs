//! A user gets the answers of an index of what he may see: every kind of request is compared with one.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};

use fastrand::Rng;
use scanns::access::AccessUser;
use scanns::{Query, Snapshot};
use scanns_server::Caller;
use serde_json::{Value as Json, json};

use crate::support::{Server, build, encoded, everything, file_options, seed, user, word};

const ANNA: u32 = 52_001;
const BOB: u32 = 52_002;
const SHARED: u32 = 52_100;

fn can_run(test: &str) -> bool {
    let is_root = rustix::process::geteuid().is_root();
    if !is_root {
        println!("SKIPPED {test}: only root can give files to other users");
    }
    is_root
}

/// A tree whose files are seen with their content or not at all, by everybody.
fn tree(place: &Path, random: &mut Rng) -> PathBuf {
    fs::set_permissions(place, fs::Permissions::from_mode(0o755)).unwrap();
    let root = place.join("data");
    for (number, (owner, mode)) in
        [(ANNA, 0o700), (BOB, 0o700), (0, 0o755), (BOB, 0o750), (ANNA, 0o711)].into_iter().enumerate()
    {
        let directory = root.join(format!("d{number}"));
        fs::create_dir_all(&directory).unwrap();
        for file in 0..random.usize(5..25) {
            let path = directory.join(format!("f{file}.{}", random.choice(&["txt", "log", "dat"]).unwrap()));
            let words: Vec<&str> = (0..random.usize(1..80)).map(|_| word(random)).collect();
            fs::write(&path, words.join(" ")).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
            chown(&path, Some(*random.choice(&[ANNA, BOB, 0]).unwrap()), Some(SHARED)).unwrap();
        }
        fs::write(directory.join("hidden-word.txt"), format!("only in {} unique{number}", owner)).unwrap();
        chown(&directory, Some(owner), Some(SHARED)).unwrap();
        fs::set_permissions(&directory, fs::Permissions::from_mode(mode)).unwrap();
    }
    root
}

/// The keys that a user sees, as the library says it.
fn visible(index: &Path, who: &AccessUser) -> Vec<PathBuf> {
    let view = Snapshot::open(index).unwrap().seen_as(who).unwrap();
    let mut all = Vec::new();
    let mut add = |hit: scanns::Hit| {
        all.push(PathBuf::from(String::from_utf8(view.key(&hit).unwrap()).unwrap()));
        std::ops::ControlFlow::Continue(())
    };
    view.searcher().for_each(&Query::All, scanns::search::Model::Classic, &mut add).unwrap();
    all
}

/// An answer without what differs between any two answers.
fn comparable(mut answer: Json) -> Json {
    const LEFT_OUT: [&str; 9] = [
        "took",
        "after",
        "committed",
        "age_seconds",
        "user",
        "trimmed",
        "atime",
        "incomplete",
        "completeness",
    ];
    fn clean(value: &mut Json) {
        match value {
            Json::Object(object) => {
                object.retain(|name, _| !LEFT_OUT.contains(&name.as_str()));
                object.values_mut().for_each(clean);
                // Only who sees everything is told where the index is.
                if let Some(Json::String(path)) = object.get_mut("path").filter(|path| path.is_string())
                    && path.ends_with("/a.scanns")
                {
                    *path = "a.scanns".into();
                }
            }
            Json::Array(all) => all.iter_mut().for_each(clean),
            _ => {}
        }
    }
    clean(&mut answer);
    answer
}

fn addresses(random: &mut Rng, keys: &[PathBuf]) -> Vec<String> {
    let words = |random: &mut Rng| format!("{}+{}", word(random), word(random));
    let mut all =
        vec!["/api/v1".to_owned(), "/api/v1/a/info".into(), "/api/v1/_search?q=time&limit=50".into()];
    for _ in 0..12 {
        let query = words(random);
        let sort = random.choice(&["score", "key", "size:desc,name", "owner,-key"]).unwrap();
        let sort = if *sort == "owner,-key" { "owner,name" } else { sort };
        all.push(format!(
            "/api/v1/a/search?q={query}&sort={sort}&limit=30&fields=size,name,owner,mode&snippets&explain"
        ));
        all.push(format!(
            "/api/v1/a/search?q={query}&facet=owner&facet=ext+%3E+sum:size&stats=size:50&distinct=owner\
             &facet=path:below:&limit=0&model=lm-dirichlet"
        ));
        all.push(format!("/api/v1/a/search?q={query}&group=owner:2&limit=5&content"));
        all.push(format!("/api/v1/a/terms?field=text&prefix={}", &word(random)[..2]));
        all.push(format!("/api/v1/a/suggest?q={}", &word(random)[..2]));
    }
    for number in 0..5 {
        all.push(format!("/api/v1/a/search?q=unique{number}"));
        all.push(format!("/api/v1/a/search?q=%2Bunique{number}x&limit=1"));
        all.push(format!("/api/v1/a/terms?field=text&prefix=unique{number}"));
        all.push(format!("/api/v1/a/suggest?q=unique{number}"));
    }
    all.push("/api/v1/a/usage".into());
    all.push("/api/v1/a/usage?by=count".into());
    all.push("/api/v1/a/usage?q=time+ext:txt&depth=2".into());
    all.push("/api/v1/a/growth?with=a".into());
    all.push("/api/v1/a/export?q=*&fields=_key,size,owner,mode".into());
    all.push("/api/v1/a/export?q=time&format=jsonl&fields=name,size".into());
    all.push("/api/v1/a/export?q=time+data&fields=_key,size&sort=score".into());
    all.push("/api/v1/a/export?q=*&fields=_key,size&sort=owner,-size".into());
    all.push("/api/v1/a/terms?field=owner".into());
    all.push("/api/v1/a/terms?field=text&by=term&limit=1000".into());
    all.push("/api/v1/a/suggest?q=owner:".into());
    all.push("/api/v1/a/search?q=access:1&facet=access".into());
    for key in keys {
        let key = encoded(key.as_os_str().as_encoded_bytes());
        all.push(format!("/api/v1/a/documents/{key}"));
        all.push(format!("/api/v1/a/documents/{key}?raw=text"));
        all.push(format!("/api/v1/a/documents?key={key}"));
        all.push(format!("/api/v1/a/like?key={key}&limit=4"));
    }
    all
}

#[tokio::test]
async fn every_answer_is_the_one_of_an_index_of_what_the_user_sees() {
    if !can_run("every_answer_is_the_one_of_an_index_of_what_the_user_sees") {
        return;
    }
    let (mut random, place) = (Rng::with_seed(seed()), tempfile::tempdir().unwrap());
    let root = tree(place.path(), &mut random);
    let index = place.path().join("a.scanns");
    build(&index, &file_options(vec![root], true));
    let server = Server::of(&[&index]);
    let all = visible(&index, &AccessUser::new(0, 0, &[]));
    for (number, (uid, groups)) in
        [(ANNA, &[ANNA][..]), (BOB, &[BOB, SHARED]), (99, &[99]), (ANNA, &[ANNA, SHARED])]
            .into_iter()
            .enumerate()
    {
        let caller = user("somebody", uid, groups);
        let Caller::User { user: who, .. } = &caller else { panic!("a user") };
        let seen = visible(&index, who);
        assert!(!seen.is_empty() && seen.len() < all.len());
        // A view that nobody waits for is not made.
        let stopped = Snapshot::open(&index).unwrap().seen_as_until(who, &|| true);
        assert!(matches!(stopped, Err(scanns::Error::Cancelled)));
        let own = place.path().join(format!("own{number}")).join("a.scanns");
        fs::create_dir_all(own.parent().unwrap()).unwrap();
        build(&own, &file_options(seen.clone(), true));
        let reference = Server::of(&[&own]);
        let hidden: BTreeSet<_> = all.iter().filter(|path| !seen.contains(path)).cloned().collect();
        let keys: Vec<PathBuf> = hidden.into_iter().take(5).chain(seen.into_iter().take(10)).collect();
        for address in addresses(&mut random, &keys) {
            let (found, expected) = (server.get_as(&caller, &address).await, reference.get(&address).await);
            assert_eq!(found.status, expected.status, "{address} as {uid}");
            if !found.headers["content-type"].to_str().unwrap().contains("json") || address.contains("jsonl")
            {
                assert_eq!(found.body, expected.body, "{address} as {uid}");
                continue;
            }
            assert_eq!(comparable(found.json()), comparable(expected.json()), "{address} as {uid}");
        }
    }
}

#[tokio::test]
async fn a_text_that_may_not_be_read_is_not_found_and_not_shown() {
    if !can_run("a_text_that_may_not_be_read_is_not_found_and_not_shown") {
        return;
    }
    let place = tempfile::tempdir().unwrap();
    fs::set_permissions(place.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let root = place.path().join("data");
    fs::create_dir(&root).unwrap();
    let secret = root.join("secret.txt");
    fs::write(&secret, "a treasure map").unwrap();
    fs::set_permissions(&secret, fs::Permissions::from_mode(0o600)).unwrap();
    fs::write(root.join("open.txt"), "a map of the town, a town map").unwrap();
    let index = place.path().join("a.scanns");
    build(&index, &file_options(vec![root], true));
    let (server, anna) = (Server::of(&[&index]), user("anna", ANNA, &[ANNA]));
    let count = async |caller: &Caller, query: &str| {
        server.get_as(caller, &format!("/api/v1/a/search?q={query}")).await.good()["count"].clone()
    };
    assert_eq!(
        (count(&everything(), "treasure").await, count(&anna, "treasure").await),
        (json!(1), json!(0))
    );
    assert_eq!(
        (count(&everything(), "*").await, count(&anna, "name:secret.txt").await),
        (json!(2), json!(1))
    );
    let key = encoded(secret.as_os_str().as_encoded_bytes());
    let document = server.get_as(&anna, &format!("/api/v1/a/documents/{key}")).await.good();
    assert_eq!((&document["content"], &document["fields"]["size"]), (&json!(null), &json!([14])));
    server.get_as(&anna, &format!("/api/v1/a/documents/{key}?raw=text")).await.problem(422);
    let shown = server.get_as(&anna, "/api/v1/a/search?q=name:secret.txt&snippets&content").await.good();
    assert_eq!(shown["hits"][0]["content"], json!(null));
    for address in
        ["/api/v1/a/terms?field=text", "/api/v1/a/suggest?q=trea", "/api/v1/a/search?q=%2Btreasurx"]
    {
        let body = server.get_as(&anna, address).await;
        assert!(!String::from_utf8_lossy(&body.body).contains("treasure"), "{address}");
    }
    server.get("/api/v1/a/coverage").await.good();
    server.get_as(&anna, "/api/v1/a/coverage").await.problem(422);
    // A token of one caller is refused to another, who would see other documents after it.
    let token =
        server.get("/api/v1/a/search?q=map&limit=1").await.good()["after"].as_str().unwrap().to_owned();
    server.get_as(&anna, &format!("/api/v1/a/search?q=map&limit=1&after={token}")).await.problem(400);
}
