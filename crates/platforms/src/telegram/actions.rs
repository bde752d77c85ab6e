//! What may be offered to an AI of Telegram's methods, and what Telegram is told instead of a word that is
//! easier to say. Plugins have all methods but those by which updates are read.

use base64::{Engine, engine::general_purpose::STANDARD};
use jiff::Timestamp;
use serde_json::{Map, Value as Json, json};

use super::api::Upload;
use crate::action::{ActionHarm, ActionParameter, PlatformAction};

/// They would take the updates from us, or the bot from its server.
pub(super) const OURS: [&str; 5] = [
    "getUpdates",
    "setWebhook",
    "deleteWebhook",
    "logOut",
    "close",
];

/// Not Telegram's: the bytes behind a path that `getFile` gave, whose address holds the token.
pub(super) const DOWNLOAD: &str = "downloadFile";

const PERMISSIONS: [&str; 10] = [
    "can_send_messages",
    "can_send_audios",
    "can_send_documents",
    "can_send_photos",
    "can_send_videos",
    "can_send_video_notes",
    "can_send_voice_notes",
    "can_send_polls",
    "can_send_other_messages",
    "can_add_web_page_previews",
];

const USER: ActionParameter = ActionParameter {
    name: "user_id",
    kind: "string",
    description: "The member's account",
    default: None,
};

const MESSAGE: ActionParameter = ActionParameter {
    name: "message_id",
    kind: "string",
    description: "The message's id on the platform",
    default: None,
};

const fn of_group(
    name: &'static str,
    description: &'static str,
    parameters: &'static [ActionParameter],
    harm: ActionHarm,
) -> PlatformAction {
    PlatformAction {
        name,
        description,
        parameters,
        harm,
        chat: Some("chat_id"),
        in_groups: true,
    }
}

const fn of_chat(
    name: &'static str,
    description: &'static str,
    parameters: &'static [ActionParameter],
    harm: ActionHarm,
) -> PlatformAction {
    PlatformAction {
        in_groups: false,
        ..of_group(name, description, parameters, harm)
    }
}

pub(super) const ACTIONS: &[PlatformAction] = &[
    of_group(
        "restrictChatMember",
        "Mutes a member of this group.",
        &[
            USER,
            ActionParameter {
                name: "duration",
                kind: "integer",
                description: "Seconds, 30 at least; 0 unmutes",
                default: Some("600"),
            },
        ],
        ActionHarm::Moderates,
    ),
    of_group(
        "banChatMember",
        "Removes a member from this group, who cannot come back.",
        &[USER],
        ActionHarm::Moderates,
    ),
    of_group(
        "unbanChatMember",
        "Lets somebody come back who was removed from this group.",
        &[USER],
        ActionHarm::Moderates,
    ),
    of_group(
        "setChatTitle",
        "Renames this group.",
        &[ActionParameter {
            name: "title",
            kind: "string",
            description: "The new name",
            default: None,
        }],
        ActionHarm::Moderates,
    ),
    of_group(
        "setChatAdministratorCustomTitle",
        "Gives an administrator of this group a title.",
        &[
            USER,
            ActionParameter {
                name: "custom_title",
                kind: "string",
                description: "The title, of 16 characters at most; empty for none",
                default: None,
            },
        ],
        ActionHarm::Moderates,
    ),
    of_chat(
        "pinChatMessage",
        "Pins a message of this chat.",
        &[MESSAGE],
        ActionHarm::Moderates,
    ),
    of_chat(
        "unpinChatMessage",
        "Unpins a message of this chat.",
        &[MESSAGE],
        ActionHarm::Moderates,
    ),
    of_chat(
        "deleteMessage",
        "Takes away a message of this chat.",
        &[MESSAGE],
        ActionHarm::Moderates,
    ),
    of_chat(
        "setMessageReaction",
        "Reacts to a message of this chat.",
        &[
            MESSAGE,
            ActionParameter {
                name: "emoji",
                kind: "string",
                description: "One of Telegram's reactions, such as 👍 ❤ 🔥 🎉 😁 🤔 👀",
                default: None,
            },
        ],
        ActionHarm::Seen,
    ),
    of_group(
        "getChatMember",
        "What is known about a member of this group.",
        &[USER],
        ActionHarm::None,
    ),
    of_group(
        "getChatAdministrators",
        "Who runs this group.",
        &[],
        ActionHarm::None,
    ),
    of_group(
        "getChatMemberCount",
        "How many are in this group.",
        &[],
        ActionHarm::None,
    ),
    of_chat(
        "getChat",
        "What is known about this chat.",
        &[],
        ActionHarm::None,
    ),
];

/// Words of ours as Telegram's.
pub(super) fn complete(action: &str, parameters: &mut Map<String, Json>) {
    match action {
        "restrictChatMember" if !parameters.contains_key("permissions") => {
            let duration = parameters.remove("duration");
            let duration = duration.and_then(|it| it.as_i64()).unwrap_or(600);
            let may = PERMISSIONS
                .iter()
                .map(|name| ((*name).to_owned(), (duration <= 0).into()));
            parameters.insert("permissions".to_owned(), Json::Object(may.collect()));
            if duration > 0 {
                let until = Timestamp::now().as_second().saturating_add(duration);
                parameters.insert("until_date".to_owned(), until.into());
            }
        }
        "unbanChatMember" => {
            // Else it removes a member who was not banned.
            parameters
                .entry("only_if_banned")
                .or_insert(Json::Bool(true));
        }
        "setMessageReaction" if !parameters.contains_key("reaction") => {
            let emoji = parameters.remove("emoji").unwrap_or_default();
            let reaction = json!([{"type": "emoji", "emoji": emoji}]);
            parameters.insert("reaction".to_owned(), reaction);
        }
        _ => {}
    }
}

/// A file as it travels in JSON.
pub(super) fn encoded(bytes: &[u8]) -> Json {
    json!({"base64": STANDARD.encode(bytes)})
}

/// Parameters that are files: `{"base64": …, "file_name": …}`.
pub(super) fn take_files(parameters: &mut Map<String, Json>) -> Result<Vec<Upload>, String> {
    let encoded = |value: &Json| Some(value.get("base64")?.as_str()?.to_owned());
    let names = parameters.iter().filter(|(_, it)| encoded(it).is_some());
    let names: Vec<String> = names.map(|(name, _)| name.clone()).collect();
    let mut files = Vec::new();
    for field in names {
        let value = parameters.remove(&field).unwrap_or_default();
        let bytes = STANDARD.decode(encoded(&value).unwrap_or_default());
        let given = value.get("file_name").and_then(Json::as_str);
        files.push(Upload {
            name: given.unwrap_or(&field).to_owned(),
            bytes: bytes.map_err(|_| format!("'{field}' is not base64"))?,
            field,
        });
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn completed(action: &str, mut parameters: Json) -> Json {
        complete(action, parameters.as_object_mut().unwrap());
        parameters
    }

    #[test]
    fn files_travel_in_json() {
        let asked = json!({"chat_id": 1, "media": {"a": 1},
            "photo": {"base64": "aGk=", "file_name": "a.png"}});
        let mut asked = asked.as_object().unwrap().clone();
        let files = take_files(&mut asked).unwrap();
        assert_eq!(
            Json::Object(asked),
            json!({"chat_id": 1, "media": {"a": 1}})
        );
        let [file] = files.as_slice() else {
            panic!("one file");
        };
        assert_eq!(
            (&*file.field, &*file.name, &*file.bytes),
            ("photo", "a.png", &b"hi"[..])
        );
        let mut wrong = Map::from_iter([("photo".to_owned(), json!({"base64": "*"}))]);
        assert!(take_files(&mut wrong).is_err());
    }

    #[test]
    fn what_an_ai_says_is_what_telegram_takes() {
        let muted = completed("restrictChatMember", json!({"user_id": 1, "duration": 60}));
        assert_eq!(muted["permissions"]["can_send_messages"], false);
        let until = muted["until_date"].as_i64().unwrap() - Timestamp::now().as_second();
        assert!((59..=60).contains(&until), "{until}");
        let unmuted = completed("restrictChatMember", json!({"user_id": 1, "duration": 0}));
        assert_eq!(unmuted["permissions"]["can_send_messages"], true);
        assert_eq!(unmuted.get("until_date"), None);
        let own = json!({"permissions": {}, "user_id": 1});
        assert_eq!(completed("restrictChatMember", own.clone()), own);
        let liked = completed(
            "setMessageReaction",
            json!({"message_id": 1, "emoji": "👍"}),
        );
        assert_eq!(liked["reaction"], json!([{"type": "emoji", "emoji": "👍"}]));
    }
}
