//! A route and its description in one object, so that the OpenAPI document says what is served.
//! Types are described by the structs that are read and written.

use std::sync::Arc;

use axum::{
    Router,
    extract::DefaultBodyLimit,
    handler::Handler,
    middleware,
    routing::{MethodFilter, MethodRouter, on},
};
use callgate_service::{Capability, Operation, operations::MAX_FILE_BYTES};
use schemars::{JsonSchema, SchemaGenerator, generate::SchemaSettings};
use serde_json::{Map, Value as Json, json};

use super::{
    Api,
    access::{Guard, enter},
    operation::{RequestShape, perform, without},
    problem::Problem,
};

/// Bytes of a body.
const JSON: usize = 1 << 20;
/// Bytes of one that is a file.
const FILE: usize = MAX_FILE_BYTES as usize;

/// All routes, in the order in which the document lists them.
pub(super) struct Routes {
    schemas: SchemaGenerator,
    routes: Vec<Route>,
}

struct Route {
    verb: Verb,
    path: &'static str,
    summary: &'static str,
    /// The name of the operation that it performs.
    operation: Option<&'static str>,
    needs: Capability,
    may_end_its_key: bool,
    query: Option<Json>,
    /// Name and meaning of the one that is read.
    header: Option<(&'static str, &'static str)>,
    body: Option<Json>,
    /// The body's media type.
    body_media: &'static str,
    /// Bytes of a body, which is read only after whoever sends it was let in.
    most: usize,
    answer: Option<Json>,
    /// The answer's media type.
    media: &'static str,
    serves: MethodRouter<Api>,
}

#[derive(Clone, Copy)]
pub(super) enum Verb {
    Get,
    Post,
    Put,
    Patch,
    Delete,
}

impl Verb {
    fn filter(self) -> MethodFilter {
        match self {
            Verb::Get => MethodFilter::GET,
            Verb::Post => MethodFilter::POST,
            Verb::Put => MethodFilter::PUT,
            Verb::Patch => MethodFilter::PATCH,
            Verb::Delete => MethodFilter::DELETE,
        }
    }

    fn sends_nothing(self) -> bool {
        matches!(self, Verb::Get | Verb::Delete)
    }

    fn word(self) -> &'static str {
        match self {
            Verb::Get => "get",
            Verb::Post => "post",
            Verb::Put => "put",
            Verb::Patch => "patch",
            Verb::Delete => "delete",
        }
    }
}

impl Routes {
    pub(super) fn new() -> Self {
        let settings = SchemaSettings::draft2020_12().with(|settings| {
            settings.definitions_path = "/components/schemas".into();
            settings.meta_schema = None;
        });
        let mut schemas = SchemaGenerator::new(settings);
        // Every route may answer with it.
        schemas.subschema_for::<Problem>();
        Routes {
            schemas,
            routes: Vec::new(),
        }
    }

    /// A route for the operator; what follows describes it further.
    pub(super) fn add<H, T>(
        &mut self,
        verb: Verb,
        path: &'static str,
        summary: &'static str,
        handler: H,
    ) -> Describe<'_>
    where
        H: Handler<T, Api>,
        T: 'static,
    {
        self.routes.push(Route {
            verb,
            path,
            summary,
            operation: None,
            needs: Capability::Operator,
            may_end_its_key: false,
            query: None,
            header: None,
            body: None,
            body_media: "application/json",
            most: JSON,
            answer: None,
            media: "application/json",
            serves: on(verb.filter(), handler),
        });
        Describe(self)
    }

    /// A route that is an operation of the service: what its path does not name comes in the query or,
    /// where something is sent, in the body.
    pub(super) fn operation<O: Operation>(
        &mut self,
        verb: Verb,
        path: &'static str,
        summary: &'static str,
    ) -> Describe<'_> {
        let schema = self.schemas.root_schema_for::<O>().to_value();
        let shape = Arc::new(RequestShape::new(&schema, path));
        let rest = shape.without_path(&schema);
        let properties = rest["properties"].as_object();
        // One that wraps another type refers to it.
        let has_more = properties.is_some_and(|it| !it.is_empty()) || !rest["$ref"].is_null();
        let handler = move |state, access, path, query, headers, body| {
            perform::<O>(shape.clone(), state, access, path, query, headers, body)
        };
        let answer = self.schemas.subschema_for::<O::Response>().to_value();
        self.routes.push(Route {
            verb,
            path,
            summary,
            operation: Some(O::NAME),
            needs: O::CAPABILITY,
            may_end_its_key: false,
            query: (has_more && verb.sends_nothing()).then(|| rest.clone()),
            header: None,
            body: (has_more && !verb.sends_nothing()).then_some(rest),
            body_media: "application/json",
            most: JSON,
            answer: Some(answer),
            media: "application/json",
            serves: on(verb.filter(), handler),
        });
        Describe(self)
    }

    /// As `METHOD path`, what each needs.
    pub(super) fn needs(&self) -> Vec<(String, Capability)> {
        let named = |route: &Route| {
            let verb = route.verb.word().to_uppercase();
            (format!("{verb} {}", route.path), route.needs)
        };
        self.routes.iter().map(named).collect()
    }

    /// The routes with their guards, and the document.
    pub(super) fn into_parts(mut self, api: &Api) -> (Router<Api>, Json) {
        let mut router = Router::new();
        let mut paths = Map::new();
        for route in self.routes {
            let operation = operation(&route);
            // OpenAPI has no word for a parameter that takes the rest of a path.
            let path = route.path.replace("{*", "{");
            let path = paths.entry(path).or_insert_with(|| json!({}));
            path[route.verb.word()] = operation;
            let guard = Guard {
                api: api.clone(),
                needs: route.needs,
                may_end_its_key: route.may_end_its_key,
            };
            let serves = route
                .serves
                .layer(DefaultBodyLimit::max(route.most))
                .layer(middleware::from_fn_with_state(guard, enter));
            router = router.route(route.path, serves);
        }
        let document = json!({
            "openapi": "3.1.0",
            "info": {
                "title": "Callgate",
                "version": env!("CARGO_PKG_VERSION"),
                "description": "Write a function once; let AI call it safely. Failures are \
                                application/problem+json with a hint.",
            },
            "security": [{ "key": [] }],
            "paths": paths,
            "components": {
                "securitySchemes": { "key": { "type": "http", "scheme": "bearer" } },
                "schemas": self.schemas.take_definitions(true),
            },
        });
        (router, document)
    }
}

/// The route added last; what it does not say is as usual.
pub(super) struct Describe<'a>(&'a mut Routes);

impl Describe<'_> {
    pub(super) fn query<T: JsonSchema>(self) -> Self {
        let schema = self.0.schemas.root_schema_for::<T>().to_value();
        self.change(|route| route.query = Some(schema))
    }

    pub(super) fn header(self, name: &'static str, meaning: &'static str) -> Self {
        self.change(|route| route.header = Some((name, meaning)))
    }

    pub(super) fn takes<T: JsonSchema>(self) -> Self {
        let schema = self.0.schemas.subschema_for::<T>().to_value();
        self.change(|route| route.body = Some(schema))
    }

    /// An operation of which these fields come in other ways.
    pub(super) fn takes_operation<O: Operation>(self, elsewhere: &[&str]) -> Self {
        let schema = self.0.schemas.root_schema_for::<O>().to_value();
        let rest = without(&schema, |name| elsewhere.contains(&name));
        self.performs::<O>().change(|route| route.body = Some(rest))
    }

    /// The handler only makes a request of the operation from what is no JSON.
    pub(super) fn performs<O: Operation>(self) -> Self {
        self.change(|route| {
            route.operation = Some(O::NAME);
            route.needs = O::CAPABILITY;
        })
    }

    /// The body is no JSON.
    pub(super) fn takes_bytes(self, media: &'static str) -> Self {
        self.change(|route| {
            route.body = Some(json!({ "type": "string", "format": "binary" }));
            route.body_media = media;
            route.most = FILE;
        })
    }

    pub(super) fn gives<T: JsonSchema>(self) -> Self {
        let schema = self.0.schemas.subschema_for::<T>().to_value();
        self.change(|route| route.answer = Some(schema))
    }

    /// The answer is no JSON.
    pub(super) fn media(self, media: &'static str) -> Self {
        self.change(|route| route.media = media)
    }

    /// More than JSON usually is.
    pub(super) fn most(self, bytes: usize) -> Self {
        self.change(|route| route.most = bytes)
    }

    /// For others than the operator too.
    pub(super) fn needs(self, needs: Capability) -> Self {
        self.change(|route| route.needs = needs)
    }

    /// It may revoke the key that it is asked with, and answers all the same.
    pub(super) fn may_end_its_key(self) -> Self {
        self.change(|route| route.may_end_its_key = true)
    }

    fn change(self, change: impl FnOnce(&mut Route)) -> Self {
        if let Some(route) = self.0.routes.last_mut() {
            change(route);
        }
        self
    }
}

fn operation(route: &Route) -> Json {
    let mut parameters: Vec<Json> = path_parameters(route.path).collect();
    if let Some(query) = &route.query {
        parameters.extend(query_parameters(query));
    }
    if let Some((name, meaning)) = route.header {
        let schema = json!({ "type": "string" });
        parameters.push(
            json!({ "name": name, "in": "header", "description": meaning, "schema": schema }),
        );
    }
    let mut answer = json!({ "description": "done" });
    if route.answer.is_some() || route.media != "application/json" {
        let schema = route.answer.clone().unwrap_or_else(|| json!({}));
        answer["content"] = json!({ route.media: { "schema": schema } });
    }
    let mut operation = json!({
        "summary": route.summary,
        "operationId": operation_id(route),
        "tags": [route.path.split('/').nth(2).unwrap_or_default()],
        "description": format!("Scope: {}.", route.needs.scope()),
        "parameters": parameters,
        "responses": {
            "200": answer,
            "default": {
                "description": "a failure",
                "content": { "application/problem+json": {
                    "schema": { "$ref": "#/components/schemas/Problem" }
                } },
            },
        },
    });
    if let Some(name) = route.operation {
        operation["x-operation"] = name.into();
    }
    if let Some(body) = &route.body {
        operation["requestBody"] = json!({
            "required": true,
            "content": { route.body_media: { "schema": body } },
        });
    }
    operation
}

/// `get /api/sessions/{session}/log` is `get_sessions_session_log`.
fn operation_id(route: &Route) -> String {
    let words = route.path.split('/').skip(2);
    let words = words.map(|word| word.trim_matches(['{', '}', '*']).replace('.', "_"));
    let words: Vec<String> = std::iter::once(route.verb.word().to_owned())
        .chain(words)
        .collect();
    words.join("_")
}

fn path_parameters(path: &str) -> impl Iterator<Item = Json> + '_ {
    let name = |segment: &str| {
        let name = segment.strip_prefix('{')?.strip_suffix('}')?;
        Some(name.trim_start_matches('*').to_owned())
    };
    path.split('/').filter_map(name).map(|name| {
        json!({ "name": name, "in": "path", "required": true, "schema": { "type": "string" } })
    })
}

fn query_parameters(schema: &Json) -> Vec<Json> {
    let properties = schema.get("properties").and_then(Json::as_object);
    let describe = |(name, schema): (&String, &Json)| {
        let text = schema.get("description").cloned();
        let mut parameter = json!({ "name": name, "in": "query", "schema": schema });
        if let Some(text) = text {
            parameter["description"] = text;
        }
        parameter
    };
    properties.into_iter().flatten().map(describe).collect()
}
