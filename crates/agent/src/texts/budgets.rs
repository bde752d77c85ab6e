//! What people are told where a budget does not hold what they ask for.

use crate::language::Language::{self, Chinese, English};

/// Whose budget it is, and what is limited in it, by the names of its settings.
#[derive(Clone, Copy)]
pub(crate) struct BudgetName {
    pub(crate) language: Language,
    /// How the settings begin that hold it: `user_day`, `session_day`, `day`, `conversation` or `turn`.
    pub(crate) key: &'static str,
    /// How they end: `tokens`, `calls`, `seconds` or `money`.
    pub(crate) unit: &'static str,
}

impl BudgetName {
    fn whose(self) -> &'static str {
        match (self.language, self.key) {
            (English, "user_day") => "you today",
            (English, "session_day") => "this chat today",
            (English, "day") => "everybody today",
            (English, "conversation") => "this conversation",
            (English, _) => "this turn",
            (Chinese, "user_day") => "你今天",
            (Chinese, "session_day") => "这个聊天今天",
            (Chinese, "day") => "所有人今天",
            (Chinese, "conversation") => "这段对话",
            (Chinese, _) => "这一轮",
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
        let (key, unit) = (self.key, self.unit);
        let remedy = match (self.language, key) {
            (English, "conversation") => "Begin another with /new",
            (English, "turn") => "Ask for less at once",
            (English, _) => "More can be spent after midnight UTC",
            (Chinese, "conversation") => "用 /new 开始另一段对话",
            (Chinese, "turn") => "一次少要求一些",
            (Chinese, _) => "UTC 零点之后又可以使用",
        };
        match self.language {
            English => format!("{remedy}, or have the operator raise budget.{key}_{unit}."),
            Chinese => format!("{remedy}，或请管理者调高 budget.{key}_{unit}。"),
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
    let (whose, key) = (budget.whose(), budget.key);
    match budget.language {
        English => format!(
            "The price of the model '{model}' is not known, so it is not asked within the budget of \
             money for {whose} (budget.{key}_money). Have the operator give it a `price` in \
             models.list; one that costs nothing has the price {{ input = 0 }}."
        ),
        Chinese => format!(
            "不知道模型“{model}”的价格，所以在{whose}的金额预算（budget.{key}_money）之内不使用它。\
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
