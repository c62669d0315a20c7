//! The description of the API has every route, and says nothing else than the router does.

use std::collections::BTreeSet;

use axum::body::Body;
use axum::http::{Method, Request, StatusCode};
use fastrand::Rng;
use serde_json::{Value as Json, json};

use crate::support::{Server, everything, records};

/// The addresses of the contract.
const PATHS: [&str; 15] = [
    "/api/v1",
    "/api/v1/_search",
    "/api/v1/{index}/_batch",
    "/api/v1/{index}/coverage",
    "/api/v1/{index}/documents",
    "/api/v1/{index}/documents/{key}",
    "/api/v1/{index}/export",
    "/api/v1/{index}/growth",
    "/api/v1/{index}/info",
    "/api/v1/{index}/like",
    "/api/v1/{index}/search",
    "/api/v1/{index}/suggest",
    "/api/v1/{index}/terms",
    "/api/v1/{index}/usage",
    "/openapi.json",
];

/// Calls `visit` with every value below one.
fn each(value: &Json, visit: &mut impl FnMut(&Json)) {
    visit(value);
    match value {
        Json::Array(all) => all.iter().for_each(|one| each(one, visit)),
        Json::Object(all) => all.values().for_each(|one| each(one, visit)),
        _ => {}
    }
}

#[tokio::test]
async fn every_route_is_described_and_every_description_has_a_route() {
    let place = tempfile::tempdir().unwrap();
    let path = records(place.path(), "cacm.scanns", 20, &mut Rng::with_seed(1));
    let server = Server::of(&[&path]);
    let description = server.get("/openapi.json").await.good();
    assert_eq!(description["openapi"], "3.1.1");
    let paths = description["paths"].as_object().unwrap();
    let described: BTreeSet<&str> = paths.keys().map(String::as_str).collect();
    assert_eq!(described, BTreeSet::from(PATHS));
    let mut references = BTreeSet::new();
    each(&description, &mut |value| {
        references.extend(value.get("$ref").and_then(Json::as_str).map(str::to_owned));
    });
    assert!(references.len() > 10);
    for reference in references {
        assert!(description.pointer(reference.strip_prefix('#').unwrap()).is_some(), "{reference}");
    }
    let mut names = BTreeSet::new();
    for (path, operations) in paths {
        let address = path.replace("{index}", "cacm").replace("{key}", "CACM-0001");
        for method in [Method::GET, Method::POST, Method::PUT, Method::DELETE, Method::PATCH] {
            let request = Request::builder().method(&method).uri(&address).body(Body::empty()).unwrap();
            let status = server.send(Some(&everything()), request).await.status;
            let operation = &operations[method.as_str().to_lowercase()];
            assert_eq!(
                operation.is_object(),
                status != StatusCode::METHOD_NOT_ALLOWED,
                "{method} {path}: {status}"
            );
            if operation.is_object() {
                assert!(names.insert(operation["operationId"].as_str().unwrap()));
                assert!(operation["responses"]["200"].is_object());
                let known = operation["responses"].get(status.as_str()).is_some();
                assert!(known, "{method} {path}: {status} is not described");
            }
        }
    }
}

/// Tells whether an answer is as a schema says, as far as the description uses schemas.
fn fits(value: &Json, schema: &Json, root: &Json) -> bool {
    let Some(schema) = schema.as_object() else { return schema != &json!(false) };
    if let Some(reference) = schema.get("$ref").and_then(Json::as_str) {
        return fits(value, root.pointer(reference.strip_prefix('#').unwrap()).unwrap(), root);
    }
    let is = |name: &str| match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "integer" => value.is_u64() || value.is_i64(),
        _ => value.is_number(),
    };
    let has_type = match schema.get("type") {
        Some(Json::String(name)) => is(name),
        Some(Json::Array(names)) => names.iter().any(|name| is(name.as_str().unwrap())),
        _ => true,
    };
    let any = |name: &str| {
        schema
            .get(name)
            .and_then(Json::as_array)
            .is_none_or(|all| all.iter().any(|one| fits(value, one, root)))
    };
    let members = match (value.as_object(), schema.get("properties").and_then(Json::as_object)) {
        (Some(object), Some(known)) => {
            let required = schema.get("required").and_then(Json::as_array).into_iter().flatten();
            let mut required = required.map(|name| object.contains_key(name.as_str().unwrap()));
            required.all(|has| has)
                && known.iter().all(|(name, one)| object.get(name).is_none_or(|value| fits(value, one, root)))
        }
        _ => true,
    };
    let items = match (value.as_array(), schema.get("items")) {
        (Some(all), Some(one)) => all.iter().all(|value| fits(value, one, root)),
        _ => true,
    };
    has_type && any("anyOf") && any("oneOf") && members && items
}

#[tokio::test]
async fn answers_are_as_they_are_described() {
    let place = tempfile::tempdir().unwrap();
    let path = records(place.path(), "cacm.scanns", 100, &mut Rng::with_seed(2));
    let server = Server::of(&[&path]);
    let root = server.get("/openapi.json").await.good();
    for (path, query) in [
        ("/api/v1", ""),
        ("/api/v1/{index}/info", ""),
        (
            "/api/v1/{index}/search",
            "?q=system&fields=year,author&snippets&explain&content&facet=year+%3E+stats:weight&stats=when:50\
             &distinct=author",
        ),
        ("/api/v1/{index}/search", "?q=%2Bsistem"),
        ("/api/v1/{index}/search", "?group=author:2"),
        ("/api/v1/_search", "?q=system&sort=year"),
        ("/api/v1/{index}/terms", "?field=author"),
        ("/api/v1/{index}/suggest", "?q=sys"),
        ("/api/v1/{index}/documents/{key}", ""),
        ("/api/v1/{index}/documents", "?key=CACM-0001"),
        ("/api/v1/{index}/like", "?key=CACM-0003"),
        ("/api/v1/{index}/coverage", ""),
    ] {
        let address = path.replace("{index}", "cacm").replace("{key}", "CACM-0001");
        let answer = server.get(&format!("{address}{query}")).await.good();
        let schema = &root["paths"][path]["get"]["responses"]["200"]["content"]["application/json"]["schema"];
        assert!(schema.is_object() && fits(&answer, schema, &root), "{address}{query}: {answer}");
        assert!(!fits(&json!({"x": 1}), schema, &root), "the check of {path} finds what does not fit");
    }
    let problem = server.get("/api/v1/cacm/search?q=(").await.problem(400);
    assert!(fits(&problem, &root["components"]["schemas"]["Problem"], &root));
}
