//! [`Events`]: all that `/api/events` tells, from the beginning on.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::{BufRead, BufReader, Write},
    net::TcpStream,
    sync::{Arc, Mutex},
    thread,
};

use serde_json::{Value as Json, json};

use super::{document::Described, site::Site};
use crate::{
    frozen::redact::{Redact, outline},
    scene::wait_until,
};

const OPERATION: &str = "GET /api/events";

pub struct Events(Arc<Mutex<Vec<Event>>>);

#[derive(Clone)]
struct Event {
    /// Empty for one that tells what happened.
    name: String,
    data: Json,
}

impl Events {
    /// Hears everything from when this returns.
    pub fn open(site: &mut Site) -> Self {
        let mut stream = TcpStream::connect(&site.server.address).unwrap();
        write!(
            stream,
            "GET /api/events?topics=turns,runs,jobs,approvals,changes,logs HTTP/1.0\r\n\
             Host: {}\r\nAuthorization: Bearer {}\r\n\r\n",
            site.server.address, site.key
        )
        .unwrap();
        let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
        let head: Vec<String> = lines.by_ref().take_while(|line| !line.is_empty()).collect();
        assert!(head[0].contains("200"), "{head:?}");
        assert!(
            head.iter()
                .any(|line| line == "content-type: text/event-stream"),
            "{head:?}"
        );
        site.called.insert(OPERATION.to_owned());
        let events = Arc::<Mutex<Vec<Event>>>::default();
        let heard = events.clone();
        thread::spawn(move || {
            let mut name = String::new();
            for line in lines {
                if let Some(text) = line.strip_prefix("event: ") {
                    name = text.to_owned();
                }
                if let Some(text) = line.strip_prefix("data: ") {
                    let data = serde_json::from_str(text).unwrap();
                    let name = std::mem::take(&mut name);
                    heard.lock().unwrap().push(Event { name, data });
                }
            }
        });
        Events(events)
    }

    /// Which of them there were: `message`, `turn.text`.
    pub fn kinds(&self) -> Vec<String> {
        let events = self.0.lock().unwrap().clone();
        let unnamed = events.iter().filter(|event| event.name.is_empty());
        let kinds: BTreeSet<String> = unnamed.map(|event| kind(&event.data["event"])).collect();
        kinds.into_iter().collect()
    }

    /// The first of each kind in outline, but lines of the log: which comes first is chance.
    pub fn outlines(&self, site: &Site) -> String {
        let redact = Redact {
            home: site.scene.home(),
        };
        let events = self.0.lock().unwrap().clone();
        let mut first = BTreeMap::new();
        for event in events.iter().filter(|event| event.name.is_empty()) {
            let kind = kind(&event.data["event"]);
            first.entry(kind).or_insert_with(|| outline(&event.data));
        }
        first.remove("log");
        let first = first.iter();
        let told = first.map(|(kind, outline)| format!("{kind}\n{}\n\n", redact.pretty(outline)));
        told.collect()
    }

    pub fn wait_for(&self, kind: &str) {
        wait_until(|| self.kinds().iter().any(|it| it == kind));
    }

    /// Holds what was heard against the document. Events that have a name say nothing but that.
    pub fn check(&self, site: &mut Site) {
        let events = self.0.lock().unwrap().clone();
        let described = site.document.answer(OPERATION, 200, "text/event-stream");
        let Described::Json(Some(schema)) = described else {
            return site.gap(OPERATION, "events are not described");
        };
        for Event { name, data } in events {
            if !name.is_empty() {
                assert_eq!(data, json!({}), "{name}");
                continue;
            }
            for violation in site.document.violations(&schema, &data) {
                site.gap(OPERATION, &violation);
            }
        }
    }
}

fn kind(event: &Json) -> String {
    let kind = event.as_object().unwrap().keys().next().unwrap();
    match event[kind]["event"].as_str() {
        Some(inner) => format!("{kind}.{inner}"),
        None => kind.clone(),
    }
}
