//! The description of the API in OpenAPI 3.1, made of the routes, their parameters, and the types of answers.

use std::sync::LazyLock;

use axum::body::Bytes;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderValue, Method};
use axum::response::{IntoResponse, Response};
use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use super::parameter::{Parameter, ParameterKind};
use super::routes::{ApiRoute, COMMON, ROUTES, RouteAnswer};

/// The address of the description.
pub(super) const PATH: &str = "/openapi.json";

static DESCRIPTION: LazyLock<Bytes> = LazyLock::new(|| {
    // Texts and numbers can always be written.
    Bytes::from(serde_json::to_vec(&description()).unwrap_or_default())
});

/// Sends the description.
pub(super) async fn openapi() -> Response {
    let mut response: Response = DESCRIPTION.clone().into_response();
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("public, max-age=300"));
    response
}

/// The description as JSON.
pub(super) fn description() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.definitions_path = "/components/schemas".into();
        settings.meta_schema = None;
    });
    let mut generator = settings.for_serialize().into_generator();
    let mut paths = Map::new();
    for route in ROUTES {
        let path = route.path.replace("{*", "{");
        let mut operations = Map::new();
        for method in route.methods {
            operations.insert(method.as_str().to_lowercase(), operation(route, method, &mut generator));
        }
        paths.insert(path, operations.into());
    }
    paths.insert(
        PATH.into(),
        json!({"get": {
            "summary": "Describes the API.",
            "operationId": "get_openapi_json",
            "responses": {"200": {
                "description": "This description.",
                "content": {"application/json": {"schema": {"type": "object"}}},
            }},
        }}),
    );
    let mut schemas = generator.take_definitions(true);
    schemas.insert("Problem".into(), problem_schema());
    json!({
        "openapi": "3.1.1",
        "info": {
            "title": "scanns",
            "version": env!("CARGO_PKG_VERSION"),
            "license": {"name": "Apache-2.0 OR MIT"},
            "description": "Searches indexes. Errors are problem details as in RFC 9457.",
        },
        "servers": [{"url": "./"}],
        "paths": paths,
        "components": {"schemas": schemas},
    })
}

fn operation(route: &ApiRoute, method: &Method, generator: &mut SchemaGenerator) -> Value {
    let all: Vec<&Parameter> = route.parameters.iter().copied().flatten().collect();
    let mut parameters: Vec<Value> = path_parameters(route.path);
    let mut operation = Map::new();
    operation.insert("summary".into(), route.about.into());
    operation.insert("operationId".into(), operation_id(route, method).into());
    if *method == Method::GET {
        parameters.extend(all.iter().map(|parameter| query_parameter(parameter)));
    } else {
        let members: Map<String, Value> =
            all.iter().map(|parameter| (parameter.name.to_owned(), described(parameter, false))).collect();
        let schema = json!({"type": "object", "additionalProperties": false, "properties": members});
        let media = if matches!(route.answer, RouteAnswer::Lines(_)) {
            "application/x-ndjson"
        } else {
            "application/json"
        };
        let body = json!({"required": true, "content": {media: {"schema": schema}}});
        operation.insert("requestBody".into(), body);
    }
    operation.insert("parameters".into(), parameters.into());
    operation.insert("responses".into(), responses(route, method, generator).into());
    operation.into()
}

fn operation_id(route: &ApiRoute, method: &Method) -> String {
    let words = route.path.split(['/', '{', '}', '*', '_', '.']).filter(|word| !word.is_empty());
    let words: Vec<&str> = words.collect();
    format!("{}_{}", method.as_str().to_lowercase(), words.join("_"))
}

fn path_parameters(path: &str) -> Vec<Value> {
    let names = path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
    names
        .map(|name| {
            let name = name.trim_start_matches('*');
            let about = if name == "index" { "The name of an index." } else { "The key of a document." };
            json!({"name": name, "in": "path", "required": true, "description": about,
                "schema": {"type": "string", "minLength": 1}})
        })
        .collect()
}

fn query_parameter(parameter: &Parameter) -> Value {
    let mut object = json!({"name": parameter.name, "in": "query", "description": parameter.about});
    let schema = schema_of(parameter.kind, true);
    if parameter.kind == ParameterKind::Object {
        object["content"] = json!({"application/json": {"schema": {"type": "object"}}});
    } else {
        object["schema"] = schema;
    }
    if parameter.is_required {
        object["required"] = true.into();
    }
    match parameter.kind {
        ParameterKind::List => {
            object["style"] = "form".into();
            object["explode"] = false.into();
        }
        ParameterKind::Texts => object["explode"] = true.into(),
        _ => {}
    }
    object
}

fn described(parameter: &Parameter, in_address: bool) -> Value {
    let mut schema = schema_of(parameter.kind, in_address);
    schema["description"] = parameter.about.into();
    schema
}

fn schema_of(kind: ParameterKind, in_address: bool) -> Value {
    match kind {
        ParameterKind::Text => json!({"type": "string"}),
        ParameterKind::Bytes if in_address => json!({"type": "string"}),
        ParameterKind::Bytes => json!({"anyOf": [
            {"type": "string"},
            {"type": "object", "required": ["base64"], "additionalProperties": false,
                "properties": {"base64": {"type": "string", "contentEncoding": "base64"}}},
        ]}),
        ParameterKind::Number(least, u64::MAX) => json!({"type": "integer", "minimum": least}),
        ParameterKind::Number(least, most) => {
            json!({"type": "integer", "minimum": least, "maximum": most})
        }
        ParameterKind::Decimal => json!({"type": "number"}),
        ParameterKind::Flag => json!({"type": "boolean"}),
        ParameterKind::List | ParameterKind::Texts => json!({"type": "array", "items": {"type": "string"}}),
        ParameterKind::Object => json!({"type": "object"}),
        ParameterKind::Time => {
            json!({"type": "string", "pattern": "^[0-9]+(\\.[0-9]+)? ?(us|ms|s|sec|m|min|h)$"})
        }
        ParameterKind::Word(words) => json!({"type": "string", "enum": words}),
    }
}

fn responses(route: &ApiRoute, method: &Method, generator: &mut SchemaGenerator) -> Map<String, Value> {
    let mut responses = Map::new();
    let content = match route.answer {
        RouteAnswer::Json(schema) => json!({"application/json": {"schema": schema(generator)}}),
        RouteAnswer::JsonOrText(schema) => json!({
            "application/json": {"schema": schema(generator)},
            "text/plain": {"schema": {"type": "string"}},
        }),
        RouteAnswer::Lines(schema) => json!({"application/x-ndjson": {"schema": schema(generator)}}),
        RouteAnswer::File => json!({
            "text/csv": {"schema": {"type": "string"}},
            "application/x-ndjson": {"schema": {"type": "string"}},
            "application/vnd.apache.arrow.file": {},
            "application/vnd.apache.parquet": {},
        }),
    };
    responses.insert("200".into(), json!({"description": "The answer.", "content": content}));
    let is_kept = !matches!(route.answer, RouteAnswer::File);
    if *method == Method::GET && is_kept {
        responses
            .insert("304".into(), json!({"description": "The answer is the one of the tag that was sent."}));
    }
    for status in COMMON.iter().chain(route.problems) {
        let about = meaning(*status);
        let schema = json!({"$ref": "#/components/schemas/Problem"});
        let problem =
            json!({"description": about, "content": {"application/problem+json": {"schema": schema}}});
        responses.insert(status.to_string(), problem);
    }
    responses
}

/// What a status means.
pub(super) fn meaning(status: u16) -> &'static str {
    match status {
        400 => "The request has an error.",
        401 => "Who asks is not known.",
        403 => "The caller may not use the index.",
        404 => "There is no such index or document, or none that the caller may see.",
        405 => "The address has another method.",
        413 => "The body is too large.",
        415 => "The body has another media type.",
        416 => "More is asked for than an answer may have.",
        422 => "The index cannot answer this, or it cannot be told of what the caller sees.",
        503 => "The server is busy: try again after the time of the header Retry-After.",
        _ => "The server failed.",
    }
}

fn problem_schema() -> Value {
    json!({
        "description": "An error, as in RFC 9457.",
        "type": "object",
        "required": ["type", "title", "status", "detail"],
        "properties": {
            "type": {"type": "string", "format": "uri-reference", "description": "The kind of error."},
            "title": {"type": "string", "description": "The kind in words."},
            "status": {"type": "integer"},
            "detail": {"type": "string", "description": "What is wrong, and what to do."},
            "parameter": {"type": "string", "description": "The parameter that has the error."},
            "position": {
                "description": "The place of the error in the text of the parameter, in bytes.",
                "type": "object",
                "required": ["offset", "length"],
                "properties": {"offset": {"type": "integer"}, "length": {"type": "integer"}},
            },
            "request_id": {"type": "string"},
        },
    })
}
