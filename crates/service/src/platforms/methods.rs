//! A platform's own interface as methods of origin `platform:<id>`: one for plugins, which takes any action,
//! and one for each action that the operator offers to the AI. All of them pass the gate.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use callgate_contract::{
    Binding, BoxFuture, CallContext, Caller, Choice, Effect, Exposure, Kind, Method, MethodError,
    MethodInfo, Origin, Reply, ResultTrust, SessionType, Trust, Value, json as values,
};
use callgate_gate::method;
use callgate_platforms::{ActionError, ActionHarm, Platform, PlatformAction};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value as Json, json};

use crate::config::PlatformEntry;

const DEADLINE: Duration = Duration::from_secs(70);

/// What a plugin asks of the platform.
#[derive(Deserialize, JsonSchema)]
struct AnyAction {
    /// The platform's own name of it.
    action: String,
    #[serde(default)]
    parameters: Map<String, Json>,
    /// Which of the bots is to do it; any, if none is named.
    #[serde(default)]
    account: Option<String>,
}

pub(super) fn origin(id: &str) -> Origin {
    Origin::Platform(id.to_owned())
}

pub(super) fn all(entry: &PlatformEntry, platform: &Arc<dyn Platform>) -> Vec<Arc<dyn Method>> {
    let offered = platform.actions().iter();
    let offered = offered.filter(|action| entry.offer.iter().any(|it| it == action.name));
    let offered = offered.map(|action| {
        let method: Arc<dyn Method> = Arc::new(OfferedAction::new(&entry.id, *action, platform));
        method
    });
    std::iter::once(for_plugins(&entry.id, platform))
        .chain(offered)
        .collect()
}

/// What comes back is the platform's own answer, also where that is a refusal.
fn for_plugins(id: &str, platform: &Arc<dyn Platform>) -> Arc<dyn Method> {
    let platform = platform.clone();
    let handler = move |_, asked: AnyAction| {
        let platform = platform.clone();
        async move {
            let account = asked.account.as_deref().filter(|it| !it.is_empty());
            let done = platform
                .call(account, &asked.action, asked.parameters)
                .await;
            let answer = match done {
                Ok(data) => json!({"status": "ok", "retcode": 0, "data": data}),
                Err(error) => refusal(&error),
            };
            values::from_json(answer).map_err(unreadable)
        }
    };
    let method = method(&format!("{id}_call_action"), Kind::Tool, handler)
        .doc("Calls the platform's own interface.")
        .deadline(DEADLINE)
        .exposure(Exposure::PLUGINS)
        .untrusted()
        .origin(origin(id));
    Arc::new(method)
}

fn unreadable(error: values::JsonError) -> MethodError {
    MethodError::new(format!("the platform's answer cannot be read: {error}"))
}

fn refusal(error: &ActionError) -> Json {
    let (status, code) = match error {
        ActionError::Refused { code, .. } => ("failed", *code),
        ActionError::Unreachable { .. } => ("unreachable", -1),
        ActionError::NoAnswer { .. } => ("no_answer", -1),
    };
    json!({"status": status, "retcode": code, "data": null, "wording": error.to_string()})
}

/// An action that the AI may take, in the chat that it speaks in.
struct OfferedAction {
    action: PlatformAction,
    info: MethodInfo,
    platform: Arc<dyn Platform>,
    id: String,
}

impl OfferedAction {
    fn new(id: &str, action: PlatformAction, platform: &Arc<dyn Platform>) -> Self {
        let is_about_somebody = action.parameters.iter().any(|it| it.name == "user_id");
        let chooses = is_about_somebody.then(|| ("user_id".to_owned(), Choice::Recipient));
        let looks = action.harm == ActionHarm::None;
        let info = MethodInfo {
            name: format!("{id}_{}", action.name),
            aliases: Vec::new(),
            title: action.name.to_owned(),
            description: action.description.to_owned(),
            doc: action.description.to_owned(),
            parameters: action.schema(),
            returns: if looks { "Any" } else { "None" }.to_owned(),
            kind: Kind::Tool,
            origin: origin(id),
            exposure: Exposure {
                plugins: false,
                ..Exposure::AI
            },
            effect: if looks {
                Effect::Pure
            } else {
                Effect::Effectful
            },
            deadline: DEADLINE,
            binding: Binding::Strict,
            leaf: false,
            trust: Trust {
                chooses: if looks {
                    BTreeMap::new()
                } else {
                    chooses.into_iter().collect()
                },
                result: ResultTrust::Untrusted,
            },
        };
        OfferedAction {
            action,
            info,
            platform: platform.clone(),
            id: id.to_owned(),
        }
    }
}

impl Method for OfferedAction {
    fn info(&self) -> &MethodInfo {
        &self.info
    }

    /// In the platform's own chats, and of what concerns groups, in groups.
    fn serves(&self, caller: &Caller) -> bool {
        let session = &caller.session;
        let is_group = session.kind() == SessionType::GroupMessage;
        session.platform() == self.id && (is_group || !self.action.in_groups)
    }

    fn needs_approval(&self) -> bool {
        self.action.harm == ActionHarm::Moderates
    }

    fn call<'a>(
        &'a self,
        context: CallContext<'a>,
        arguments: Vec<(String, Value)>,
    ) -> BoxFuture<'a, Result<Reply, MethodError>> {
        Box::pin(async move {
            let arguments = arguments.iter();
            let mut parameters: Map<String, Json> = arguments
                .map(|(name, value)| (name.clone(), values::to_json(value)))
                .collect();
            if let Some(chat) = self.action.chat {
                parameters.insert(chat.to_owned(), context.caller.session.id().into());
            }
            let done = self.platform.call(None, self.action.name, parameters).await;
            let data = done.map_err(|error| MethodError::new(error.to_string()))?;
            Ok(values::from_json(data).map_err(unreadable)?.into())
        })
    }
}

#[cfg(test)]
mod tests {
    use callgate_contract::{Grant, JournalId, Principal, Role, Surface};
    use callgate_platforms::{Account, Event, Host, MediaSource, NotStored};

    use super::*;

    struct Nobody;

    impl Host for Nobody {
        fn receive(&self, _: Event) -> BoxFuture<'_, Result<(), NotStored>> {
            Box::pin(async { Ok(()) })
        }

        fn connected(&self) {}

        fn cursor(&self) -> BoxFuture<'_, Result<Option<String>, NotStored>> {
            Box::pin(async { Ok(None) })
        }

        fn set_cursor<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<(), NotStored>> {
            Box::pin(async { Ok(()) })
        }

        fn keep<'a>(
            &'a self,
            _: &'a callgate_contract::SessionKey,
            _: &'a str,
            _: MediaSource,
        ) -> BoxFuture<'a, Result<String, String>> {
            Box::pin(async { Err(String::new()) })
        }

        fn read<'a>(
            &'a self,
            _: &'a callgate_contract::SessionKey,
            _: &'a str,
        ) -> BoxFuture<'a, Result<Vec<u8>, String>> {
            Box::pin(async { Err(String::new()) })
        }
    }

    fn caller(session: &str) -> Caller {
        let sender = Account::default();
        let session: callgate_contract::SessionKey = session.parse().unwrap();
        Caller {
            principal: Principal::person(&session, sender.id),
            session,
            role: Role::Member,
            surface: Surface::Code,
            journal: JournalId::fresh(),
            depth: 0,
            grant: Arc::new(Grant::everything()),
        }
    }

    #[test]
    fn the_ai_has_what_is_offered_in_its_own_chat_and_moderation_asks() {
        let text = "id = 'qq'\nkind = 'onebot'\nlisten = '127.0.0.1:0'\n\
                    offer = ['set_group_ban', 'get_group_member_list']";
        let entry: PlatformEntry = toml::from_str(text).unwrap();
        let platform = entry.settings().unwrap().connect(Arc::new(Nobody)).unwrap();
        let methods = all(&entry, &platform);
        let seen = methods.iter().map(|method| {
            let info = method.info();
            let (ai, plugins) = (info.exposure.code, info.exposure.plugins);
            (info.name.as_str(), ai, plugins, method.needs_approval())
        });
        let expected = [
            ("qq_call_action", false, true, false),
            ("qq_set_group_ban", true, false, true),
            ("qq_get_group_member_list", true, false, false),
        ];
        assert_eq!(seen.collect::<Vec<_>>(), expected);
        let ban = &methods[1];
        assert_eq!(ban.info().origin.to_string(), "platform:qq");
        assert_eq!(ban.info().parameters["properties"].get("group_id"), None);
        for (session, serves) in [
            ("qq:GroupMessage:7", true),
            ("qq:FriendMessage:7", false),
            ("other:GroupMessage:7", false),
        ] {
            assert_eq!(ban.serves(&caller(session)), serves, "{session}");
        }
    }
}
