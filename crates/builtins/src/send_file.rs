//! `send_file`: a file of the session into its outbox. The file stays where it is; the message
//! carries its path.

use callgate_contract::{Change, Effect, Kind, Message, MethodError, Part, Reply, Value};
use callgate_gate::{Call, Function};
use callgate_store::{Store, files::EntryKind};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::session::{failed, folders};

#[derive(Deserialize, JsonSchema)]
struct SendFile {
    /// A file under /app/shared or /app/uploads.
    path: String,
    /// The name people will see; the file's own if left out.
    name: Option<String>,
}

pub(crate) fn method(store: Store) -> Function {
    let handler = move |call, arguments| send_file(store.clone(), call, arguments);
    callgate_gate::method("send_file", Kind::Tool, handler)
        .doc(
            "Send a file to this chat: a chart you drew, a table you wrote. Write it under \
             /app/shared first.",
        )
        .returns(
            "None",
            "Nothing. The file is queued and will be delivered in order.",
        )
        .example("send_file(\"/app/shared/chart.png\", name=\"Sales in May.png\")")
        .effect(Effect::Rows)
}

async fn send_file(store: Store, call: Call, arguments: SendFile) -> Result<Reply, MethodError> {
    let folders = folders(&store, &call).await?;
    let (folder, relative) = folders.resolve(&arguments.path).map_err(failed)?;
    let entry = folder.metadata(relative).map_err(failed)?;
    if entry.kind != EntryKind::File {
        return Err(MethodError::new(format!(
            "'{}' is not a file",
            arguments.path
        )));
    }
    let name = arguments.name.unwrap_or(entry.name);
    if !is_display_name(&name) {
        return Err(MethodError::new(format!(
            "'{name}' cannot be a file's name: 1 to 255 bytes, no '/' and no control characters"
        )));
    }
    let path = arguments
        .path
        .strip_prefix("/app/")
        .unwrap_or(&arguments.path);
    let file = Part::File {
        name,
        url: format!("/app/{path}"),
    };
    let message = Message {
        session: call.caller.session,
        parts: vec![file],
    };
    Ok(Reply {
        value: Value::Null,
        changes: vec![Change::Send { message }],
    })
}

fn is_display_name(name: &str) -> bool {
    (1..=255).contains(&name.len()) && !name.chars().any(|c| c == '/' || c.is_control())
}
