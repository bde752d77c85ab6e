//! The HTTP API is what `docs/openapi.json` says: every route is called with real data, and every answer
//! and every event is held against its schema.

mod administration;
mod document;
mod events;
mod site;
mod talk;

use serde_json::Value as Json;

use self::{events::Events, site::Site};
use crate::{frozen::assert_frozen, model::FakeModel, outbox::leave_in_doubt, scene::Scene};

/// All that `/api/events` tells, but how far a call has come and that an answer begins anew.
const EVENTS: &[&str] = &[
    "approval",
    "clients",
    "job",
    "log",
    "message",
    "models",
    "platforms",
    "plugins",
    "rules",
    "run",
    "turn.call",
    "turn.code",
    "turn.finished",
    "turn.output",
    "turn.round",
    "turn.text",
    "turn.thought",
];

fn scene(model: &FakeModel) -> Scene {
    let toml = format!("[approval]\nask = [\"send_message\"]\n{}", model.toml());
    let scene = Scene::configured(&toml);
    leave_in_doubt(&scene, &["was this read?"]);
    scene
}

#[test]
fn every_route_answers_as_described() {
    let model = FakeModel::scripted();
    let mut site = Site::start(scene(&model));
    let events = Events::open(&mut site);
    talk::everything(&mut site, &model, &events);
    administration::everything(&mut site, &model, &events);
    events.check(&mut site);
    assert_frozen("http_api", &site.bodies());
    assert_frozen("http_events", &events.outlines(&site));

    let uncalled: Vec<String> = site
        .document
        .operations()
        .difference(&site.called)
        .cloned()
        .collect();
    assert_eq!(uncalled, Vec::<String>::new(), "never called");
    assert_eq!(site.empty_lists(), Vec::<&String>::new(), "always empty");
    assert_eq!(events.kinds(), EVENTS);
    assert!(site.gaps.is_empty(), "{:#?}", site.gaps);
}

/// A page of somebody else can send a form with an operator's cookie, but no JSON.
#[test]
fn a_body_of_another_media_type_is_refused() {
    let model = FakeModel::scripted();
    let site = Site::start(scene(&model));
    for (verb, route) in [
        ("POST", "/api/methods/now/call"),
        ("POST", "/api/plugins/new"),
        ("PUT", "/api/settings"),
    ] {
        for media in ["text/plain", "application/x-www-form-urlencoded"] {
            let answer = site.send(verb, route, Some((media, b"{}".to_vec())));
            let problem: Json = serde_json::from_slice(&answer.body).unwrap();
            assert_eq!(answer.status, 400, "{verb} {route} {media}: {problem}");
            let title = problem["title"].as_str().unwrap();
            assert!(title.contains("application/json"), "{problem}");
        }
    }
}
