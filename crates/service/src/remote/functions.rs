//! The functions that every remote client of NewAge expects of a server. They are methods like any
//! other, for remote callers only. Compat(newage): names in camel case, and results that say
//! `success` once more inside the ack's own `result`; a failed read is an object, a failed save a
//! text.

use std::sync::Arc;

use callgate_contract::{Effect, Exposure, Kind, Method, MethodError, Value, json as value_json};
use callgate_gate::{Call, Function, method};
use callgate_store::{Store, files::FileError};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value as Json, json};

use super::{
    paths::{BadPath, Paths},
    statics::{Statics, has_one_name},
};

/// Bytes of a document.
const MAX_DOCUMENT: u64 = 8 << 20;

const REMOTE_ONLY: Exposure = Exposure {
    code: false,
    tool_calls: false,
    remote: true,
    plugins: false,
};

/// Prefix of the user that a client without a key acts for.
pub(super) const GUEST: &str = "guest:";

/// All of them, to be registered with the gate.
pub(super) fn all(store: &Store, paths: &Arc<Paths>, statics: &Statics) -> Vec<Arc<dyn Method>> {
    let all = [
        read_json(store.clone(), paths.clone()),
        save_json(store.clone(), paths.clone()),
        add_static(statics.clone()),
    ];
    all.map(|function| Arc::new(function.exposure(REMOTE_ONLY)) as Arc<dyn Method>)
        .into()
}

/// Whatever it is: that it is no text is for the function to say, in its own shape.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ReadArguments {
    /// Relative, or from the root of the folder of remote clients.
    #[serde(default)]
    file_path: Json,
}

fn read_json(store: Store, paths: Arc<Paths>) -> Function {
    let handler = move |call: Call, arguments: ReadArguments| {
        let (store, paths) = (store.clone(), paths.clone());
        async move {
            let read = guest_may_read(&call, &paths, &arguments.file_path)
                .and_then(|name| read(&store, &name));
            value(match read {
                Ok(document) => json!({ "success": true, "result": document }),
                Err(problem) => json!({
                    "success": false,
                    "error": { "message": problem.message, "code": problem.code },
                    // Compat(newage): its extension looks into the document before it looks at
                    // `success`, and without one it never asks to be let in.
                    "result": {},
                }),
            })
        }
    };
    method("readJsonFromFile", Kind::Tool, handler)
        .doc("Read a JSON file of remote clients.")
        .returns("dict", "success, result, and error if it failed.")
        .effect(Effect::Pure)
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Save {
    /// Relative, or from the root of the folder of remote clients.
    #[serde(default)]
    file_path: Json,
    /// The keys to set; others in the file stay.
    #[serde(default)]
    json_data: Json,
}

fn save_json(store: Store, paths: Arc<Paths>) -> Function {
    let handler = move |_: Call, arguments: Save| {
        let (store, paths) = (store.clone(), paths.clone());
        async move {
            value(match save(store, &paths, arguments).await {
                Ok(()) => json!({ "success": true }),
                Err(problem) => json!({ "success": false, "error": problem.message }),
            })
        }
    };
    method("saveJsonToFile", Kind::Tool, handler)
        .doc("Merge keys into a JSON file of remote clients, all at once.")
        .returns("dict", "success, and error if it failed.")
        .effect(Effect::Idempotent)
}

#[derive(Deserialize, JsonSchema)]
struct AddStatic {
    /// Paths of URLs, each with the file or folder to serve there.
    #[serde(default)]
    resources: Json,
}

fn add_static(statics: Statics) -> Function {
    let handler = move |call: Call, arguments: AddStatic| {
        let statics = statics.clone();
        async move {
            value(
                statics
                    .add(&call.caller.principal.user(), arguments.resources)
                    .await,
            )
        }
    };
    method("addStaticResources", Kind::Tool, handler)
        .doc("Serve files or folders of remote clients by HTTP.")
        .returns(
            "dict",
            "success, and results: urlPath, status and message of each.",
        )
        .effect(Effect::Idempotent)
}

fn value(answer: Json) -> Result<Value, MethodError> {
    value_json::from_json(answer).map_err(|error| MethodError::new(error.to_string()))
}

/// A refusal in the words of the file functions.
struct Problem {
    message: String,
    code: &'static str,
}

impl From<BadPath> for Problem {
    fn from(error: BadPath) -> Self {
        Problem {
            message: error.to_string(),
            code: match error {
                BadPath::NotText | BadPath::Empty => "EINVAL",
                BadPath::TooLong => "ENAMETOOLONG",
                _ => "EACCES",
            },
        }
    }
}

impl From<FileError> for Problem {
    fn from(error: FileError) -> Self {
        let code = match &error {
            FileError::NotFound(_) => "ENOENT",
            FileError::NotRegular(_) => "EISDIR",
            FileError::NotFolder(_) => "ENOTDIR",
            FileError::Link(_) => "ELOOP",
            FileError::TooLarge { .. } => "EFBIG",
            FileError::NotJson { .. } => "EJSON",
            FileError::Busy(_) => "EBUSY",
            FileError::Name { .. } | FileError::Outside(_) => "EACCES",
            _ => "EIO",
        };
        Problem {
            message: error.to_string(),
            code,
        }
    }
}

/// A guest reads what the extension asks for before it has a key, and nothing else.
fn guest_may_read(call: &Call, paths: &Paths, path: &Json) -> Result<String, Problem> {
    let name = paths.resolve(path)?;
    let user = call.caller.principal.user();
    let Some(client) = user.strip_prefix(GUEST) else {
        return Ok(name);
    };
    let own = format!("settings/{client}-settings.json");
    if name == own || name == "settings/server_settings.json" {
        Ok(name)
    } else {
        Err(Problem {
            message: "a client without a key may not read this: give it a key, or approve it with \
                      `callgate client approve`"
                .to_owned(),
            code: "EACCES",
        })
    }
}

fn read(store: &Store, name: &str) -> Result<Json, Problem> {
    let folder = store.files().remote();
    let file = folder.open_read(name)?;
    if !has_one_name(&file) {
        return Err(FileError::Link(name.to_owned()).into());
    }
    let bytes = folder.read(name, MAX_DOCUMENT)?;
    serde_json::from_slice(&bytes).map_err(|error| Problem {
        message: format!("'{name}' is not JSON: {error}"),
        code: "EJSON",
    })
}

async fn save(store: Store, paths: &Paths, arguments: Save) -> Result<(), Problem> {
    let name = paths.resolve(&arguments.file_path)?;
    let Json::Object(changes) = arguments.json_data else {
        return Err(Problem {
            message: "only an object can be merged into a file".to_owned(),
            code: "EINVAL",
        });
    };
    merge(store, name, changes).await
}

/// On a thread that may wait for the disk.
async fn merge(store: Store, name: String, changes: Map<String, Json>) -> Result<(), Problem> {
    let runtime = tokio::runtime::Handle::current();
    let merging = tokio::task::spawn_blocking(move || {
        let files = store.files();
        let merging = files.merge_json(files.remote(), &name, changes);
        runtime.block_on(merging).map(drop)
    });
    match merging.await {
        Ok(merged) => Ok(merged?),
        Err(_) => Err(Problem {
            message: "the file could not be written".to_owned(),
            code: "EIO",
        }),
    }
}
