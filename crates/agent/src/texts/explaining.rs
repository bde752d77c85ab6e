//! What people are told of why they got the answer they got.

use callgate_contract::Role;

use crate::language::Language::{self, Chinese, English};

pub(crate) struct Explanation {
    pub(crate) asked_by: String,
    /// Who else has spoken in it.
    pub(crate) others: Vec<String>,
    pub(crate) calls: Vec<CalledMethod>,
    /// For administrators.
    pub(crate) inner: Option<Inner>,
}

pub(crate) struct CalledMethod {
    pub(crate) name: String,
    /// As JSON, for administrators.
    pub(crate) arguments: Option<String>,
    /// Why it failed; empty where the reader may not know.
    pub(crate) error: Option<String>,
    pub(crate) decider: Decider,
}

/// By whose word it was made or refused.
pub(crate) enum Decider {
    Default,
    /// A rule or an answer; which one the reader may not know.
    Some,
    Rule {
        id: i64,
        rule: String,
        /// It is an answer that stands.
        is_answer: bool,
        by: Option<String>,
    },
    /// A rule that was there then.
    Removed(i64),
    Configured(String),
    Approval {
        id: i64,
        by: Option<String>,
    },
}

pub(crate) struct Inner {
    pub(crate) principal: String,
    pub(crate) role: Role,
    pub(crate) model: String,
    pub(crate) tokens: u64,
    pub(crate) money: Option<String>,
}

pub(crate) fn why(language: Language, told: &Explanation) -> String {
    let mut lines = Vec::new();
    let asked_by = &told.asked_by;
    lines.push(match language {
        English => format!("The last answer was for {asked_by}."),
        Chinese => format!("上一次回答是给 {asked_by} 的。"),
    });
    if !told.others.is_empty() {
        let others = told.others.join(", ");
        lines.push(match language {
            English => {
                format!("{others} spoke in it too, so it could do only what each of them may.")
            }
            Chinese => format!("{others} 也在其中说了话，所以只做了每个人都可以做的事。"),
        });
    }
    let calls = told.calls.iter().map(|call| called(language, call));
    let calls: Vec<String> = calls.collect();
    lines.push(match (language, calls.is_empty(), &told.inner) {
        (English, true, _) => "It called nothing.".to_owned(),
        (English, false, None) => format!("It called {}.", calls.join(", ")),
        (English, false, Some(_)) => format!("It called:\n{}", calls.join("\n")),
        (Chinese, true, _) => "没有调用任何方法。".to_owned(),
        (Chinese, false, None) => format!("调用了 {}。", calls.join("、")),
        (Chinese, false, Some(_)) => format!("调用了：\n{}", calls.join("\n")),
    });
    if let Some(inner) = &told.inner {
        let Inner {
            principal,
            model,
            tokens,
            ..
        } = inner;
        let role = role(language, inner.role);
        let money = inner.money.as_ref();
        lines.push(match language {
            English => {
                let money = money.map_or_else(String::new, |money| format!(", {money}"));
                format!("It acted for {principal} with the rights of {role}; {model}, {tokens} tokens{money}.")
            }
            Chinese => {
                let money = money.map_or_else(String::new, |money| format!("，{money}"));
                format!("代表 {principal}，以{role}的权限；{model}，{tokens} 个 token{money}。")
            }
        });
    }
    lines.join("\n")
}

fn called(language: Language, call: &CalledMethod) -> String {
    let arguments = call.arguments.as_ref();
    let arguments = arguments.map_or_else(String::new, |arguments| format!(" {arguments}"));
    let failed = call.error.as_ref().map(|error| match language {
        English if error.is_empty() => "failed".to_owned(),
        English => format!("failed: {error}"),
        Chinese if error.is_empty() => "失败".to_owned(),
        Chinese => format!("失败：{error}"),
    });
    let decided = match (&call.decider, arguments.is_empty()) {
        (Decider::Default, true) => None,
        (decider, _) => Some(decided(language, decider)),
    };
    let notes: Vec<String> = decided.into_iter().chain(failed).collect();
    match (language, notes.is_empty()) {
        (_, true) => call.name.clone(),
        (English, false) => format!("{}{arguments} ({})", call.name, notes.join("; ")),
        (Chinese, false) => format!("{}{arguments}（{}）", call.name, notes.join("；")),
    }
}

fn decided(language: Language, decider: &Decider) -> String {
    let by = |by: &Option<String>| match (language, by) {
        (_, None) => String::new(),
        (English, Some(by)) => format!(" by {by}"),
        (Chinese, Some(by)) => format!("，来自 {by}"),
    };
    match (language, decider) {
        (English, Decider::Default) => "by default".to_owned(),
        (English, Decider::Some) => "a rule decided".to_owned(),
        (
            English,
            Decider::Rule {
                id,
                rule,
                is_answer,
                by: who,
            },
        ) => {
            let what = if *is_answer {
                "standing answer"
            } else {
                "rule"
            };
            format!("{what} {id}{}: {rule}", by(who))
        }
        (English, Decider::Removed(id)) => format!("rule {id}, removed since"),
        (English, Decider::Configured(rule)) => format!("callgate.toml: {rule}"),
        (English, Decider::Approval { id, by: who }) => format!("approval {id}{}", by(who)),
        (Chinese, Decider::Default) => "默认".to_owned(),
        (Chinese, Decider::Some) => "由规则决定".to_owned(),
        (
            Chinese,
            Decider::Rule {
                id,
                rule,
                is_answer,
                by: who,
            },
        ) => {
            let what = if *is_answer {
                "已保存的决定"
            } else {
                "规则"
            };
            format!("{what} {id}{}：{rule}", by(who))
        }
        (Chinese, Decider::Removed(id)) => format!("规则 {id}，已被删除"),
        (Chinese, Decider::Configured(rule)) => format!("callgate.toml：{rule}"),
        (Chinese, Decider::Approval { id, by: who }) => format!("审批 {id}{}", by(who)),
    }
}

pub(crate) fn role(language: Language, role: Role) -> &'static str {
    match (role, language) {
        (Role::Guest, English) => "a guest",
        (Role::Member, English) => "a member",
        (Role::Admin, English) => "an administrator",
        (Role::Operator, English) => "the operator",
        (Role::Guest, Chinese) => "访客",
        (Role::Member, Chinese) => "成员",
        (Role::Admin, Chinese) => "管理员",
        (Role::Operator, Chinese) => "运营者",
    }
}

pub(crate) fn nothing_to_explain(language: Language) -> &'static str {
    match language {
        English => "Nothing has been answered here yet.",
        Chinese => "这里还没有回答过什么。",
    }
}
