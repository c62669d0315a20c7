//! Searches are compared with what the library finds.

use fastrand::Rng;
use scanns::aggregate::{Aggregated, Aggregation, BucketKey, FacetLevel};
use scanns::query::Operator;
use scanns::schema::{Document, FieldEntry, Schema};
use scanns::search::{KeyOrder, KeyPage, Missing, Model, MoreLikeThis, Rm3, SortBy, SortKey};
use scanns::{Hit, Index, Snapshot};
use serde_json::{Value as Json, json};

use crate::support::{Server, docs, encoded, records, seed, word};

/// A random query in the language of the command.
fn query(random: &mut Rng) -> String {
    let mut parts = Vec::new();
    for _ in 0..random.usize(1..4) {
        let word = word(random);
        parts.push(match random.usize(..9) {
            0 => format!("+{word}"),
            1 => format!("-{word}"),
            2 => format!("\"{word} {}\"", crate::support::word(random)),
            3 => format!("{}*", &word[..3]),
            4 => format!("title:{word}"),
            5 => format!("year:>{}", random.u32(1958..1980)),
            6 => format!("{word}^2"),
            _ => word.to_owned(),
        });
    }
    parts.join(" ")
}

fn keys(answer: &Json) -> Vec<String> {
    answer["hits"].as_array().unwrap().iter().map(|hit| hit["key"].as_str().unwrap().to_owned()).collect()
}

fn scores(answer: &Json) -> Vec<f32> {
    let score = |hit: &Json| hit["score"].to_string().parse().unwrap();
    answer["hits"].as_array().unwrap().iter().map(score).collect()
}

fn key_of(snapshot: &Snapshot, hit: &Hit) -> String {
    String::from_utf8(snapshot.key(hit).unwrap()).unwrap()
}

const BM25: Model = Model::Bm25 { k1: 1.2, b: 0.75 };

#[tokio::test]
async fn random_searches_find_what_the_library_finds() {
    let (mut random, place) = (Rng::with_seed(seed()), tempfile::tempdir().unwrap());
    let path = records(place.path(), "cacm.scanns", 700, &mut random);
    let (server, snapshot) = (Server::of(&[&path]), Snapshot::open(&path).unwrap());
    let year = snapshot.schema().field("year").unwrap();
    for _ in 0..200 {
        let text = query(&mut random);
        let parsed = snapshot.parse(&text, Operator::Or).unwrap();
        let (limit, searcher) = (random.usize(1..30), snapshot.searcher());
        let count = searcher.count(&parsed).unwrap();
        let (sort, expected): (&str, Vec<Hit>) = match random.usize(..4) {
            0 => {
                let page = KeyPage { order: KeyOrder::Descending, limit, after: None };
                let found = searcher.top_by_key(&parsed, BM25, page, |_| {}).unwrap();
                ("-key", found.into_iter().map(|found| found.hit).collect())
            }
            1 => {
                let key = SortKey { by: SortBy::Field(year), descending: true, missing: Missing::Last };
                let prepared = searcher.prepare(&parsed).unwrap();
                let found = prepared.top_k_sorted(BM25, &[key], limit, None).unwrap();
                ("year:desc", found.into_iter().map(|found| found.hit).collect())
            }
            _ => ("score", searcher.top_k(&parsed, BM25, limit).unwrap()),
        };
        let address = format!("/api/v1/cacm/search?q={}&limit={limit}&sort={sort}", encoded(&text));
        let answer = server.get(&address).await.good();
        let body = json!({"q": text, "limit": limit, "sort": sort});
        let posted = server.post("/api/v1/cacm/search", &body).await.good();
        for answer in [&answer, &posted] {
            assert_eq!(answer["count"], count, "{text}");
            let expected_keys: Vec<String> = expected.iter().map(|hit| key_of(&snapshot, hit)).collect();
            assert_eq!(keys(answer), expected_keys, "{text} {sort}");
            if sort == "score" {
                assert_eq!(
                    scores(answer),
                    expected.iter().map(|hit| hit.score).collect::<Vec<_>>(),
                    "{text}"
                );
            }
        }
        let again = json!({"query": answer["query"], "limit": limit, "sort": sort});
        let again = server.post("/api/v1/cacm/search", &again).await.good();
        assert_eq!(keys(&again), keys(&answer), "the query as JSON: {}", answer["query"]);
    }
}

#[tokio::test]
async fn pages_follow_each_other_without_gaps() {
    let (mut random, place) = (Rng::with_seed(seed()), tempfile::tempdir().unwrap());
    let path = records(place.path(), "cacm.scanns", 300, &mut random);
    let server = Server::of(&[&path]);
    for sort in ["score", "key", "-key", "year", "year:desc,score", "when:first,author:desc"] {
        let whole =
            server.get(&format!("/api/v1/cacm/search?q=system+time&limit=1000&sort={sort}")).await.good();
        let (mut all, mut after, mut rank) = (Vec::new(), String::new(), 0);
        loop {
            let limit = random.usize(1..40);
            let address = format!("/api/v1/cacm/search?q=system+time&limit={limit}&sort={sort}{after}");
            let page = server.get(&address).await.good();
            for hit in page["hits"].as_array().unwrap() {
                rank += 1;
                assert_eq!(hit["rank"], rank);
            }
            all.extend(keys(&page));
            assert_eq!(page["count"], whole["count"]);
            match page["after"].as_str() {
                Some(token) => after = format!("&after={token}"),
                None => break,
            }
        }
        assert_eq!(all, keys(&whole), "{sort}");
    }
}

#[tokio::test]
async fn facets_statistics_and_groups_are_those_of_the_library() {
    let (mut random, place) = (Rng::with_seed(seed()), tempfile::tempdir().unwrap());
    let path = records(place.path(), "cacm.scanns", 500, &mut random);
    let (server, snapshot) = (Server::of(&[&path]), Snapshot::open(&path).unwrap());
    for facet in [
        "author",
        "year:3",
        "year:all:by=value",
        "year:every:5",
        "when:year",
        "author:prefix:B",
        "year:ranges:..1965,1965..1970,1970..",
        "author:2:by=sum(weight) > year:2 > stats:weight:50",
    ] {
        let text = query(&mut random);
        let parsed = snapshot.parse(&text, Operator::Or).unwrap();
        let asked = FacetLevel::parse(facet, snapshot.schema()).unwrap();
        let stats = Aggregation::parse_stats("weight:25,50", snapshot.schema()).unwrap();
        let distinct = Aggregation::parse_distinct("author", snapshot.schema()).unwrap();
        let found = snapshot.searcher().aggregate(&parsed, &[asked.aggregation, stats, distinct]).unwrap();
        let asked_for = [("facet", facet), ("stats", "weight:25,50"), ("distinct", "author")];
        let mut body = json!({"q": text, "limit": 0});
        asked_for.iter().for_each(|(name, what)| body[name] = json!([what]));
        let answer = server.post("/api/v1/cacm/search", &body).await.good();
        let [Aggregated::Buckets(buckets), Aggregated::Stats(stats), Aggregated::Distinct(distinct)] =
            &found[..]
        else {
            panic!("three answers")
        };
        let mut buckets = buckets.clone();
        asked.level.arrange(&mut buckets);
        let shown = &answer["facets"][0];
        assert_eq!((&shown["facet"], &shown["partial"]), (&json!(facet), &json!(false)));
        assert_eq!(
            (&shown["other"], &shown["missing"]),
            (&json!(buckets.others), &json!(buckets.missing)),
            "{facet}"
        );
        assert_eq!(shown["buckets"].as_array().unwrap().len(), buckets.buckets.len(), "{facet} {text}");
        for (shown, bucket) in shown["buckets"].as_array().unwrap().iter().zip(&buckets.buckets) {
            assert_eq!(shown["count"], bucket.count);
            if let BucketKey::Value(scanns::schema::Value::Text(value)) = &bucket.key {
                assert_eq!(shown["value"].as_str().unwrap().as_bytes(), value);
            }
            if facet.contains("every") {
                assert_eq!(shown["to"].as_u64().unwrap(), shown["from"].as_u64().unwrap() + 5);
            }
            if facet.contains("sum") {
                assert!(
                    shown["sum"].is_number()
                        && shown["nested"]["buckets"][0]["nested"]["percentiles"].is_array()
                );
            }
        }
        assert_eq!(answer["stats"][0]["count"], stats.values);
        // JSON is read back with an error in the last digit.
        let means = [answer["stats"][0]["mean"].as_f64(), stats.mean].map(Option::unwrap_or_default);
        assert!((means[0] - means[1]).abs() < 1e-9, "{means:?}");
        assert_eq!(answer["distinct"][0]["count"], distinct.values);
    }
    let body =
        json!({"q": "*", "group": "author:2", "sort": "year:desc,score", "limit": 3, "group_missing": true});
    let groups = server.post("/api/v1/cacm/search", &body).await.good();
    assert_eq!(groups["groups"].as_array().unwrap().len(), 3);
    assert_eq!(groups["groups"][0]["hits"].as_array().unwrap().len(), 2);
    assert_eq!(groups["groups_total"], 5);
}

#[tokio::test]
async fn what_is_shown_of_hits_is_what_the_index_has() {
    let place = tempfile::tempdir().unwrap();
    let path = docs(place.path());
    let (server, snapshot) = (Server::of(&[&path]), Snapshot::open(&path).unwrap());
    let address =
        "/api/v1/docs/search?q=snapshot+commit&fields=size,name,mtime&snippets&explain&content&limit=5";
    let answer = server.get(address).await.good();
    assert_eq!(answer["hits"].as_array().unwrap().len(), 5);
    for hit in answer["hits"].as_array().unwrap() {
        let found = snapshot.hit(hit["key"].as_str().unwrap()).unwrap().unwrap();
        let text = snapshot.document(&found).unwrap().unwrap();
        assert_eq!(hit["content"].as_str().unwrap().as_bytes(), text);
        assert_eq!(hit["fields"]["size"][0], text.len() as u64);
        assert!(hit["fields"]["mtime"][0].as_str().unwrap().ends_with('Z'));
        assert_eq!(hit["explanation"]["value"], hit["score"]);
        let snippet = &hit["snippets"][0];
        let mark = snippet["marks"][0].as_array().unwrap();
        let [from, to] = [&mark[0], &mark[1]].map(|at| usize::try_from(at.as_u64().unwrap()).unwrap());
        let marked = snippet["text"].as_str().unwrap()[from..to].to_lowercase();
        assert!(marked.contains("snapshot") || marked.contains("commit"), "{marked}");
        let document =
            server.get(&format!("/api/v1/docs/documents/{}", encoded(hit["key"].as_str().unwrap()))).await;
        let document = document.good();
        assert_eq!(document["content"], hit["content"]);
        assert_eq!(document["fields"]["size"], hit["fields"]["size"]);
        let raw =
            server.get(&format!("/api/v1/docs/documents{}?raw=text", hit["key"].as_str().unwrap())).await;
        // The key begins with a slash, which follows the one of the address.
        let raw = match raw.status.as_u16() {
            404 => {
                server.get(&format!("/api/v1/docs/documents/{}?raw=text", hit["key"].as_str().unwrap())).await
            }
            _ => raw,
        };
        assert_eq!(
            (raw.headers["content-security-policy"].as_bytes(), &raw.body[..]),
            (&b"sandbox"[..], &text[..])
        );
    }
    let like =
        format!("/api/v1/docs/like?key={}&limit=3", encoded(answer["hits"][0]["key"].as_str().unwrap()));
    let like = server.get(&like).await.good();
    assert_eq!(like["hits"].as_array().unwrap().len(), 3);
    assert!(keys(&like).iter().all(|key| *key != answer["hits"][0]["key"]));
    let itself = snapshot.hit(answer["hits"][0]["key"].as_str().unwrap()).unwrap().unwrap();
    let expected = snapshot.more_like(&itself, BM25, 3, &scanns::search::MoreLikeThis::default()).unwrap();
    assert_eq!(keys(&like), expected.iter().map(|hit| key_of(&snapshot, hit)).collect::<Vec<_>>());
}

#[tokio::test]
async fn misspelt_words_get_suggestions_and_words_are_completed() {
    let (mut random, place) = (Rng::with_seed(seed()), tempfile::tempdir().unwrap());
    let path = records(place.path(), "cacm.scanns", 300, &mut random);
    let server = Server::of(&[&path]);
    let answer = server.get("/api/v1/cacm/search?q=%2Bsistem+%2BTime").await.good();
    let meant = &answer["did_you_mean"];
    assert_eq!(
        (&meant["text"], &meant["changed"]),
        (&json!("+system +Time"), &json!([["sistem", "system"]]))
    );
    assert!(meant["counts"][0][0] == 0 && meant["counts"][0][1].as_u64() > Some(0));
    // With other words that match, only what completes the query tells.
    let answer = server.get("/api/v1/cacm/search?q=sistem+time").await.good();
    assert!(answer["count"].as_u64() > Some(0) && answer["did_you_mean"].is_null());
    let answer = server.get("/api/v1/cacm/suggest?q=sistem+time").await.good();
    assert_eq!(answer["did_you_mean"]["text"], "system time");
    let suggest = server.get("/api/v1/cacm/suggest?q=+sys").await.good();
    assert_eq!((&suggest["from"], &suggest["to"]), (&json!(1), &json!(4)));
    assert_eq!(suggest["suggestions"][0]["text"], "system");
    let suggest = server.get("/api/v1/cacm/suggest?q=auth").await.good();
    assert_eq!(suggest["suggestions"][0], json!({"text": "author:", "kind": "field"}));
    let suggest = server.get("/api/v1/cacm/suggest?q=author:C+x&position=8").await.good();
    assert_eq!(suggest["suggestions"][0]["text"], "\"Cy D.\"");
    let terms = server.get("/api/v1/cacm/terms?field=body&prefix=s&limit=3&by=term").await.good();
    let snapshot = Snapshot::open(&path).unwrap();
    let body = snapshot.schema().field("body").unwrap();
    let expected: Vec<Json> = snapshot
        .searcher_in(body)
        .terms(b"s")
        .unwrap()
        .take(3)
        .map(Result::unwrap)
        .map(|term| json!({"term": String::from_utf8(term.term).unwrap(), "documents": term.doc_freq}))
        .collect();
    assert_eq!(terms["terms"].as_array().unwrap(), &expected);
    let years = server.get("/api/v1/cacm/terms?field=year&limit=2").await.good();
    assert!(years["terms"][0]["documents"].as_u64() >= years["terms"][1]["documents"].as_u64());
}

#[tokio::test]
async fn a_rare_word_may_be_misspelt_if_a_similar_one_is_far_more_frequent() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("a.scanns");
    let mut schema = Schema::new();
    let body = schema.add(FieldEntry::text("body")).unwrap();
    let writer = Index::create(&path, &schema).unwrap().writer().unwrap();
    for number in 0..420 {
        let rare = match number {
            0 => "lisense cod",
            1..4 => "lisenze nfsv4",
            4..9 => "lizense",
            _ => "",
        };
        writer
            .add(&Document::new(number.to_string()).text(body, format!("license code nfsv3 {rare}")))
            .unwrap();
    }
    writer.commit().unwrap();
    let server = Server::of(&[&path]);
    let meant =
        async |q: &str| server.get(&format!("/api/v1/a/suggest?q={q}")).await.good()["did_you_mean"].clone();
    assert_eq!(
        meant("lisense").await,
        json!({"text": "license", "changed": [["lisense", "license"]], "counts": [[1, 420]]})
    );
    assert_eq!(meant("lisenze+code").await["counts"], json!([[3, 420]]));
    for fine in ["lizense", "license", "cod", "nfsv4"] {
        assert!(meant(fine).await.is_null(), "{fine}");
    }
    assert!(server.get("/api/v1/a/search?q=lisense").await.good()["did_you_mean"].is_null());
}

#[tokio::test]
async fn several_indexes_are_searched_as_one() {
    let (mut random, place) = (Rng::with_seed(seed()), tempfile::tempdir().unwrap());
    let paths = ["a.scanns", "b.scanns"].map(|name| records(place.path(), name, 200, &mut random));
    let server = Server::of(&[&paths[0], &paths[1]]);
    let snapshot = Snapshot::open_all(&paths).unwrap();
    for address in
        ["/api/v1/_search?q=matrix+sorting&limit=20", "/api/v1/_search?index=a,b&q=matrix+sorting&limit=20"]
    {
        let answer = server.get(address).await.good();
        let query = snapshot.parse("matrix sorting", Operator::Or).unwrap();
        let expected = snapshot.searcher().top_k(&query, BM25, 20).unwrap();
        assert_eq!(scores(&answer), expected.iter().map(|hit| hit.score).collect::<Vec<_>>());
        assert_eq!(keys(&answer), expected.iter().map(|hit| key_of(&snapshot, hit)).collect::<Vec<_>>());
        let first = Snapshot::open(&paths[0]).unwrap().segments().len();
        for (shown, hit) in answer["hits"].as_array().unwrap().iter().zip(&expected) {
            assert_eq!(shown["index"], if hit.leaf < first { "a" } else { "b" });
        }
    }
    server.get("/api/v1/_search?index=a,a&q=x").await.problem(400);
    server.get("/api/v1/_search?index=a,c&q=x").await.problem(404);
}

#[tokio::test]
async fn feedback_expands_the_query_as_the_library_does() {
    let (mut random, place) = (Rng::with_seed(seed()), tempfile::tempdir().unwrap());
    let path = records(place.path(), "cacm.scanns", 300, &mut random);
    let (server, snapshot) = (Server::of(&[&path]), Snapshot::open(&path).unwrap());
    let field = snapshot.schema().default_field().unwrap();
    let (model, rm3) = (Model::default(), Rm3 { terms: 4, documents: 5, common: 0.1, ..Rm3::default() });
    let query = snapshot.parse("cipher hash", Operator::Or).unwrap();
    let expanded = snapshot.expand(&query, field, model, &rm3).unwrap();
    let expected = snapshot.searcher().top_k(&expanded, model, 20).unwrap();
    let expected: Vec<Json> =
        expected.iter().map(|hit| json!(String::from_utf8(snapshot.key(hit).unwrap()).unwrap())).collect();
    let asked = "/api/v1/cacm/search?q=cipher+hash&rm3&rm3_terms=4&rm3_documents=5";
    let found = server.get(&format!("{asked}&limit=20")).await.good();
    let keys: Vec<Json> = found["hits"].as_array().unwrap().iter().map(|hit| hit["key"].clone()).collect();
    assert_eq!(keys, expected);
    assert_eq!(found["count"], snapshot.searcher().count(&expanded).unwrap());
    // The next page is one of the same query.
    let first = server.get(&format!("{asked}&limit=7")).await.good();
    let token = first["after"].as_str().unwrap();
    let next = server.get(&format!("{asked}&limit=7&after={token}")).await.good();
    assert_eq!(next["hits"][0]["key"], expected[7]);
}

#[test]
fn a_query_like_a_document_ends_when_nobody_waits() {
    let (mut random, place) = (Rng::with_seed(seed()), tempfile::tempdir().unwrap());
    let snapshot = Snapshot::open(&records(place.path(), "cacm.scanns", 20, &mut random)).unwrap();
    let (hit, field) =
        (snapshot.hit("CACM-0003").unwrap().unwrap(), snapshot.schema().default_field().unwrap());
    let like = |stops| snapshot.like_until(&hit, field, &MoreLikeThis::default(), &move || stops);
    assert!(matches!(like(true), Err(scanns::Error::Cancelled)) && like(false).is_ok());
}

#[tokio::test]
async fn a_key_of_any_bytes_finds_its_document() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("odd.scanns");
    let mut schema = scanns::schema::Schema::new();
    let text = schema.add(scanns::schema::FieldEntry::text("text").stored()).unwrap();
    let writer = scanns::Index::create(&path, &schema).unwrap().writer().unwrap();
    let keys: [&[u8]; 7] =
        [b"/a/b", b"a%2Fb", b"//", b"..", b"a b+c?d&e=f#g", b"\xff\x00\n", "ä/ö".as_bytes()];
    for key in keys {
        writer.add(&scanns::schema::Document::new(key).text(text, "word")).unwrap();
    }
    writer.commit().unwrap();
    let server = Server::of(&[&path]);
    for key in keys {
        let by_path = server.get(&format!("/api/v1/odd/documents/{}", encoded(key))).await.good();
        let by_name = server.get(&format!("/api/v1/odd/documents?key={}", encoded(key))).await.good();
        assert_eq!(by_path, by_name);
        match std::str::from_utf8(key) {
            Ok(text) => assert_eq!(by_name["key"], text),
            Err(_) => assert_eq!(by_name["key_bytes"], "/wAK"),
        }
    }
}
