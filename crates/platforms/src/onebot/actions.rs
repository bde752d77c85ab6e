//! What may be offered to an AI of OneBot's actions. Plugins have all of them.

use crate::action::{ActionHarm, ActionParameter, PlatformAction};

pub(super) const ACTIONS: &[PlatformAction] = &[
    PlatformAction {
        name: "set_group_ban",
        description: "Mutes a member of this group.",
        parameters: &[
            ActionParameter {
                name: "user_id",
                kind: "string",
                description: "The member's account",
                default: None,
            },
            ActionParameter {
                name: "duration",
                kind: "integer",
                description: "Seconds; 0 unmutes",
                default: Some("600"),
            },
        ],
        harm: ActionHarm::Moderates,
        in_groups: true,
    },
    PlatformAction {
        name: "set_group_kick",
        description: "Removes a member from this group.",
        parameters: &[
            ActionParameter {
                name: "user_id",
                kind: "string",
                description: "The member's account",
                default: None,
            },
            ActionParameter {
                name: "reject_add_request",
                kind: "boolean",
                description: "Also refuse to let them in again",
                default: Some("false"),
            },
        ],
        harm: ActionHarm::Moderates,
        in_groups: true,
    },
    PlatformAction {
        name: "set_group_whole_ban",
        description: "Mutes or unmutes everybody in this group.",
        parameters: &[ActionParameter {
            name: "enable",
            kind: "boolean",
            description: "False unmutes",
            default: Some("true"),
        }],
        harm: ActionHarm::Moderates,
        in_groups: true,
    },
    PlatformAction {
        name: "set_group_card",
        description: "Sets what a member is called in this group.",
        parameters: &[
            ActionParameter {
                name: "user_id",
                kind: "string",
                description: "The member's account",
                default: None,
            },
            ActionParameter {
                name: "card",
                kind: "string",
                description: "The new name; empty for none",
                default: None,
            },
        ],
        harm: ActionHarm::Moderates,
        in_groups: true,
    },
    PlatformAction {
        name: "set_group_special_title",
        description: "Gives a member of this group a title.",
        parameters: &[
            ActionParameter {
                name: "user_id",
                kind: "string",
                description: "The member's account",
                default: None,
            },
            ActionParameter {
                name: "special_title",
                kind: "string",
                description: "The title; empty for none",
                default: None,
            },
        ],
        harm: ActionHarm::Moderates,
        in_groups: true,
    },
    PlatformAction {
        name: "set_group_name",
        description: "Renames this group.",
        parameters: &[ActionParameter {
            name: "group_name",
            kind: "string",
            description: "The new name",
            default: None,
        }],
        harm: ActionHarm::Moderates,
        in_groups: true,
    },
    PlatformAction {
        name: "delete_msg",
        description: "Takes back a message.",
        parameters: &[ActionParameter {
            name: "message_id",
            kind: "string",
            description: "The message's id on the platform",
            default: None,
        }],
        harm: ActionHarm::Moderates,
        in_groups: false,
    },
    PlatformAction {
        name: "set_essence_msg",
        description: "Pins a message of this group.",
        parameters: &[ActionParameter {
            name: "message_id",
            kind: "string",
            description: "The message's id on the platform",
            default: None,
        }],
        harm: ActionHarm::Moderates,
        in_groups: true,
    },
    PlatformAction {
        name: "set_msg_emoji_like",
        description: "Reacts to a message with one of the platform's faces.",
        parameters: &[
            ActionParameter {
                name: "message_id",
                kind: "string",
                description: "The message's id on the platform",
                default: None,
            },
            ActionParameter {
                name: "emoji_id",
                kind: "string",
                description: "The face's number",
                default: None,
            },
        ],
        harm: ActionHarm::Seen,
        in_groups: false,
    },
    PlatformAction {
        name: "group_poke",
        description: "Pokes a member of this group.",
        parameters: &[ActionParameter {
            name: "user_id",
            kind: "string",
            description: "The member's account",
            default: None,
        }],
        harm: ActionHarm::Seen,
        in_groups: true,
    },
    PlatformAction {
        name: "get_group_info",
        description: "What this group is called and how many are in it.",
        parameters: &[],
        harm: ActionHarm::None,
        in_groups: true,
    },
    PlatformAction {
        name: "get_group_member_list",
        description: "Who is in this group.",
        parameters: &[],
        harm: ActionHarm::None,
        in_groups: true,
    },
    PlatformAction {
        name: "get_group_member_info",
        description: "What is known about a member of this group.",
        parameters: &[ActionParameter {
            name: "user_id",
            kind: "string",
            description: "The member's account",
            default: None,
        }],
        harm: ActionHarm::None,
        in_groups: true,
    },
    PlatformAction {
        name: "get_stranger_info",
        description: "What is known about somebody.",
        parameters: &[ActionParameter {
            name: "user_id",
            kind: "string",
            description: "The member's account",
            default: None,
        }],
        harm: ActionHarm::None,
        in_groups: false,
    },
    PlatformAction {
        name: "get_group_msg_history",
        description: "The last messages of this group.",
        parameters: &[ActionParameter {
            name: "count",
            kind: "integer",
            description: "How many",
            default: Some("20"),
        }],
        harm: ActionHarm::None,
        in_groups: true,
    },
];
