//! [`Fallback`]: a model made of several. The next is asked when one fails for good before its
//! first word; an answer that has begun is never given to another.

use std::collections::VecDeque;

use callgate_contract::{
    Accepts, BoxFuture, Embeddings, Model, ModelError, ModelEvent, ModelInfo, ModelMessage,
    ModelRequest, ModelStream, NamedModel, Part,
};

use crate::parts::words;

#[derive(Debug)]
pub struct Fallback {
    first: NamedModel,
    others: Vec<NamedModel>,
}

impl Fallback {
    pub fn new(first: NamedModel, others: Vec<NamedModel>) -> Self {
        Fallback { first, others }
    }

    async fn begin(&self, request: ModelRequest) -> Result<ModelStream, ModelError> {
        let mut error = match begun(&self.first, request.clone()).await {
            Ok(stream) => return Ok(stream.resumed(None)),
            Err(error) => error,
        };
        let mut failed = &self.first;
        for next in &self.others {
            // Shortening helps, and is cheaper than another model.
            if let ModelError::ContextLength { .. } = error {
                break;
            }
            tracing::warn!(model = failed.id, next = next.id, %error, "model failed; asking the fallback");
            match begun(next, fitted(request.clone(), next.model.accepts())).await {
                Ok(stream) => return Ok(stream.resumed(Some(next.id.clone()))),
                Err(another) => (error, failed) = (another, next),
            }
        }
        Err(error)
    }
}

/// An answer of which something has arrived.
struct StartedStream {
    first: ModelEvent,
    rest: ModelStream,
}

async fn begun(model: &NamedModel, request: ModelRequest) -> Result<StartedStream, ModelError> {
    let mut rest = model.model.stream(request).await?;
    let first = rest.next().await.unwrap_or(Err(ModelError::CutStream))?;
    Ok(StartedStream { first, rest })
}

impl StartedStream {
    /// The whole answer, and first of all whose it is where that is not who was asked.
    fn resumed(self, replaced: Option<String>) -> ModelStream {
        let replaced = replaced.map(|model| ModelEvent::Replaced { model });
        let told: VecDeque<ModelEvent> = replaced.into_iter().chain([self.first]).collect();
        ModelStream::new((told, self.rest), |(mut told, mut rest)| async move {
            let event = match told.pop_front() {
                Some(event) => Ok(event),
                None => rest.next().await?,
            };
            Some((event, (told, rest)))
        })
    }
}

/// The request was made for what the first model takes. Its list is shared: it is copied only where
/// something in it must change.
fn fitted(mut request: ModelRequest, accepts: Accepts) -> ModelRequest {
    let exceeds = |message: &ModelMessage| match message {
        ModelMessage::User { parts } | ModelMessage::Tool { parts, .. } => {
            parts.iter().any(|part| !accepts.takes(part))
        }
        _ => false,
    };
    if !request.messages.iter().any(exceeds) {
        return request;
    }
    for message in &mut request.messages {
        if let ModelMessage::User { parts } | ModelMessage::Tool { parts, .. } = message {
            for part in parts.iter_mut().filter(|part| !accepts.takes(part)) {
                *part = Part::text(words(part));
            }
        }
    }
    request
}

impl Model for Fallback {
    fn stream(&self, request: ModelRequest) -> BoxFuture<'_, Result<ModelStream, ModelError>> {
        Box::pin(self.begin(request))
    }

    fn accepts(&self) -> Accepts {
        self.first.model.accepts()
    }

    fn about(&self) -> ModelInfo {
        ModelInfo {
            fallback: self.others.iter().map(|other| other.id.clone()).collect(),
            ..self.first.model.about()
        }
    }

    /// Vectors of different models cannot be compared, so no other is asked.
    fn embed(&self, texts: Vec<String>) -> BoxFuture<'_, Result<Embeddings, ModelError>> {
        self.first.model.embed(texts)
    }
}
