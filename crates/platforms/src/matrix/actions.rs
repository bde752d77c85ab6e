//! What may be offered to an AI of what Matrix can do. Plugins have all of its interface.

use crate::action::{ActionHarm, ActionParameter, PlatformAction};

const EVENT: ActionParameter = ActionParameter {
    name: "event_id",
    kind: "string",
    description: "The message's id on the platform",
    default: None,
};
const MEMBER: ActionParameter = ActionParameter {
    name: "user_id",
    kind: "string",
    description: "Their account, such as @ann:example.org",
    default: None,
};
const REASON: ActionParameter = ActionParameter {
    name: "reason",
    kind: "string",
    description: "Why, for everybody to read",
    default: Some(""),
};

const fn action(
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
        chat: Some("room_id"),
        in_groups: false,
    }
}

const fn in_groups(action: PlatformAction) -> PlatformAction {
    PlatformAction {
        in_groups: true,
        ..action
    }
}

const fn text(name: &'static str, description: &'static str) -> ActionParameter {
    ActionParameter {
        name,
        kind: "string",
        description,
        default: None,
    }
}

pub(super) const ACTIONS: &[PlatformAction] = &[
    action(
        "react",
        "Reacts to a message of this room.",
        &[EVENT, text("key", "An emoji")],
        ActionHarm::Seen,
    ),
    action(
        "redact",
        "Takes back a message of this room.",
        &[EVENT, REASON],
        ActionHarm::Moderates,
    ),
    in_groups(action(
        "kick",
        "Removes somebody from this room.",
        &[MEMBER, REASON],
        ActionHarm::Moderates,
    )),
    in_groups(action(
        "ban",
        "Removes somebody from this room and keeps them out.",
        &[MEMBER, REASON],
        ActionHarm::Moderates,
    )),
    in_groups(action(
        "unban",
        "Lets somebody into this room again who was kept out.",
        &[MEMBER, REASON],
        ActionHarm::Moderates,
    )),
    in_groups(action(
        "invite",
        "Invites somebody into this room.",
        &[MEMBER, REASON],
        ActionHarm::Moderates,
    )),
    in_groups(action(
        "set_topic",
        "Says what this room is about.",
        &[text("topic", "The new topic")],
        ActionHarm::Moderates,
    )),
    in_groups(action(
        "set_name",
        "Renames this room.",
        &[text("name", "The new name")],
        ActionHarm::Moderates,
    )),
    action(
        "pin",
        "Pins a message of this room.",
        &[EVENT],
        ActionHarm::Moderates,
    ),
    action(
        "joined_members",
        "Who is in this room.",
        &[],
        ActionHarm::None,
    ),
    action(
        "messages",
        "The last messages of this room.",
        &[ActionParameter {
            name: "limit",
            kind: "integer",
            description: "How many",
            default: Some("20"),
        }],
        ActionHarm::None,
    ),
];
