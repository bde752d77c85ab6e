//! What people are told of limits: whoever meets one, and whoever sets them.

use callgate_contract::{Limit, Period};

use crate::language::Language::{self, Chinese, English};

/// What is used up.
pub(crate) enum Bounded {
    /// None at all is a ban.
    Messages(u64),
    Tokens(u64),
    Money(String),
}

/// To whoever meets a limit. `ends` is when there is more, if ever.
pub(crate) fn limited(
    language: Language,
    bounded: &Bounded,
    limit: &Limit,
    ends: Option<&str>,
) -> String {
    let per = per(language, limit.per);
    let said = match (language, bounded, limit.together) {
        (English, Bounded::Messages(0), _) => "You are not answered here.".to_owned(),
        (English, Bounded::Messages(count), false) => {
            format!("I answer up to {count} of your messages {per}, and they are used up.")
        }
        (English, Bounded::Messages(count), true) => {
            format!("I answer up to {count} messages {per} here, and they are used up.")
        }
        (English, Bounded::Tokens(count), false) => {
            format!("You have {count} tokens {per}, and they are used up.")
        }
        (English, Bounded::Tokens(count), true) => {
            format!("There are {count} tokens {per} here, and they are used up.")
        }
        (English, Bounded::Money(money), false) => {
            format!("You can spend {money} {per}, and it is used up.")
        }
        (English, Bounded::Money(money), true) => {
            format!("{money} {per} can be spent here, and it is used up.")
        }
        (Chinese, Bounded::Messages(0), _) => "这里不回答你。".to_owned(),
        (Chinese, Bounded::Messages(count), false) => {
            format!("{per}最多回答你 {count} 条消息，已经用完了。")
        }
        (Chinese, Bounded::Messages(count), true) => {
            format!("这里{per}最多回答 {count} 条消息，已经用完了。")
        }
        (Chinese, Bounded::Tokens(count), false) => {
            format!("你{per}有 {count} 个 token，已经用完了。")
        }
        (Chinese, Bounded::Tokens(count), true) => {
            format!("这里{per}有 {count} 个 token，已经用完了。")
        }
        (Chinese, Bounded::Money(money), false) => {
            format!("你{per}可以花费 {money}，已经用完了。")
        }
        (Chinese, Bounded::Money(money), true) => {
            format!("这里{per}可以花费 {money}，已经用完了。")
        }
    };
    match (language, ends) {
        (_, None) => said,
        (English, Some(ends)) => format!("{said} I answer again from {ends} on."),
        (Chinese, Some(ends)) => format!("{said}{ends} 起恢复回答。"),
    }
}

fn per(language: Language, period: Period) -> &'static str {
    match (language, period) {
        (English, Period::Minute) => "a minute",
        (English, Period::Hour) => "an hour",
        (English, Period::Day) => "a day",
        (Chinese, Period::Minute) => "每分钟",
        (Chinese, Period::Hour) => "每小时",
        (Chinese, Period::Day) => "每天",
    }
}

/// To whoever set one by a command. `whom` is an account; `None` is everybody in the chat together.
pub(crate) fn limit_set(language: Language, whom: Option<&str>, limit: &Limit) -> String {
    let (amounts, per) = (amounts(language, limit), per(language, limit.per));
    match (language, whom) {
        (English, Some(whom)) => format!("{whom} has {amounts} {per} here."),
        (English, None) => format!("This chat has {amounts} {per}."),
        (Chinese, Some(whom)) => format!("{whom} 在这里{per}有 {amounts}。"),
        (Chinese, None) => format!("这个聊天{per}有 {amounts}。"),
    }
}

pub(crate) fn limits_removed(language: Language, whom: Option<&str>, were: usize) -> String {
    match (language, whom, were) {
        (English, Some(whom), 0) => format!("{whom} had no limit here."),
        (English, None, 0) => "This chat had no limit.".to_owned(),
        (English, Some(whom), _) => format!("{whom} has no limit here any more."),
        (English, None, _) => "This chat has no limit any more.".to_owned(),
        (Chinese, Some(whom), 0) => format!("{whom} 在这里没有限制。"),
        (Chinese, None, 0) => "这个聊天没有限制。".to_owned(),
        (Chinese, Some(whom), _) => format!("{whom} 在这里不再有限制。"),
        (Chinese, None, _) => "这个聊天不再有限制。".to_owned(),
    }
}

/// Each in a line.
pub(crate) fn all_limits(language: Language, limits: &[&Limit]) -> String {
    let line = |limit: &&Limit| {
        let (whom, per) = (whom(language, limit), per(language, limit.per));
        let until = limit
            .until
            .map(|until| until.strftime("%Y-%m-%d %H:%M UTC").to_string());
        let until = match (language, until) {
            (_, None) => String::new(),
            (English, Some(until)) => format!(" until {until}"),
            (Chinese, Some(until)) => format!("，直到 {until}"),
        };
        match (language, limit.is_ban()) {
            (English, true) => format!("{whom}: not answered{until}"),
            (Chinese, true) => format!("{whom}：不回答{until}"),
            (English, false) => format!("{whom}: {} {per}{until}", amounts(language, limit)),
            (Chinese, false) => format!("{whom}：{per} {}{until}", amounts(language, limit)),
        }
    };
    if limits.is_empty() {
        return match language {
            English => "There are no limits here.".to_owned(),
            Chinese => "这里没有限制。".to_owned(),
        };
    }
    limits.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn whom(language: Language, limit: &Limit) -> String {
    let named = limit.person.as_ref().map(ToString::to_string);
    let named = named.or_else(|| limit.key.as_ref().map(|key| format!("key:{key}")));
    let role = limit.role.map(|role| super::role(language, role));
    let everybody = match (language, limit.together) {
        (English, true) => "together",
        (English, false) => "everybody",
        (Chinese, true) => "所有人合计",
        (Chinese, false) => "每个人",
    };
    named.unwrap_or_else(|| role.unwrap_or(everybody).to_owned())
}

fn amounts(language: Language, limit: &Limit) -> String {
    let messages = limit.messages.map(|count| match language {
        English if count == 1 => "1 message".to_owned(),
        English => format!("{count} messages"),
        Chinese => format!("{count} 条消息"),
    });
    let tokens = limit.tokens.map(|count| match language {
        English => format!("{count} tokens"),
        Chinese => format!("{count} 个 token"),
    });
    let money = limit.millionths().map(|money| match language {
        English => format!("{} to spend", crate::amount(money)),
        Chinese => format!("{} 的花费", crate::amount(money)),
    });
    let all: Vec<String> = [messages, tokens, money].into_iter().flatten().collect();
    all.join(match language {
        English => ", ",
        Chinese => "、",
    })
}

pub(crate) fn how_to_limit(language: Language) -> &'static str {
    match language {
        English => {
            "Write /limit ACCOUNT 20 per hour, or here for the whole chat; minute, hour or day; \
             tokens or money after the number where it is not messages; off takes it back."
        }
        Chinese => {
            "写法：/limit ACCOUNT 20 per hour，整个聊天用 here；minute、hour 或 day；\
             数字后面加 tokens 或 money 就不是消息数；off 取消。"
        }
    }
}

pub(crate) fn how_to_ban(language: Language) -> &'static str {
    match language {
        English => "Write /ban ACCOUNT, or /ban ACCOUNT MINUTES.",
        Chinese => "写法：/ban ACCOUNT，或 /ban ACCOUNT MINUTES。",
    }
}

pub(crate) fn banned(language: Language, account: &str, minutes: Option<u32>) -> String {
    match (language, minutes) {
        (English, None) => {
            format!("{account} is not answered here any more. /unban {account} takes it back.")
        }
        (English, Some(minutes)) => {
            format!("{account} is not answered here for {minutes} minutes.")
        }
        (Chinese, None) => format!("这里不再回答 {account}。用 /unban {account} 解除。"),
        (Chinese, Some(minutes)) => format!("{minutes} 分钟内这里不回答 {account}。"),
    }
}

pub(crate) fn not_banned(language: Language, account: &str) -> String {
    match language {
        English => format!("{account} is an administrator and cannot be banned."),
        Chinese => format!("{account} 是管理员，不能封禁。"),
    }
}

pub(crate) fn unbanned(language: Language, account: &str, was_banned: bool) -> String {
    match (language, was_banned) {
        (English, true) => format!("{account} is answered again."),
        (English, false) => format!("{account} was not banned here."),
        (Chinese, true) => format!("重新回答 {account}。"),
        (Chinese, false) => format!("{account} 在这里没有被封禁。"),
    }
}

pub(crate) fn all_banned(language: Language, accounts: &str) -> String {
    match (language, accounts.is_empty()) {
        (English, true) => {
            "Nobody is banned here. /ban ACCOUNT [MINUTES] bans somebody.".to_owned()
        }
        (English, false) => format!("Banned here: {accounts}"),
        (Chinese, true) => "这里没有人被封禁。/ban ACCOUNT [MINUTES] 可以封禁。".to_owned(),
        (Chinese, false) => format!("这里被封禁的有：{accounts}"),
    }
}
