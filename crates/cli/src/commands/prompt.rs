//! `callgate prompt`: what a model would get.

use std::process::ExitCode;

use callgate_agent::Preview;
use callgate_contract::ModelMessage;
use callgate_service::operations::PreviewPrompt;

use super::run::part;

use crate::{
    args::{Common, Prompt},
    connect::Purpose,
    failure::Failure,
    show::{self, Colour, paint},
};

pub async fn perform(common: &Common, prompt: Prompt) -> Result<ExitCode, Failure> {
    let prompt = PreviewPrompt {
        session: prompt.on_behalf.session()?,
        user: Some(prompt.on_behalf.user),
        mode: prompt.mode.map(Into::into),
    };
    let preview = super::call(common, Purpose::Look, prompt).await?;
    common.show(&preview, show_preview);
    Ok(ExitCode::SUCCESS)
}

fn show_preview(preview: &Preview) {
    let request = &preview.request;
    for message in &request.messages {
        let (role, text) = match message {
            ModelMessage::System { text } => ("system", text.clone()),
            ModelMessage::User { parts } => (
                "user",
                parts.iter().map(part).collect::<Vec<_>>().join("\n"),
            ),
            ModelMessage::Assistant {
                text, tool_calls, ..
            } => {
                let calls = tool_calls
                    .iter()
                    .map(|call| format!("[calls {}]", call.name));
                let words = Some(text.clone()).filter(|text| !text.is_empty());
                let lines: Vec<String> = words.into_iter().chain(calls).collect();
                ("assistant", lines.join("\n"))
            }
            ModelMessage::Tool { parts, .. } => (
                "tool",
                parts.iter().map(part).collect::<Vec<_>>().join("\n"),
            ),
        };
        show::line(&paint(Colour::Bold, &format!("--- {role}")));
        show::line(text.trim_end());
    }
    for tool in &request.tools {
        let head = format!("--- tool {}", tool.name);
        show::line(&paint(Colour::Bold, &head));
        show::line(tool.description.trim_end());
        show::line(&tool.parameters.to_string());
    }
    let (messages, tools) = (request.messages.len(), request.tools.len());
    let (model, mode) = (&preview.model, show::word(&preview.mode));
    show::note(&format!(
        "to {model}, mode {mode}: {messages} messages, {tools} tools"
    ));
}
