//! [`Models`]: the models at hand, and which of them a session uses.

use std::{
    fmt,
    sync::{Arc, OnceLock},
};

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

/// Clones share what comes after.
#[derive(Clone, Debug)]
pub struct Models {
    known: ModelSet,
    /// What the operator put in their place. A chain, and never cut: whoever looks borrows from it,
    /// and changes are few.
    next: Arc<OnceLock<Models>>,
}

#[derive(Clone, Debug)]
struct ModelSet {
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
            known: ModelSet {
                models,
                default,
                vision,
                embedding: None,
            },
            next: Arc::default(),
        }
    }

    /// The model that turns texts into vectors.
    #[must_use]
    pub fn with_embedding(mut self, embedding: Option<String>) -> Self {
        self.known.embedding = embedding;
        self
    }

    /// From now on these are the models; what is under way goes on with the one it began with.
    pub fn replace(&self, others: Models) {
        let mut others = Some(others);
        while let Some(models) = others.take() {
            // Two may come at once: then one of them is the other's.
            others = self.last().next.set(models).err();
        }
    }

    /// Each of them by another of the same id.
    #[must_use]
    pub fn map(mut self, wrap: impl FnMut(NamedModel) -> NamedModel) -> Self {
        self.known.models = self.known.models.into_iter().map(wrap).collect();
        self
    }

    pub fn all(&self) -> &[NamedModel] {
        &self.now().models
    }

    pub fn get(&self, id: &str) -> Option<&NamedModel> {
        self.now().get(id)
    }

    /// A session's model: its own choice, then the configured default, then the first. An id that
    /// is no longer there counts as none, so that removing a model strands no session.
    pub fn choose(&self, choice: Option<&str>) -> &NamedModel {
        let now = self.now();
        let ids = [choice, now.default.as_deref()];
        ids.into_iter()
            .flatten()
            .find_map(|id| now.get(id))
            .unwrap_or(&now.models[0])
    }

    pub fn vision(&self) -> Option<&NamedModel> {
        let now = self.now();
        now.get(now.vision.as_deref()?)
    }

    /// None where the operator named none: then texts are compared by their words.
    pub fn embedding(&self) -> Option<&NamedModel> {
        let now = self.now();
        now.get(now.embedding.as_deref()?)
    }

    fn last(&self) -> &Models {
        let mut last = self;
        while let Some(next) = last.next.get() {
            last = next;
        }
        last
    }

    fn now(&self) -> &ModelSet {
        &self.last().known
    }
}

impl ModelSet {
    fn get(&self, id: &str) -> Option<&NamedModel> {
        self.models.iter().find(|model| model.id == id)
    }
}
