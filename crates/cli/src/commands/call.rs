//! `callgate call`: one method, called by hand.

use std::process::ExitCode;

use callgate_service::operations::CallMethod;
use serde_json::Value as Json;

use crate::{
    args::{CallArguments, Common},
    connect::Purpose,
    failure::Failure,
    show,
};

pub async fn perform(common: &Common, call: CallArguments) -> Result<ExitCode, Failure> {
    let arguments = serde_json::from_str(&call.args).map_err(|error| {
        Failure::new(
            format!("--args is not JSON: {error}"),
            "for example --args '{\"text\": \"hello\"}' or --args '[\"hello\"]'",
        )
    })?;
    let call = CallMethod {
        name: call.method,
        arguments,
        session: Some(call.on_behalf.session()?),
        user: Some(call.on_behalf.user),
    };
    let result = super::call(common, Purpose::Work, call).await?;
    common.show(&result, |result| show::line(&readable(&result.value)));
    Ok(ExitCode::SUCCESS)
}

/// Text as it is, anything else as JSON.
pub fn readable(value: &Json) -> String {
    match value {
        Json::String(text) => text.clone(),
        other => serde_json::to_string_pretty(other).unwrap_or_default(),
    }
}
