//! What people are told where a budget does not hold what they ask for.

use callgate_contract::Period;

use self::BudgetKey::{Limit, Setting};
use crate::language::Language::{self, Chinese, English};

/// Whose budget it is, and what is limited in it.
#[derive(Clone, Copy)]
pub(crate) struct BudgetName {
    pub(crate) language: Language,
    pub(crate) key: BudgetKey,
    /// How the names of its settings end: `tokens`, `calls`, `seconds` or `money`.
    pub(crate) unit: &'static str,
}

#[derive(Clone, Copy)]
pub(crate) enum BudgetKey {
    /// How the settings begin that hold it: `user_day`, `session_day`, `day`, `conversation` or `turn`.
    Setting(&'static str),
    /// A limit on somebody, or on all whom it is about together.
    Limit { per: Period, together: bool },
}

impl BudgetName {
    fn whose(self) -> &'static str {
        match (self.language, self.key) {
            (English, Setting("user_day")) => "you today",
            (English, Setting("session_day")) => "this chat today",
            (English, Setting("day")) => "everybody today",
            (English, Setting("conversation")) => "this conversation",
            (English, Setting(_)) => "this turn",
            (English, Limit { together: true, .. }) => "everybody here",
            (English, Limit { .. }) => "you",
            (Chinese, Setting("user_day")) => "你今天",
            (Chinese, Setting("session_day")) => "这个聊天今天",
            (Chinese, Setting("day")) => "所有人今天",
            (Chinese, Setting("conversation")) => "这段对话",
            (Chinese, Setting(_)) => "这一轮",
            (Chinese, Limit { together: true, .. }) => "这里所有人",
            (Chinese, Limit { .. }) => "你",
        }
    }

    fn what(self) -> &'static str {
        match (self.language, self.unit) {
            (English, "seconds") => "time",
            (English, unit) => unit,
            (Chinese, "tokens") => "token",
            (Chinese, "calls") => "调用次数",
            (Chinese, "seconds") => "时间",
            (Chinese, _) => "金额",
        }
    }

    fn remedy(self) -> String {
        let remedy = match (self.language, self.key) {
            (English, Setting("conversation")) => "Begin another with /new",
            (English, Setting("turn")) => "Ask for less at once",
            (
                English,
                Limit {
                    per: Period::Minute,
                    ..
                },
            ) => "More can be spent in a minute",
            (
                English,
                Limit {
                    per: Period::Hour, ..
                },
            ) => "More can be spent in the next hour",
            (English, _) => "More can be spent after midnight UTC",
            (Chinese, Setting("conversation")) => "用 /new 开始另一段对话",
            (Chinese, Setting("turn")) => "一次少要求一些",
            (
                Chinese,
                Limit {
                    per: Period::Minute,
                    ..
                },
            ) => "一分钟后又可以使用",
            (
                Chinese,
                Limit {
                    per: Period::Hour, ..
                },
            ) => "下一个小时又可以使用",
            (Chinese, _) => "UTC 零点之后又可以使用",
        };
        match (self.language, self.name()) {
            (English, Some(name)) => format!("{remedy}, or have the operator raise {name}."),
            (Chinese, Some(name)) => format!("{remedy}，或请管理者调高 {name}。"),
            (English, None) => format!("{remedy}, or have the operator raise the limit."),
            (Chinese, None) => format!("{remedy}，或请管理者放宽限制。"),
        }
    }

    /// Of the setting that holds it.
    fn name(self) -> Option<String> {
        match self.key {
            Setting(key) => Some(format!("budget.{key}_{}", self.unit)),
            Limit { .. } => None,
        }
    }
}

pub(crate) fn budget_reached(budget: BudgetName) -> String {
    let (what, whose, remedy) = (budget.what(), budget.whose(), budget.remedy());
    match budget.language {
        English => format!(
            "The budget of {what} for {whose} was used up in the middle of the answer. {remedy}"
        ),
        Chinese => format!("回答到一半，{whose}的{what}预算用完了。{remedy}"),
    }
}

pub(crate) fn budget_too_small(budget: BudgetName, left: &str, takes: &str) -> String {
    let (what, whose, remedy) = (budget.what(), budget.whose(), budget.remedy());
    match budget.language {
        English => format!(
            "The budget of {what} for {whose} has {left} left, and this request could take {takes} \
             with the shortest answer. It was not made. {remedy}"
        ),
        Chinese => format!(
            "{whose}的{what}预算还剩 {left}，而这次请求最短的回答也可能要用 {takes}，所以没有发出。{remedy}"
        ),
    }
}

pub(crate) fn price_unknown(budget: BudgetName, model: &str) -> String {
    let (whose, name) = (budget.whose(), budget.name());
    let name = match (budget.language, name) {
        (_, None) => String::new(),
        (English, Some(name)) => format!(" ({name})"),
        (Chinese, Some(name)) => format!("（{name}）"),
    };
    match budget.language {
        English => format!(
            "The price of the model '{model}' is not known, so it is not asked within the budget of \
             money for {whose}{name}. Have the operator give it a `price` in \
             models.list; one that costs nothing has the price {{ input = 0 }}."
        ),
        Chinese => format!(
            "不知道模型“{model}”的价格，所以在{whose}的金额预算{name}之内不使用它。\
             请管理者在 models.list 里给它写上 `price`；不花钱的模型写 {{ input = 0 }}。"
        ),
    }
}

/// `spent` and the limit are amounts of money; `unpriced` counts requests whose price is not known.
pub(crate) fn budget_used_up(
    budget: BudgetName,
    money: Option<(&str, &str)>,
    unpriced: u64,
) -> String {
    let (what, whose, remedy) = (budget.what(), budget.whose(), budget.remedy());
    match budget.language {
        English => {
            let spent = money.map(|(spent, limit)| format!(": {spent} of {limit} are spent"));
            let unpriced = match (money, unpriced) {
                (None, _) | (_, 0) => String::new(),
                (_, 1) => ", and 1 request whose price is not known".to_owned(),
                (_, count) => format!(", and {count} requests whose price is not known"),
            };
            let spent = spent.unwrap_or_default();
            format!("The budget of {what} for {whose} is used up{spent}{unpriced}. {remedy}")
        }
        Chinese => {
            let spent = money.map(|(spent, limit)| format!("：{limit} 中已花费 {spent}"));
            let unpriced = match (money, unpriced) {
                (None, _) | (_, 0) => String::new(),
                (_, count) => format!("，另有 {count} 次请求不知道价格"),
            };
            let spent = spent.unwrap_or_default();
            format!("{whose}的{what}预算用完了{spent}{unpriced}。{remedy}")
        }
    }
}
