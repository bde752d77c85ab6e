//! What people are told when a model gives no answer: what happened, and what to do. The provider's own words are for
//! whoever looks after the model: they are in the log, and in the turn's report.

use std::time::Duration;

use callgate_contract::ModelError;

use crate::language::Language::{self, Chinese, English};

pub(crate) fn model_failed(language: Language, error: &ModelError) -> String {
    match language {
        English => format!("The model could not answer: {}", in_english(error)),
        Chinese => format!("模型没能回答：{}", in_chinese(error)),
    }
}

fn in_english(error: &ModelError) -> String {
    match error {
        ModelError::RateLimited { retry_after, .. } => {
            let when = match seconds(*retry_after) {
                Some(seconds) => format!("in {seconds} s"),
                None => "in a minute".to_owned(),
            };
            format!("it is asked too often right now. Please try again {when}.")
        }
        ModelError::ContextLength { .. } => {
            "this conversation has become too long for it. /compact shortens it, /new begins another.".to_owned()
        }
        ModelError::Credits { .. } => {
            "its account has no credit left. Whoever runs this has to top it up, or choose another model.".to_owned()
        }
        ModelError::Auth { .. } => {
            "its provider does not accept the key. Whoever runs this has to enter a valid one.".to_owned()
        }
        ModelError::BadRequest { .. } => {
            "its provider does not accept the request. Whoever runs this should look at the model's settings; /model chooses another.".to_owned()
        }
        ModelError::Server { retry_after, .. } => {
            let when = match seconds(*retry_after) {
                Some(seconds) => format!("in {seconds} s"),
                None => "in a moment".to_owned(),
            };
            format!("its provider has a failure of its own. Please try again {when}.")
        }
        ModelError::CutStream => "the connection to it broke off. Please try again.".to_owned(),
        ModelError::Timeout { read_timeout } => format!(
            "it said nothing for {} s. Please try again, or choose another with /model.",
            read_timeout.as_secs()
        ),
        ModelError::Unreachable { .. } => {
            "its server cannot be reached. Please try again in a moment; if this goes on, whoever runs this has to look at it.".to_owned()
        }
        ModelError::Malformed { .. } => {
            "its server answers in a way that is not understood. Whoever runs this should look at the model's settings.".to_owned()
        }
        ModelError::Exhausted { message } => message.clone(),
    }
}

fn in_chinese(error: &ModelError) -> String {
    match error {
        ModelError::RateLimited { retry_after, .. } => match seconds(*retry_after) {
            Some(seconds) => format!("现在问得太频繁了。请过 {seconds} 秒再试。"),
            None => "现在问得太频繁了。请过一分钟再试。".to_owned(),
        },
        ModelError::ContextLength { .. } => {
            "这段对话对它来说太长了。/compact 可以压缩，/new 可以重新开始。".to_owned()
        }
        ModelError::Credits { .. } => {
            "它的账户余额用完了。需要管理者充值，或换一个模型。".to_owned()
        }
        ModelError::Auth { .. } => "它的服务商不接受密钥。需要管理者填写有效的密钥。".to_owned(),
        ModelError::BadRequest { .. } => {
            "它的服务商不接受这个请求。需要管理者检查模型的设置；/model 可以换一个模型。".to_owned()
        }
        ModelError::Server { retry_after, .. } => match seconds(*retry_after) {
            Some(seconds) => format!("它的服务商出了故障。请过 {seconds} 秒再试。"),
            None => "它的服务商出了故障。请稍后再试。".to_owned(),
        },
        ModelError::CutStream => "与它的连接中断了。请再试一次。".to_owned(),
        ModelError::Timeout { read_timeout } => format!(
            "它有 {} 秒没有说话。请再试一次，或用 /model 换一个模型。",
            read_timeout.as_secs()
        ),
        ModelError::Unreachable { .. } => {
            "连不上它的服务器。请稍后再试；如果一直这样，需要管理者看一看。".to_owned()
        }
        ModelError::Malformed { .. } => {
            "它的服务器给出了无法理解的回答。需要管理者检查模型的设置。".to_owned()
        }
        ModelError::Exhausted { message } => message.clone(),
    }
}

/// Whole ones, and never too few.
fn seconds(wait: Option<Duration>) -> Option<u64> {
    let wait = wait?;
    let begun = u64::from(wait.subsec_nanos() > 0);
    Some(wait.as_secs() + begun).filter(|seconds| *seconds > 0)
}
