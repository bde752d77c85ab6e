//! Which scope each event needs: one table, asked before any handler runs. What is not in it is the
//! operator's alone, so that an event somebody forgot opens nothing.

use callgate_contract::Allowed;

use super::{
    Authorization, Rights,
    newage_texts::{NOT_TRUSTED, UNAUTHORIZED},
};

/// What a key must be made for. A client that the operator approved has all but the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RequiredScope {
    /// Nothing: the handler itself looks at who asks.
    Nothing,
    /// `methods` or `method:NAME`: to call what the key names. A guest has a little of it.
    Call,
    /// `chat` or `methods`: to ask for answers, and to take part in rooms it was let into.
    Chat,
    /// `methods`: to be a client among others: seen, called, with functions and rooms of its own.
    Client,
    Operator,
}

/// Events of one need.
type AccessRow = (RequiredScope, &'static [&'static str]);

const TABLE: &[(&str, &[AccessRow])] = &[
    (
        "/function_call",
        &[
            (RequiredScope::Call, &["FUNCTION_CALL"]),
            (
                RequiredScope::Client,
                &["REGISTER_FUNCTIONS", "FUNCTION_PROGRESS"],
            ),
        ],
    ),
    (
        "/sillytavern",
        &[(
            RequiredScope::Nothing,
            &["IDENTIFY_SILLYTAVERN", "CLIENT_DISCONNECTED"],
        )],
    ),
    (
        "/auth",
        &[
            (
                RequiredScope::Client,
                &["GET_CLIENT_KEY", "GET_SILLYTAVERN_EXTENSION"],
            ),
            (RequiredScope::Nothing, &["CLIENT_DISCONNECTED"]),
        ],
    ),
    (
        "/clients",
        &[
            (
                RequiredScope::Client,
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
                RequiredScope::Operator,
                &["GENERATE_CLIENT_KEY", "REMOVE_CLIENT_KEY"],
            ),
            (RequiredScope::Nothing, &["CLIENT_DISCONNECTED"]),
        ],
    ),
    (
        "/rooms",
        &[
            (
                RequiredScope::Client,
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
                RequiredScope::Operator,
                &["SET_CONNECTION_POLICY", "ASSIGN_EXTENSION_TO_CLIENT"],
            ),
            (RequiredScope::Nothing, &["CLIENT_DISCONNECTED"]),
        ],
    ),
    (
        "/llm",
        &[
            (
                RequiredScope::Chat,
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
                RequiredScope::Client,
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
            (RequiredScope::Nothing, &["message", "CLIENT_DISCONNECTED"]),
        ],
    ),
    (
        "/debug",
        &[
            (
                RequiredScope::Operator,
                &["SERVER_STATUS", "TOGGLE_DEBUG_MODE", "READ_LOG"],
            ),
            (RequiredScope::Nothing, &["CLIENT_DISCONNECTED"]),
        ],
    ),
];

pub(super) fn need(namespace: &str, event: &str) -> RequiredScope {
    let found = rows(namespace).find(|(_, events)| events.contains(&event));
    found.map_or(RequiredScope::Operator, |(need, _)| *need)
}

/// May it do anything here that not everybody may? A namespace that asks for nothing is for all who may
/// do anything anywhere.
pub(super) fn is_of_use(namespace: &str, standing: &Authorization) -> bool {
    let asking = || rows(namespace).filter(|(need, _)| *need != RequiredScope::Nothing);
    match asking().next() {
        None => standing.may(RequiredScope::Call) || standing.may(RequiredScope::Chat),
        Some(_) => asking().any(|(need, _)| standing.may(*need)),
    }
}

fn rows(namespace: &str) -> impl Iterator<Item = &'static AccessRow> {
    let found = TABLE.iter().filter(move |(name, _)| *name == namespace);
    found.flat_map(|(_, rows)| rows.iter())
}

impl Authorization {
    pub(super) fn may(&self, need: RequiredScope) -> bool {
        match need {
            RequiredScope::Nothing => true,
            RequiredScope::Call => self.methods != Allowed::Only(Vec::new()),
            RequiredScope::Chat => self.chats || self.full,
            RequiredScope::Client => self.full,
            RequiredScope::Operator => self.rights == Rights::Operator,
        }
    }

    /// What the client is told that may not.
    pub(super) fn refusal(&self, client: &str, need: RequiredScope) -> String {
        match (need, self.rights) {
            (_, Rights::Guest) => format!(
                "{NOT_TRUSTED} This needs a key, or the operator's approval: \
                 `callgate client approve {client}`."
            ),
            (RequiredScope::Operator, _) => UNAUTHORIZED.to_owned(),
            (RequiredScope::Chat, _) => needs("chat or methods"),
            (RequiredScope::Call, _) => needs("methods or method:NAME"),
            (RequiredScope::Nothing | RequiredScope::Client, _) => needs("methods"),
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
        assert_eq!(need("/llm", "SOMETHING_NEW"), RequiredScope::Operator);
        assert_eq!(need("/nowhere", "LLM_REQUEST"), RequiredScope::Operator);
    }
}
