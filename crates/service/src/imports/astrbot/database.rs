//! `data_v4.db`: personas, conversations, and preferences, among which plugins keep values.

use std::collections::{BTreeMap, BTreeSet};

use callgate_agent::cards;
use callgate_contract::{SessionKey, SessionType};
use callgate_store::{ForeignDatabase, ForeignError, Preference};
use serde_json::{Map, Value as Json};

use super::{
    super::{
        Content, ForeignItem, ImportKind, ImportLine,
        conversations::{ForeignConversation, History, messages},
        reading::Origin,
    },
    DATABASE,
};

/// Bytes of all histories together.
const MAX_HISTORIES: usize = 512 << 20;

type Row = Map<String, Json>;

#[derive(Default)]
pub(super) struct Found {
    /// Personas, conversations and plugins' values.
    pub(super) items: Vec<ForeignItem>,
    /// Modules of plugins, such as `data.plugins.weather.main`.
    pub(super) switched_off: Vec<String>,
    /// Accounts that have talked to it alone, and on which platform.
    pub(super) accounts: BTreeSet<(String, String)>,
}

pub(super) fn read(origin: &Origin, left_out: &mut Vec<ImportLine>) -> Found {
    let mut found = Found::default();
    let why = match ForeignDatabase::open(&origin.folder, DATABASE) {
        Ok(database) => match found.fill(&database, left_out) {
            Ok(()) => return found,
            Err(error) => format!("{error}; end AstrBot and try again"),
        },
        Err(ForeignError::File(callgate_store::files::FileError::NotFound(_))) => {
            "it is not there: start a newer AstrBot once, which makes it of older data".to_owned()
        }
        Err(error) => error.to_string(),
    };
    left_out.push(ImportLine::left_out(ImportKind::Other, DATABASE, why));
    found
}

impl Found {
    fn fill(
        &mut self,
        database: &ForeignDatabase,
        left_out: &mut Vec<ImportLine>,
    ) -> Result<(), ForeignError> {
        let mut current = BTreeMap::new();
        let mut values = Vec::new();
        database.rows("preferences", |row| {
            self.preference(&row, &mut current, &mut values);
            true
        })?;
        database.rows("personas", |row| {
            match persona(&Json::Object(row)) {
                Ok(items) => self.items.extend(items),
                Err(line) => left_out.push(line),
            }
            true
        })?;
        let (mut empty, mut bytes) = (0, 0);
        database.rows("conversations", |row| {
            bytes += text(&row, "content").len();
            if bytes > MAX_HISTORIES {
                let why = "this and what follows is more than 512 MB of histories";
                let name = text(&row, "conversation_id");
                left_out.push(ImportLine::left_out(ImportKind::Conversation, name, why));
                return false;
            }
            match conversation(&row, &current) {
                Ok(Some(item)) => {
                    self.note_account(&item);
                    self.items.push(item);
                }
                Ok(None) => empty += 1,
                Err(line) => left_out.push(line),
            }
            true
        })?;
        if empty > 0 {
            let name = format!("{empty} without a message");
            let why = "nothing was said in them";
            left_out.push(ImportLine::left_out(ImportKind::Conversation, name, why));
        }
        let mut jobs = 0;
        database.rows("cron_jobs", |_| {
            jobs += 1;
            true
        })?;
        if jobs > 0 {
            let name = format!("{jobs} scheduled jobs");
            let why = "plan them again with `callgate timer`";
            left_out.push(ImportLine::left_out(ImportKind::Other, name, why));
        }
        self.items.extend(values);
        Ok(())
    }

    fn preference(
        &mut self,
        row: &Row,
        current: &mut BTreeMap<String, String>,
        values: &mut Vec<ForeignItem>,
    ) {
        let [scope, place, name] = ["scope", "scope_id", "key"].map(|column| text(row, column));
        let Some(value) = json(row, "value").get("val").cloned() else {
            return;
        };
        match (scope, name) {
            ("umo", "sel_conv_id") => {
                let chosen = value.as_str().unwrap_or_default();
                current.insert(place.to_owned(), chosen.to_owned());
            }
            ("global", "inactivated_plugins") => {
                let modules = value.as_array().into_iter().flatten();
                let modules = modules.filter_map(Json::as_str).map(str::to_owned);
                self.switched_off.extend(modules);
            }
            ("plugin", name) => values.push(ForeignItem {
                kind: ImportKind::PluginValue,
                name: format!("{place}:{name}"),
                content: Content::Value(Preference {
                    scope: scope.to_owned(),
                    place: place.to_owned(),
                    name: name.to_owned(),
                    value,
                }),
                notes: Vec::new(),
            }),
            _ => {}
        }
    }

    fn note_account(&mut self, item: &ForeignItem) {
        if let Content::Conversation(conversation) = &item.content
            && conversation.session.kind() == SessionType::FriendMessage
        {
            let session = &conversation.session;
            let account = (session.platform().to_owned(), session.id().to_owned());
            self.accounts.insert(account);
        }
    }
}

pub(super) fn persona(row: &Json) -> Result<Vec<ForeignItem>, ImportLine> {
    let own = ["persona_id", "name"].map(|key| row[key].as_str());
    let own = own.into_iter().flatten().next().unwrap_or("without a name");
    let read = cards::read(row.to_string().as_bytes(), 0);
    let cards =
        read.map_err(|error| ImportLine::left_out(ImportKind::Persona, own, error.to_string()))?;
    let item = |card: cards::Card| ForeignItem {
        kind: ImportKind::Persona,
        name: own.to_owned(),
        content: Content::Persona(card.persona),
        notes: card.notes,
    };
    Ok(cards.into_iter().map(item).collect())
}

/// `None` if nothing was said in it.
fn conversation(
    row: &Row,
    current: &BTreeMap<String, String>,
) -> Result<Option<ForeignItem>, ImportLine> {
    let (id, place) = (text(row, "conversation_id"), text(row, "user_id"));
    let left_out = |why: String| ImportLine::left_out(ImportKind::Conversation, id, why);
    let Json::Array(list) = json(row, "content") else {
        return match row.get("content") {
            None | Some(Json::Null) => Ok(None),
            Some(_) => Err(left_out("its history is no list of messages".to_owned())),
        };
    };
    let (messages, odd) = messages(list);
    if messages.is_empty() && odd == 0 {
        return Ok(None);
    }
    let session: SessionKey = place
        .parse()
        .map_err(|error| left_out(format!("{error}")))?;
    let optional = |column| Some(text(row, column).to_owned()).filter(|text| !text.is_empty());
    let mut notes = vec![session.to_string()];
    if odd > 0 {
        notes.push(format!("{odd} entries are no messages and were left out"));
    }
    Ok(Some(ForeignItem {
        kind: ImportKind::Conversation,
        name: id.to_owned(),
        content: Content::Conversation(ForeignConversation {
            current: current.get(place).is_some_and(|chosen| chosen == id),
            session,
            history: History {
                title: optional("title"),
                persona: optional("persona_id"),
                messages,
            },
        }),
        notes,
    }))
}

fn text<'a>(row: &'a Row, column: &str) -> &'a str {
    row.get(column).and_then(Json::as_str).unwrap_or_default()
}

/// A column of JSON is text.
fn json(row: &Row, column: &str) -> Json {
    serde_json::from_str(text(row, column)).unwrap_or_default()
}
