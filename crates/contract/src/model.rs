//! [`Model`]: one request, a stream of events back. What a loop must know of a model and nothing
//! of any provider; retry, keys and wire formats stay behind the trait.

mod about;
mod error;
mod message;
mod models;
mod price;
mod reply;
mod shared;
mod stream;

pub use about::{Embeddings, ModelInfo};
pub use error::ModelError;
pub use message::{
    CallArguments, Messages, ModelMessage, ModelOptions, ModelRequest, ToolCall, ToolChoice,
    ToolSpec,
};
pub use models::{Models, NamedModel};
pub use price::{LongPrice, Price};
pub use reply::{FinishReason, ModelEvent, ModelReply, Usage};
pub use shared::Shared;
pub use stream::ModelStream;

use crate::{BoxFuture, Part};

/// Implement this only for a new wire. An implementation retries what is worth retrying by itself;
/// an error it returns is final for this request.
pub trait Model: Send + Sync {
    /// Resolves once the model has begun to answer. Dropping the future or the stream cancels the
    /// request and closes its connection.
    fn stream(&self, request: ModelRequest) -> BoxFuture<'_, Result<ModelStream, ModelError>>;

    fn accepts(&self) -> Accepts {
        Accepts::default()
    }

    fn about(&self) -> ModelInfo {
        ModelInfo::default()
    }

    /// A vector for each text, so that texts can be compared by meaning. Few models make any.
    fn embed(&self, _texts: Vec<String>) -> BoxFuture<'_, Result<Embeddings, ModelError>> {
        let message = "this model makes no embeddings".to_owned();
        Box::pin(std::future::ready(Err(ModelError::BadRequest { message })))
    }

    /// The whole answer at once.
    fn complete(&self, request: ModelRequest) -> BoxFuture<'_, Result<ModelReply, ModelError>> {
        Box::pin(async move {
            let mut stream = self.stream(request).await?;
            let mut reply = ModelReply::default();
            while let Some(event) = stream.next().await {
                reply.absorb(event?);
            }
            Ok(reply)
        })
    }
}

/// What a model takes besides text.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    serde::Serialize,
    serde::Deserialize,
    schemars::JsonSchema,
)]
#[serde(deny_unknown_fields, default)]
pub struct Accepts {
    pub image: bool,
    pub audio: bool,
}

impl Accepts {
    /// Can the part go to the model, as it is or in words? A video or a file never can.
    pub fn takes(self, part: &Part) -> bool {
        match part {
            Part::Text { .. } | Part::Mention { .. } | Part::Reply { .. } => true,
            Part::Forward { .. } | Part::Face { .. } | Part::Other { .. } => true,
            Part::Image { .. } => self.image,
            Part::Audio { .. } => self.audio,
            Part::Video { .. } | Part::File { .. } => false,
        }
    }
}
