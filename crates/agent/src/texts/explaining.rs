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
    /// Why it failed; empty where the reader may not know.
    pub(crate) error: Option<String>,
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
    let calls: Vec<String> = told
        .calls
        .iter()
        .map(|call| called(language, call))
        .collect();
    lines.push(match (language, calls.is_empty()) {
        (English, true) => "It called nothing.".to_owned(),
        (English, false) => format!("It called {}.", calls.join(", ")),
        (Chinese, true) => "没有调用任何方法。".to_owned(),
        (Chinese, false) => format!("调用了 {}。", calls.join("、")),
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
    let name = &call.name;
    match (&call.error, language) {
        (None, _) => name.clone(),
        (Some(error), English) if error.is_empty() => format!("{name} (failed)"),
        (Some(error), Chinese) if error.is_empty() => format!("{name}（失败）"),
        (Some(error), English) => format!("{name} (failed: {error})"),
        (Some(error), Chinese) => format!("{name}（失败：{error}）"),
    }
}

pub(super) fn role(language: Language, role: Role) -> &'static str {
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
