//! The HTTP API is what `docs/openapi.json` says: every route is called with real data, and every answer
//! and every event is held against its schema.

mod administration;
mod document;
mod events;
mod site;
mod talk;

use std::collections::BTreeSet;

use self::{events::Events, site::Site};
use crate::{frozen::assert_frozen, model::FakeModel, scene::Scene};

/// Where answers and document differ today. It is exactly what is found: one that was mended is taken
/// off the list.
const KNOWN_GAPS: &[&str] = &[
    "DELETE /api/plugins/{id}: no schema",
    "GET /api/jobs/{id}: /result: anything",
    "GET /api/jobs: /items/*/result: anything",
    "POST /api/plugins/install: /result: anything",
    "POST /api/plugins/new: /result: anything",
    "POST /api/plugins/upload: /result: anything",
];

/// All that `/api/events` tells, but how far a call has come and that an answer begins anew.
const EVENTS: &[&str] = &[
    "approval",
    "clients",
    "job",
    "log",
    "message",
    "models",
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
    Scene::configured(&toml)
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
    let known: BTreeSet<String> = KNOWN_GAPS.iter().map(|gap| (*gap).to_owned()).collect();
    let new: Vec<_> = site.gaps.difference(&known).collect();
    let mended: Vec<_> = known.difference(&site.gaps).collect();
    assert!(
        new.is_empty() && mended.is_empty(),
        "new: {new:#?}\nno more: {mended:#?}"
    );
}
