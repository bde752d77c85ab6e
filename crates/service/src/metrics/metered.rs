//! A model whose requests are timed.

use std::{sync::Arc, time::Instant};

use callgate_contract::{
    Accepts, BoxFuture, Embeddings, Model, ModelError, ModelInfo, ModelRequest, ModelStream,
    NamedModel,
};

use super::Metrics;

struct MeteredModel {
    id: String,
    model: Arc<dyn Model>,
    metrics: Arc<Metrics>,
}

impl Metrics {
    pub fn metered(self: &Arc<Self>, named: NamedModel) -> NamedModel {
        NamedModel {
            model: Arc::new(MeteredModel {
                id: named.id.clone(),
                model: named.model,
                metrics: self.clone(),
            }),
            id: named.id,
        }
    }
}

/// One request. Let go before its end, it was cancelled.
struct RequestTimer {
    id: String,
    metrics: Arc<Metrics>,
    began: Instant,
    outcome: Option<&'static str>,
}

impl RequestTimer {
    /// The first word counts: a stream that failed also ends.
    fn ended(&mut self, outcome: &'static str) {
        self.outcome.get_or_insert(outcome);
    }
}

impl Drop for RequestTimer {
    fn drop(&mut self) {
        let elapsed = self.began.elapsed();
        let outcome = self.outcome.unwrap_or("cancelled");
        self.metrics.asked(&self.id, outcome, elapsed);
    }
}

impl Model for MeteredModel {
    fn stream(&self, request: ModelRequest) -> BoxFuture<'_, Result<ModelStream, ModelError>> {
        let mut asking = RequestTimer {
            id: self.id.clone(),
            metrics: self.metrics.clone(),
            began: Instant::now(),
            outcome: None,
        };
        Box::pin(async move {
            let stream = match self.model.stream(request).await {
                Ok(stream) => stream,
                Err(error) => {
                    asking.ended("failed");
                    return Err(error);
                }
            };
            let step = |(mut stream, mut asking): (ModelStream, RequestTimer)| async move {
                match stream.next().await {
                    Some(item) => {
                        if item.is_err() {
                            asking.ended("failed");
                        }
                        Some((item, (stream, asking)))
                    }
                    None => {
                        asking.ended("answered");
                        None
                    }
                }
            };
            Ok(ModelStream::new((stream, asking), step))
        })
    }

    fn accepts(&self) -> Accepts {
        self.model.accepts()
    }

    fn about(&self) -> ModelInfo {
        self.model.about()
    }

    fn embed(&self, texts: Vec<String>) -> BoxFuture<'_, Result<Embeddings, ModelError>> {
        self.model.embed(texts)
    }
}
