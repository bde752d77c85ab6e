//! A model whose requests are timed.

use std::{sync::Arc, time::Instant};

use callgate_contract::{
    About, Accepts, BoxFuture, Embeddings, Model, ModelError, ModelRequest, ModelStream, NamedModel,
};

use super::Metrics;

struct Metered {
    id: String,
    model: Arc<dyn Model>,
    metrics: Arc<Metrics>,
}

impl Metrics {
    pub fn metered(self: &Arc<Self>, named: NamedModel) -> NamedModel {
        NamedModel {
            model: Arc::new(Metered {
                id: named.id.clone(),
                model: named.model,
                metrics: self.clone(),
            }),
            id: named.id,
        }
    }
}

/// One request. Let go before its end, it was cancelled.
struct Asking {
    id: String,
    metrics: Arc<Metrics>,
    began: Instant,
    outcome: Option<&'static str>,
}

impl Asking {
    /// The first word counts: a stream that failed also ends.
    fn ended(&mut self, outcome: &'static str) {
        self.outcome.get_or_insert(outcome);
    }
}

impl Drop for Asking {
    fn drop(&mut self) {
        let elapsed = self.began.elapsed();
        let outcome = self.outcome.unwrap_or("cancelled");
        self.metrics.asked(&self.id, outcome, elapsed);
    }
}

impl Model for Metered {
    fn stream(&self, request: ModelRequest) -> BoxFuture<'_, Result<ModelStream, ModelError>> {
        let mut asking = Asking {
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
            let step = |(mut stream, mut asking): (ModelStream, Asking)| async move {
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

    fn about(&self) -> About {
        self.model.about()
    }

    fn embed(&self, texts: Vec<String>) -> BoxFuture<'_, Result<Embeddings, ModelError>> {
        self.model.embed(texts)
    }
}
