//! The guide to the API, docs/API.md: the description in OpenAPI as text for people, with examples.
//!
//! A test compares the file with what is made here, and runs the examples, so that neither becomes false.

use std::fmt::Write;

use serde_json::{Map, Value};

use super::openapi::{self, description};
use super::routes::{ApiRoute, COMMON, ROUTES, RouteAnswer, RouteExample};

/// What the guide begins with.
const HEAD: &str = include_str!("guide_head.txt");

/// The route whose parameters others share.
const SEARCH: &str = "/api/v1/{index}/search";

/// The guide to the API, in Markdown.
pub fn api_guide() -> String {
    let description = description();
    let mut guide = HEAD.trim_end().to_owned();
    guide.push_str("\n\n| status | meaning |\n|---|---|\n");
    let mut statuses: Vec<u16> = COMMON.to_vec();
    statuses.extend(ROUTES.iter().flat_map(|route| route.problems));
    statuses.sort_unstable();
    statuses.dedup();
    for status in statuses {
        line(&mut guide, &format!("| {status} | {} |", openapi::meaning(status)));
    }
    guide.push_str("\n## All requests\n\n| request | what it does |\n|---|---|\n");
    for route in ROUTES {
        let title = title(route);
        line(&mut guide, &format!("| [{title}](#{}) | {} |", anchor(&title), cell(route.about)));
    }
    line(&mut guide, "| [GET `/openapi.json`](#get-openapijson) | Describes the API. |");
    for route in ROUTES {
        section(&mut guide, route, &description);
    }
    guide.push_str("\n## GET `/openapi.json`\n\nDescribes the API in OpenAPI 3.1.\n");
    example(&mut guide, &RouteExample { address: openapi::PATH, body: None }, "application/json");
    objects(&mut guide, &description);
    guide
}

/// Adds a line. Writing to a string does not fail.
fn line(guide: &mut String, text: &str) {
    let _ = writeln!(guide, "{text}");
}

/// A text in a cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

fn path(route: &ApiRoute) -> String {
    route.path.replace("{*", "{")
}

fn title(route: &ApiRoute) -> String {
    let methods: Vec<&str> = route.methods.iter().map(axum::http::Method::as_str).collect();
    // A heading that ends with braces would have attributes for mdBook.
    format!("{} `{}`", methods.join(", "), path(route))
}

/// The anchor of a heading.
fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|letter| letter.is_alphanumeric() || " -_".contains(*letter));
    kept.flat_map(char::to_lowercase).map(|letter| if letter == ' ' { '-' } else { letter }).collect()
}

fn section(guide: &mut String, route: &ApiRoute, description: &Value) {
    let _ = write!(guide, "\n## {}\n\n{}\n", title(route), route.about);
    parameters(guide, route, description);
    let operations = &description["paths"][path(route)];
    let operation = route.methods.first().map(|method| &operations[method.as_str().to_lowercase()]);
    let Some(responses) = operation.and_then(|operation| operation["responses"].as_object()) else { return };
    let content = responses.get("200").and_then(|good| good["content"].as_object());
    let schema =
        content.and_then(|content| content.values().next()).map_or(&Value::Null, |one| &one["schema"]);
    let answer = match route.answer {
        RouteAnswer::Json(_) | RouteAnswer::JsonOrText(_) => kind(schema),
        RouteAnswer::Lines(_) => format!(
            "lines, each of them {}, or an object with `error`, which is a {}",
            kind(schema),
            reference("Problem")
        ),
        RouteAnswer::File => {
            let types: Vec<String> =
                content.into_iter().flatten().map(|(name, _)| format!("`{name}`")).collect();
            format!("a file of type {}", types.join(", "))
        }
    };
    let _ = write!(guide, "\nAnswer: {answer}.\n");
    let mut statuses: Vec<&str> =
        responses.keys().map(String::as_str).filter(|status| *status != "200").collect();
    statuses.sort_unstable();
    line(guide, &format!("Other statuses: {}.", statuses.join(", ")));
    let media = match route.answer {
        RouteAnswer::Lines(_) => "application/x-ndjson",
        _ => "application/json",
    };
    for one in route.examples {
        example(guide, one, media);
    }
}

/// The parameters of a route as a table; those that it shares with a search are named only.
fn parameters(guide: &mut String, route: &ApiRoute, description: &Value) {
    let shared = ROUTES.iter().find(|other| other.path == SEARCH && other.path != route.path);
    let is_of_search = |name: &str| {
        shared.is_some_and(|shared| shared.parameters.iter().copied().flatten().any(|one| one.name == name))
    };
    let all: Vec<_> = route.parameters.iter().copied().flatten().collect();
    let common = all.iter().filter(|one| is_of_search(one.name)).count();
    let own: Vec<_> = all.iter().filter(|one| common < 20 || !is_of_search(one.name)).collect();
    if common >= 20 {
        let known: Vec<String> = shared
            .iter()
            .flat_map(|shared| shared.parameters.iter().copied().flatten())
            .filter(|one| !all.iter().any(|other| other.name == one.name))
            .map(|one| format!("`{}`", one.name))
            .collect();
        let but = if known.is_empty() { String::new() } else { format!(" but {}", known.join(", ")) };
        let of_search = shared.map(title).unwrap_or_default();
        let _ = write!(guide, "\nIt has all parameters of [{of_search}](#{}){but}", anchor(&of_search));
        guide.push_str(if own.is_empty() { ".\n" } else { ", and:\n" });
    }
    if own.is_empty() {
        return;
    }
    guide.push_str("\n| parameter | values | meaning |\n|---|---|---|\n");
    for one in own {
        let schema = schema_of_parameter(description, route, one.name);
        let must = if one.is_required { " Required." } else { "" };
        let (values, about) = (cell(&values(&schema)), cell(one.about));
        line(guide, &format!("| `{}` | {values} | {about}{must} |", one.name));
    }
}

/// The schema of a parameter, as the description has it.
fn schema_of_parameter(description: &Value, route: &ApiRoute, name: &str) -> Value {
    let operations = &description["paths"][path(route)];
    if let Some(parameters) = operations["get"]["parameters"].as_array() {
        let found = parameters.iter().find(|one| one["name"] == name);
        return found.map_or(Value::Null, |one| match &one["schema"] {
            Value::Null => one["content"]["application/json"]["schema"].clone(),
            schema => schema.clone(),
        });
    }
    let content = operations["post"]["requestBody"]["content"].as_object();
    let schema = content.and_then(|content| content.values().next()).map(|one| &one["schema"]);
    schema.map_or(Value::Null, |schema| schema["properties"][name].clone())
}

/// The values of a parameter in words.
fn values(schema: &Value) -> String {
    if let Some(words) = schema["enum"].as_array() {
        let words: Vec<String> =
            words.iter().filter_map(Value::as_str).map(|word| format!("`{word}`")).collect();
        return words.join(", ");
    }
    match schema["type"].as_str() {
        Some("integer") => {
            let least = &schema["minimum"];
            match &schema["maximum"] {
                Value::Null => format!("whole number from {least} on"),
                most => format!("whole number from {least} to {most}"),
            }
        }
        Some("number") => "number".into(),
        Some("boolean") => "true or false".into(),
        Some("array") => "list of texts".into(),
        Some("object") => "JSON object".into(),
        _ if schema.get("pattern").is_some() => "time, such as `50ms` or `2s`".into(),
        _ => "text".into(),
    }
}

/// A link to an object.
fn reference(name: &str) -> String {
    format!("[{name}](#{})", anchor(name))
}

/// What a value is, in words.
fn kind(schema: &Value) -> String {
    if let Some(name) = schema["$ref"].as_str().and_then(|name| name.rsplit('/').next()) {
        return reference(name);
    }
    for several in ["anyOf", "oneOf"] {
        if let Some(all) = schema[several].as_array() {
            return all.iter().map(kind).collect::<Vec<_>>().join(" or ");
        }
    }
    let one = |name: &str| match name {
        "string" => "text".into(),
        "integer" => "whole number".into(),
        "number" => "number".into(),
        "boolean" => "true or false".into(),
        "null" => "null".into(),
        "array" => match (&schema["items"], schema["prefixItems"].as_array()) {
            (_, Some(all)) => format!("pair of {}", all.iter().map(kind).collect::<Vec<_>>().join(" and ")),
            (Value::Null, None) => "list".into(),
            (items, None) => format!("list of {}", kind(items)),
        },
        _ => match &schema["additionalProperties"] {
            Value::Object(values) => format!("object whose values are {}", kind(&values.clone().into())),
            _ => "object".into(),
        },
    };
    match &schema["type"] {
        Value::String(name) => one(name),
        Value::Array(names) => {
            names.iter().filter_map(Value::as_str).map(one).collect::<Vec<_>>().join(" or ")
        }
        _ => "any value".into(),
    }
}

fn example(guide: &mut String, example: &RouteExample, media: &str) {
    let RouteExample { address, body } = example;
    guide.push_str("\n```sh\ncurl --unix-socket \"$SOCKET\" ");
    if let Some(body) = body {
        let _ = write!(guide, "-H 'Content-Type: {media}' \\\n    --data-binary '{body}' \\\n    ");
    }
    let _ = write!(guide, "'http://localhost{address}'\n```\n");
}

/// The objects of answers, by name.
fn objects(guide: &mut String, description: &Value) {
    guide.push_str("\n## Objects\n\nA member that is marked with * may be missing.\n");
    let Some(all) = description["components"]["schemas"].as_object() else { return };
    let mut names: Vec<&String> = all.keys().collect();
    names.sort();
    for name in names {
        let Some(schema) = all.get(name) else { continue };
        let _ = write!(guide, "\n### {name}\n\n");
        if let Some(about) = schema["description"].as_str() {
            line(guide, &cell(about));
        }
        let mut members: Vec<(String, bool, &Value)> = Vec::new();
        collect(schema, all, &mut members);
        if members.is_empty() {
            let _ = write!(guide, "\nIt is {}.\n", kind(schema));
            continue;
        }
        guide.push_str("\n| member | values | meaning |\n|---|---|---|\n");
        for (name, required, schema) in members {
            let (star, about) = (if required { "" } else { " *" }, schema["description"].as_str());
            let about = cell(about.unwrap_or_default());
            line(guide, &format!("| `{name}`{star} | {} | {about} |", cell(&kind(schema))));
        }
    }
}

/// The members of an object, with those of the objects that are flattened into it.
fn collect<'s>(schema: &'s Value, all: &'s Map<String, Value>, members: &mut Vec<(String, bool, &'s Value)>) {
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    for (name, one) in schema["properties"].as_object().into_iter().flatten() {
        members.push((name.clone(), required.contains(&name.as_str()), one));
    }
    for part in schema["allOf"].as_array().into_iter().flatten() {
        let name = part["$ref"].as_str().and_then(|name| name.rsplit('/').next());
        collect(name.and_then(|name| all.get(name)).unwrap_or(part), all, members);
    }
    let flattened = schema.get("properties").and(schema["$ref"].as_str());
    if let Some(part) = flattened.and_then(|name| all.get(name.rsplit('/').next()?)) {
        collect(part, all, members);
    }
}
