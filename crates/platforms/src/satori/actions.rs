//! What may be offered to an AI of Satori's methods, called with `_` where they have a dot. Plugins have all of them.

use crate::action::{ActionHarm, ActionParameter, PlatformAction};

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
/// The chat is always told: by it the login is found, and its guild.
const CHANNEL: Option<&str> = Some("channel_id");

pub(super) const ACTIONS: &[PlatformAction] = &[
    PlatformAction {
        name: "guild_member_mute",
        description: "Mutes a member of this group.",
        parameters: &[
            USER,
            ActionParameter {
                name: "duration",
                kind: "integer",
                description: "Milliseconds; 0 unmutes",
                default: Some("600000"),
            },
        ],
        harm: ActionHarm::Moderates,
        chat: CHANNEL,
        in_groups: true,
    },
    PlatformAction {
        name: "guild_member_kick",
        description: "Removes a member from this group.",
        parameters: &[
            USER,
            ActionParameter {
                name: "permanent",
                kind: "boolean",
                description: "Also refuse to let them in again",
                default: Some("false"),
            },
        ],
        harm: ActionHarm::Moderates,
        chat: CHANNEL,
        in_groups: true,
    },
    PlatformAction {
        name: "guild_member_role_set",
        description: "Gives a member of this group a role.",
        parameters: &[
            USER,
            ActionParameter {
                name: "role_id",
                kind: "string",
                description: "The role's id",
                default: None,
            },
        ],
        harm: ActionHarm::Moderates,
        chat: CHANNEL,
        in_groups: true,
    },
    PlatformAction {
        name: "channel_mute",
        description: "Mutes or unmutes everybody in this channel.",
        parameters: &[ActionParameter {
            name: "duration",
            kind: "integer",
            description: "Milliseconds; 0 unmutes",
            default: Some("600000"),
        }],
        harm: ActionHarm::Moderates,
        chat: CHANNEL,
        in_groups: true,
    },
    PlatformAction {
        name: "message_delete",
        description: "Takes back a message.",
        parameters: &[MESSAGE],
        harm: ActionHarm::Moderates,
        chat: CHANNEL,
        in_groups: false,
    },
    PlatformAction {
        name: "reaction_create",
        description: "Reacts to a message with an emoji.",
        parameters: &[
            MESSAGE,
            ActionParameter {
                name: "emoji_id",
                kind: "string",
                description: "The emoji, or its id on the platform",
                default: None,
            },
        ],
        harm: ActionHarm::Seen,
        chat: CHANNEL,
        in_groups: false,
    },
    PlatformAction {
        name: "guild_get",
        description: "What this group is called.",
        parameters: &[],
        harm: ActionHarm::None,
        chat: CHANNEL,
        in_groups: true,
    },
    PlatformAction {
        name: "guild_member_list",
        description: "Who is in this group.",
        parameters: &[],
        harm: ActionHarm::None,
        chat: CHANNEL,
        in_groups: true,
    },
    PlatformAction {
        name: "guild_member_get",
        description: "What is known about a member of this group.",
        parameters: &[USER],
        harm: ActionHarm::None,
        chat: CHANNEL,
        in_groups: true,
    },
    PlatformAction {
        name: "user_get",
        description: "What is known about somebody.",
        parameters: &[USER],
        harm: ActionHarm::None,
        chat: CHANNEL,
        in_groups: false,
    },
    PlatformAction {
        name: "message_list",
        description: "The last messages of this chat.",
        parameters: &[ActionParameter {
            name: "limit",
            kind: "integer",
            description: "How many",
            default: Some("20"),
        }],
        harm: ActionHarm::None,
        chat: CHANNEL,
        in_groups: false,
    },
];
