//! `read_file`: the text of a file into the context, a page at a time.

use callgate_contract::{Effect, Kind, MethodError};
use callgate_gate::{Call, Function};
use callgate_store::Store;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    pages::page,
    session::{failed, folders},
    view_image::image_type,
};

/// Bytes. Larger files are for code to work through.
const MAX_FILE: u64 = 32 << 20;

#[derive(Deserialize, JsonSchema)]
struct ReadFile {
    /// A text file under /app/shared or /app/uploads.
    path: String,
    /// Which page of a long file, from 1.
    #[serde(default = "first")]
    #[schemars(range(min = 1))]
    page: u64,
}

fn first() -> u64 {
    1
}

pub(crate) fn method(store: Store) -> Function {
    let handler = move |call, arguments| read_file(store.clone(), call, arguments);
    callgate_gate::method("read_file", Kind::Agent, handler)
        .doc(
            "Read a text file yourself: your code ends here, and its text is shown to you so that \
             you can think about it. To work on a file in code, use open() instead.",
        )
        .returns(
            "str",
            "The page's text, under a line that says which page of how many it is.",
        )
        .example("read_file(\"/app/uploads/contract.txt\")")
        .effect(Effect::Pure)
        .untrusted()
}

async fn read_file(store: Store, call: Call, arguments: ReadFile) -> Result<String, MethodError> {
    let path = arguments.path.as_str();
    let folders = folders(&store, &call).await?;
    let (folder, relative) = folders.resolve(path).map_err(failed)?;
    let bytes = folder.read(relative, MAX_FILE).map_err(failed)?;
    let text = String::from_utf8(bytes).map_err(|error| not_text(path, error.as_bytes()))?;
    let text = text.strip_prefix('\u{FEFF}').unwrap_or(&text);
    page("read_file", path, path, text, arguments.page)
}

fn not_text(path: &str, bytes: &[u8]) -> MethodError {
    MethodError::new(match image_type(bytes) {
        Some(_) => format!("'{path}' is an image, not text: call view_image({path:?})"),
        None => format!(
            "'{path}' is not UTF-8 text: open it in code, with the right encoding or library"
        ),
    })
}
