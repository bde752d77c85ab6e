//! `callgate call`: one method, called by hand.

use std::process::ExitCode;

use callgate_contract::Role;
use serde_json::Value as Json;

use callgate_service::request::{CallMethod, Request};

use crate::{
    args::{Call, Common},
    connect::Purpose,
    failure::Failure,
    show,
};

pub async fn perform(common: &Common, call: Call) -> Result<ExitCode, Failure> {
    let arguments = serde_json::from_str(&call.args).map_err(|error| {
        Failure::new(
            format!("--args is not JSON: {error}"),
            "for example --args '{\"text\": \"hello\"}' or --args '[\"hello\"]'",
        )
    })?;
    let session = call.on_behalf.session()?;
    let request = Request::Call(CallMethod {
        method: call.method,
        arguments,
        session,
        user: call.on_behalf.user,
        role: Role::Operator,
    });
    let answer = super::ask(common, Purpose::Work, request).await?;
    if common.json {
        show::json(&answer)
    } else {
        show::line(&readable(&answer["value"]))
    }
    Ok(ExitCode::SUCCESS)
}

/// Text as it is, anything else as JSON.
pub fn readable(value: &Json) -> String {
    match value {
        Json::String(text) => text.clone(),
        other => serde_json::to_string_pretty(other).unwrap_or_default(),
    }
}
