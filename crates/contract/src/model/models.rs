//! [`Models`]: the models at hand, and which of them a session uses.

use std::{fmt, sync::Arc};

use crate::Model;

#[derive(Clone)]
pub struct NamedModel {
    pub id: String,
    pub model: Arc<dyn Model>,
}

impl fmt::Debug for NamedModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("NamedModel").field(&self.id).finish()
    }
}

#[derive(Clone, Debug)]
pub struct Models {
    /// Never empty, so that a session always has a model.
    models: Vec<NamedModel>,
    default: Option<String>,
    vision: Option<String>,
    embedding: Option<String>,
}

impl Models {
    /// `default` is for sessions that chose none, `vision` for parts a session's model cannot take.
    pub fn new(
        first: NamedModel,
        others: Vec<NamedModel>,
        default: Option<String>,
        vision: Option<String>,
    ) -> Self {
        let mut models = others;
        models.insert(0, first);
        Models {
            models,
            default,
            vision,
            embedding: None,
        }
    }

    /// The model that turns texts into vectors.
    #[must_use]
    pub fn with_embedding(self, embedding: Option<String>) -> Self {
        Models { embedding, ..self }
    }

    pub fn all(&self) -> &[NamedModel] {
        &self.models
    }

    pub fn get(&self, id: &str) -> Option<&NamedModel> {
        self.models.iter().find(|model| model.id == id)
    }

    /// A session's model: its own choice, then the configured default, then the first. An id that
    /// is no longer there counts as none, so that removing a model strands no session.
    pub fn choose(&self, choice: Option<&str>) -> &NamedModel {
        let ids = [choice, self.default.as_deref()];
        ids.into_iter()
            .flatten()
            .find_map(|id| self.get(id))
            .unwrap_or(&self.models[0])
    }

    pub fn vision(&self) -> Option<&NamedModel> {
        self.get(self.vision.as_deref()?)
    }

    /// None where the operator named none: then texts are compared by their words.
    pub fn embedding(&self) -> Option<&NamedModel> {
        self.get(self.embedding.as_deref()?)
    }
}
