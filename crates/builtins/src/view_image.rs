//! `view_image`: an image into the context. What it is, is told by its first bytes and never by
//! its name.

use base64::{Engine, prelude::BASE64_STANDARD};
use callgate_contract::{Effect, Kind, MethodError, Value, media_type};
use callgate_gate::{Call, Function};
use callgate_store::Store;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::session::{failed, folders};

/// Bytes. Written as base64 it still fits a frame.
const MAX_IMAGE: usize = 5 << 20;

#[derive(Deserialize, JsonSchema)]
struct ViewImage {
    /// An image under /app/shared or /app/uploads, or a data URL.
    path: String,
}

pub(crate) fn method(store: Store) -> Function {
    let handler = move |call, arguments| view_image(store.clone(), call, arguments);
    callgate_gate::method("view_image", Kind::MultimodalAgent, handler)
        .doc(
            "Look at an image yourself: your code ends here, and the image is shown to you. PNG, \
             JPEG, GIF and WebP up to 5 MB; make larger ones smaller first.",
        )
        .returns(
            "list[dict]",
            "A text part that names the image, and the image.",
        )
        .example("view_image(\"/app/shared/chart.png\")")
        .effect(Effect::Pure)
        .untrusted()
}

async fn view_image(store: Store, call: Call, arguments: ViewImage) -> Result<Value, MethodError> {
    let (name, bytes) = match arguments.path.strip_prefix("data:") {
        Some(data) => ("the image given", from_data_url(data)?),
        None => {
            let path = arguments.path.as_str();
            let folders = folders(&store, &call).await?;
            let (folder, relative) = folders.resolve(path).map_err(failed)?;
            (
                path,
                folder.read(relative, MAX_IMAGE as u64).map_err(failed)?,
            )
        }
    };
    let kind = image_type(&bytes)
        .ok_or_else(|| MethodError::new(format!("{name} is not a PNG, JPEG, GIF or WebP image")))?;
    let caption = format!("{name} ({kind}, {} bytes)", bytes.len());
    let url = format!("data:{kind};base64,{}", BASE64_STANDARD.encode(&bytes));
    Ok(Value::List(vec![
        part([("type", "text"), ("text", &caption)]),
        part([("type", "image"), ("url", &url)]),
    ]))
}

fn part<const N: usize>(entries: [(&str, &str); N]) -> Value {
    let entries = entries.into_iter();
    Value::Dict(
        entries
            .map(|(key, value)| (key.into(), value.into()))
            .collect(),
    )
}

/// The bytes after `data:`. The media type it claims is not believed.
fn from_data_url(data: &str) -> Result<Vec<u8>, MethodError> {
    let broken = || MethodError::new("the data URL must be data:image/...;base64,...");
    let (head, body) = data.split_once(',').ok_or_else(broken)?;
    if !head.ends_with(";base64") {
        return Err(broken());
    }
    if body.len() > MAX_IMAGE.div_ceil(3) * 4 {
        return Err(MethodError::new("the image is larger than 5 MB"));
    }
    BASE64_STANDARD.decode(body.trim()).map_err(|_| broken())
}

/// The media type of an image.
pub(crate) fn image_type(bytes: &[u8]) -> Option<&'static str> {
    media_type(bytes).filter(|kind| kind.starts_with("image/"))
}
