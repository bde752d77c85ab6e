//! What each event of Socket.IO needs, asked before any handler runs. What is not named here is the
//! operator's alone, so that an event somebody forgot opens nothing.

use super::{
    Authorization, Rights,
    newage_texts::{NOT_TRUSTED, UNAUTHORIZED},
};
use crate::Capability;

/// Events of one need.
type AccessRow = (Capability, &'static [&'static str]);

const TABLE: &[(&str, &[AccessRow])] = &[
    (
        "/function_call",
        &[
            (Capability::Call, &["FUNCTION_CALL"]),
            (
                Capability::Methods,
                &["REGISTER_FUNCTIONS", "FUNCTION_PROGRESS"],
            ),
        ],
    ),
    (
        "/sillytavern",
        &[(
            Capability::Anyone,
            &["IDENTIFY_SILLYTAVERN", "CLIENT_DISCONNECTED"],
        )],
    ),
    (
        "/auth",
        &[
            (
                Capability::Methods,
                &["GET_CLIENT_KEY", "GET_SILLYTAVERN_EXTENSION"],
            ),
            (Capability::Anyone, &["CLIENT_DISCONNECTED"]),
        ],
    ),
    (
        "/clients",
        &[
            (
                Capability::Methods,
                &[
                    "GET_CLIENT_LIST",
                    "UPDATE_CONNECTED_CLIENTS",
                    "GET_ALL_CLIENT_KEYS",
                    "GET_CLIENT_KEY",
                    "GET_ROOMS",
                    "GET_CLIENTS_IN_ROOM",
                ],
            ),
            (
                Capability::Operator,
                &["GENERATE_CLIENT_KEY", "REMOVE_CLIENT_KEY"],
            ),
            (Capability::Anyone, &["CLIENT_DISCONNECTED"]),
        ],
    ),
    (
        "/rooms",
        &[
            (
                Capability::Methods,
                &[
                    "GET_ROOMS",
                    "GET_CLIENTS_IN_ROOM",
                    "CREATE_ROOM",
                    "DELETE_ROOM",
                    "SET_ROOM_MESSAGE_REQUEST_MODE",
                    "ADD_CLIENT_TO_ROOM",
                    "REMOVE_CLIENT_FROM_ROOM",
                    "KICK_MEMBER",
                    "SET_MEMBER_ROLE",
                    "MUTE_MEMBER",
                    "UNMUTE_MEMBER",
                    "GET_CONNECTION_POLICY",
                    "GET_ASSIGNMENTS",
                    "GET_ASSIGNMENTS_FOR_ROOM",
                ],
            ),
            (
                Capability::Operator,
                &["SET_CONNECTION_POLICY", "ASSIGN_EXTENSION_TO_CLIENT"],
            ),
            (Capability::Anyone, &["CLIENT_DISCONNECTED"]),
        ],
    ),
    (
        "/llm",
        &[
            (
                Capability::Rooms,
                &[
                    "LLM_REQUEST",
                    "EDIT_MESSAGE",
                    "DELETE_MESSAGE",
                    "CLEAR_MESSAGES",
                    "GET_FULL_CONTEXT",
                    "GET_OFFLINE_MESSAGES",
                    "START_TYPING",
                    "STOP_TYPING",
                    "START_PROCESSING",
                    "STOP_PROCESSING",
                    "$stream-read",
                    "$stream-error",
                    "$stream-end",
                ],
            ),
            // To answer what others ask.
            (
                Capability::Methods,
                &[
                    "ERROR",
                    "CLIENT_STREAM_START",
                    "CLIENT_STREAM_DATA_FIRST",
                    "CLIENT_STREAM_DATA_MIDDLE",
                    "CLIENT_STREAM_DATA_LAST",
                    "CLIENT_STREAM_DATA_RETRY",
                    "CLIENT_STREAM_DATA_FAILED",
                    "CLIENT_STREAM_END",
                ],
            ),
            // Also asks whether the connection lives, before the operator has decided.
            (Capability::Anyone, &["message", "CLIENT_DISCONNECTED"]),
        ],
    ),
    (
        "/debug",
        &[
            (
                Capability::Operator,
                &["SERVER_STATUS", "TOGGLE_DEBUG_MODE", "READ_LOG"],
            ),
            (Capability::Anyone, &["CLIENT_DISCONNECTED"]),
        ],
    ),
];

/// Every event, as `namespace event`.
pub(crate) fn events() -> impl Iterator<Item = (String, Capability)> {
    let rows = |(namespace, rows): &'static (&str, &[AccessRow])| {
        let named = |(need, events): &'static AccessRow| events.iter().map(|event| (*event, *need));
        let rows = rows.iter().flat_map(named);
        rows.map(move |(event, need)| (format!("{namespace} {event}"), need))
    };
    TABLE.iter().flat_map(rows)
}

pub(super) fn need(namespace: &str, event: &str) -> Capability {
    let found = rows(namespace).find(|(_, events)| events.contains(&event));
    found.map_or(Capability::Operator, |(need, _)| *need)
}

/// May it do anything here that not everybody may? A namespace that asks for nothing is for all who may
/// do anything anywhere.
pub(super) fn is_of_use(namespace: &str, standing: &Authorization) -> bool {
    let asking = || rows(namespace).filter(|(need, _)| *need != Capability::Anyone);
    match asking().next() {
        None => standing.may(Capability::Call) || standing.may(Capability::Rooms),
        Some(_) => asking().any(|(need, _)| standing.may(*need)),
    }
}

fn rows(namespace: &str) -> impl Iterator<Item = &'static AccessRow> {
    let found = TABLE.iter().filter(move |(name, _)| *name == namespace);
    found.flat_map(|(_, rows)| rows.iter())
}

impl Authorization {
    pub(super) fn may(&self, need: Capability) -> bool {
        self.capabilities.holds(need)
    }

    /// What the client is told that may not.
    pub(super) fn refusal(&self, client: &str, need: Capability) -> String {
        match (need, self.rights) {
            (_, Rights::Guest) => format!(
                "{NOT_TRUSTED} This needs a key, or the operator's approval: \
                 `callgate client approve {client}`."
            ),
            (Capability::Operator, _) => UNAUTHORIZED.to_owned(),
            (Capability::Rooms, _) => needs("chat or methods"),
            (Capability::Call, _) => needs("methods or method:NAME"),
            (other, _) => needs(other.scope()),
        }
    }
}

fn needs(scope: &str) -> String {
    format!(
        "{UNAUTHORIZED}: this needs a key of scope {scope}. Ask the operator for one \
         (`callgate key new`)."
    )
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{super::namespaces, *};

    #[test]
    fn every_event_names_its_need_once_and_nothing_else_does() {
        for namespace in namespaces() {
            let name = namespace.name();
            let listed: Vec<&str> = rows(name)
                .flat_map(|(_, events)| events.iter().copied())
                .collect();
            let once: BTreeSet<&str> = listed.iter().copied().collect();
            assert_eq!(listed.len(), once.len(), "{name}");
            let handled: BTreeSet<&str> = namespace.events().collect();
            assert_eq!(once, handled, "{name}");
        }
        assert_eq!(need("/llm", "SOMETHING_NEW"), Capability::Operator);
        assert_eq!(need("/nowhere", "LLM_REQUEST"), Capability::Operator);
    }
}
