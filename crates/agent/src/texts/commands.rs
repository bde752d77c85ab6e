//! What chat commands answer.

use crate::language::Language::{self, Chinese, English};

pub(crate) fn help(language: Language) -> &'static str {
    match language {
        English => {
            "/new  begin a new conversation
/reset  forget what was said in this one
/compact  summarise it
/stop  stop what is being done now
/persona [NAME]  show or choose who answers
/model [ID]  show or choose the model
/stats  what this conversation has cost
/why  for whom the last answer was given, and what it called
/approve N [always], /deny N [always]  answer a question: your own, or as an administrator any
/limit  how much may be asked for here
/limit ACCOUNT|here N per minute|hour|day, /limit ACCOUNT|here off  change that (administrators)
/ban ACCOUNT [MINUTES], /unban ACCOUNT  whom nobody answers here (administrators)
/help  this text
In a group, what changes the conversation for everybody is for administrators; /stop stops your own turn."
        }
        Chinese => {
            "/new  开始新的对话
/reset  忘掉这段对话里说过的话
/compact  把它总结一下
/stop  停下正在做的事
/persona [NAME]  查看或选择由谁来回答
/model [ID]  查看或选择模型
/stats  这段对话的花费
/why  上一次回答是给谁的，调用了什么
/approve N [always]、/deny N [always]  回答询问：自己的，管理员可回答任何一个
/limit  这里的限制
/limit ACCOUNT|here N per minute|hour|day、/limit ACCOUNT|here off  设置或取消限制（管理员）
/ban ACCOUNT [MINUTES]、/unban ACCOUNT  封禁和解除封禁（管理员）
/help  显示这些说明
在群里，会影响所有人的命令只有管理员能用；/stop 停下的是你自己的那一轮。"
        }
    }
}

pub(crate) fn administrators_only(language: Language, user: &str) -> String {
    match language {
        English => format!("Only administrators can do that here; {user} is not one."),
        Chinese => format!("这里只有管理员能这样做，{user} 不是管理员。"),
    }
}

pub(crate) fn new_conversation(language: Language) -> &'static str {
    match language {
        English => "A new conversation begins.",
        Chinese => "新的对话开始了。",
    }
}

pub(crate) fn forgotten(language: Language) -> &'static str {
    match language {
        English => "Forgotten.",
        Chinese => "已经忘掉了。",
    }
}

pub(crate) fn summarised(language: Language, done: bool) -> &'static str {
    match (language, done) {
        (English, true) => "Summarised.",
        (English, false) => "There is nothing to summarise yet.",
        (Chinese, true) => "总结好了。",
        (Chinese, false) => "还没有可以总结的内容。",
    }
}

pub(crate) fn stopped(language: Language, done: bool) -> &'static str {
    match (language, done) {
        (English, true) => "Stopped.",
        (English, false) => "Nothing is being done.",
        (Chinese, true) => "停下了。",
        (Chinese, false) => "现在没有在做什么。",
    }
}

pub(crate) fn persona_is(language: Language, now: &str, all: &[String]) -> String {
    let all = all.join(", ");
    match language {
        English => format!("{now} answers. There are: default, {all}"),
        Chinese => format!("现在由 {now} 回答。可选：default, {all}"),
    }
}

pub(crate) fn persona_chosen(language: Language, name: &str) -> String {
    match language {
        English => format!("{name} answers from now on."),
        Chinese => format!("从现在起由 {name} 回答。"),
    }
}

pub(crate) fn model_is(language: Language, now: &str, all: &str) -> String {
    match language {
        English => format!("The model is {now}. There are: {all}"),
        Chinese => format!("现在的模型是 {now}。可选：{all}"),
    }
}

pub(crate) fn no_model(language: Language, id: &str, all: &str) -> String {
    match language {
        English => format!("There is no model '{id}'. There are: {all}"),
        Chinese => format!("没有名为“{id}”的模型。可选：{all}"),
    }
}

pub(crate) fn model_chosen(language: Language, id: &str) -> String {
    match language {
        English => format!("The model is {id} from now on."),
        Chinese => format!("从现在起使用模型 {id}。"),
    }
}

pub(crate) fn which_approval(language: Language) -> &'static str {
    match language {
        English => "Say which one: /approve N or /deny N. The question names its number.",
        Chinese => "请说明是哪一个：/approve N 或 /deny N。编号写在询问里。",
    }
}

pub(crate) fn answered(language: Language, allowed: bool) -> &'static str {
    match (language, allowed) {
        (English, true) => "Allowed.",
        (English, false) => "Denied.",
        (Chinese, true) => "已允许。",
        (Chinese, false) => "已拒绝。",
    }
}

/// What a conversation has cost; `money` is empty where no price was known.
pub(crate) struct Cost<'a> {
    pub(crate) tokens_in: u64,
    pub(crate) tokens_out: u64,
    pub(crate) calls: u64,
    pub(crate) seconds: f64,
    pub(crate) money: Option<&'a str>,
    /// There were requests whose price was not known.
    pub(crate) at_least: bool,
}

pub(crate) fn cost(language: Language, cost: &Cost<'_>) -> String {
    let Cost {
        tokens_in,
        tokens_out,
        calls,
        seconds,
        ..
    } = cost;
    match language {
        English => {
            let money = match (cost.money, cost.at_least) {
                (None, _) => String::new(),
                (Some(money), false) => format!(", {money} spent"),
                (Some(money), true) => format!(", at least {money} spent"),
            };
            format!(
                "This conversation: {tokens_in} tokens in, {tokens_out} out, {calls} calls, \
                 {seconds:.0} s{money}."
            )
        }
        Chinese => {
            let money = match (cost.money, cost.at_least) {
                (None, _) => String::new(),
                (Some(money), false) => format!("，花费 {money}"),
                (Some(money), true) => format!("，至少花费 {money}"),
            };
            format!(
                "这段对话：输入 {tokens_in} token，输出 {tokens_out} token，调用 {calls} 次，\
                 用时 {seconds:.0} 秒{money}。"
            )
        }
    }
}
