//! [`Meanings`]: methods by what they mean, where the operator named a model that makes vectors. Each
//! text is sent to it once and its vector kept. Nobody waits long: what is not there in time, or
//! fails, is done without, and is there for the next search.

use std::{
    collections::HashMap,
    sync::{Arc, OnceLock},
    time::{Duration, Instant},
};

use callgate_contract::{Caller, MethodInfo, NamedModel, Origin};
use callgate_store::{StoreError, Vectors};
use parking_lot::Mutex;

use super::methods::SEARCH_METHODS;
use crate::{
    Agent,
    agent::WeakAgent,
    spending::{Need, Spender},
};

/// How long a search waits for vectors.
const PATIENCE: Duration = Duration::from_secs(3);
/// How long a model that failed is left alone.
const REST: Duration = Duration::from_secs(60);
/// Characters of a method's text, and of a request, that are sent.
const LONGEST: usize = 2_000;

type Vector = Arc<[f32]>;

/// Clones share everything. Without an agent bound to it, or a model configured, it knows nothing.
#[derive(Clone, Default)]
pub struct Meanings(Arc<MeaningState>);

#[derive(Default)]
struct MeaningState {
    /// Bound once models are known, which is after methods are registered.
    agent: OnceLock<WeakAgent>,
    /// A mutex held for a look or an insertion.
    kept: Mutex<IndexedMethod>,
    /// Held while texts are sent: one search does it for all.
    sending: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct IndexedMethod {
    /// The model whose they are; none until the store was read.
    model: Option<String>,
    /// By the hash of the text.
    vectors: HashMap<String, Vector>,
    resting_until: Option<Instant>,
}

impl Agent {
    /// Has searches use this agent's embedding model, if there is one.
    pub fn search_by_meaning(&self, meanings: &Meanings) {
        let _ = meanings.0.agent.set(self.downgrade());
    }
}

impl Meanings {
    /// The places of `methods`, the nearest in meaning to `request` first; `None` where that cannot
    /// be told, or not now.
    pub(super) async fn nearest(
        &self,
        caller: &Caller,
        request: &str,
        methods: &[&MethodInfo],
    ) -> Option<Vec<usize>> {
        let agent = self.0.agent.get()?.upgrade()?;
        let model = agent.models().embedding()?.clone();
        if self.0.is_resting() {
            return None;
        }
        let caller = caller.within(Origin::Builtin.to_string(), Some(SEARCH_METHODS));
        let spender = Spender::of(&caller);
        let texts = methods.iter().map(|info| text(info));
        let texts: Vec<(String, String)> = texts.map(|text| (Vectors::hash(&text), text)).collect();
        let asking = Asking {
            shared: self.0.clone(),
            agent,
            model,
            spender,
            texts,
            request: request.chars().take(LONGEST).collect(),
        };
        // A task of its own: what comes too late for this search is kept for the next.
        match tokio::time::timeout(PATIENCE, tokio::spawn(asking.ranked())).await {
            Ok(ranked) => ranked.ok().flatten(),
            Err(_) => {
                tracing::info!("the embedding model is slow: methods are searched by their words");
                None
            }
        }
    }
}

impl MeaningState {
    fn is_resting(&self) -> bool {
        let until = self.kept.lock().resting_until;
        until.is_some_and(|until| Instant::now() < until)
    }
}

/// One search, on its way to the model and back.
struct Asking {
    shared: Arc<MeaningState>,
    agent: Agent,
    model: NamedModel,
    spender: Spender,
    /// Each method's, with its hash.
    texts: Vec<(String, String)>,
    request: String,
}

impl Asking {
    async fn ranked(self) -> Option<Vec<usize>> {
        // Another search sends its texts: they will be there for the next one.
        let _one_at_a_time = self.shared.sending.try_lock().ok()?;
        match self.vectors().await {
            Ok(made) => made.map(|(request, vectors)| by_likeness(&request, &vectors)),
            Err(error) => {
                tracing::warn!(
                    model = self.model.id,
                    error,
                    "embedding failed; searching methods by keywords"
                );
                self.shared.kept.lock().resting_until = Some(Instant::now() + REST);
                None
            }
        }
    }

    /// Of the request and, in their order, of the methods. What is not kept is asked for together
    /// with the request. `None` where whoever searches has no budget left for it.
    async fn vectors(&self) -> Result<Option<(Vector, Vec<Vector>)>, String> {
        self.read().await.map_err(|error| error.to_string())?;
        let missing: Vec<&(String, String)> = {
            let kept = self.shared.kept.lock();
            let texts = self.texts.iter();
            let missing = texts.filter(|(hash, _)| !kept.vectors.contains_key(hash));
            missing.collect()
        };
        let mut texts: Vec<String> = missing.iter().map(|(_, text)| text.clone()).collect();
        texts.push(self.request.clone());
        let need = || Need::of_texts(&texts);
        let admitted = self.agent.admit(&self.spender, &self.model, need).await;
        let Ok(_held) = admitted.map_err(|error| error.to_string())? else {
            return Ok(None);
        };
        let made = self.model.model.embed(texts).await;
        let mut made = made.map_err(|error| error.to_string())?;
        self.agent
            .spent(&self.spender, &self.model.id, made.usage)
            .await;
        let request: Vector = made.vectors.pop().unwrap_or_default().into();
        let new = missing.iter().map(|(hash, _)| hash.clone());
        let new: Vec<(String, Vec<f32>)> = new.zip(made.vectors).collect();
        if !new.is_empty() {
            let vectors = self.agent.store().vectors();
            let kept = vectors.keep(&self.known_as(), &new).await;
            kept.map_err(|error| error.to_string())?;
        }
        let mut kept = self.shared.kept.lock();
        let known = &mut kept.vectors;
        known.extend(new.into_iter().map(|(hash, vector)| (hash, vector.into())));
        let of_methods = self.texts.iter().map(|(hash, _)| known.get(hash).cloned());
        let of_methods: Option<Vec<Vector>> = of_methods.collect();
        Ok(Some((request, of_methods.unwrap_or_default())))
    }

    async fn read(&self) -> Result<(), StoreError> {
        let model = self.known_as();
        if self.shared.kept.lock().model.as_ref() == Some(&model) {
            return Ok(());
        }
        let stored = self.agent.store().vectors().of(&model).await?;
        let stored = stored.into_iter();
        let mut kept = self.shared.kept.lock();
        kept.vectors = stored.map(|(hash, vector)| (hash, vector.into())).collect();
        kept.model = Some(model);
        Ok(())
    }

    /// Vectors of another model, also one that has taken its id, mean nothing here.
    fn known_as(&self) -> String {
        let about = self.model.model.about();
        let (wire, name) = (about.wire, about.name);
        let parts = [Some(self.model.id.clone()), wire, name];
        parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
    }
}

/// What the model is told of a method.
fn text(info: &MethodInfo) -> String {
    let text = format!(
        "{}: {}\n{}",
        info.name.replace('_', " "),
        info.title,
        info.doc
    );
    text.chars().take(LONGEST).collect()
}

fn by_likeness(request: &[f32], methods: &[Vector]) -> Vec<usize> {
    let likeness = methods.iter().map(|method| likeness(request, method));
    let mut places: Vec<(usize, f32)> = likeness.enumerate().collect();
    places.sort_by(|(_, one), (_, other)| other.total_cmp(one));
    places.into_iter().map(|(place, _)| place).collect()
}

/// The cosine of the angle between them; of vectors that cannot be compared, nothing.
fn likeness(one: &[f32], other: &[f32]) -> f32 {
    if one.len() != other.len() {
        return f32::NEG_INFINITY;
    }
    let product = |one: &[f32], other: &[f32]| -> f32 {
        one.iter().zip(other).map(|(one, other)| one * other).sum()
    };
    let lengths = (product(one, one) * product(other, other)).sqrt();
    if lengths > 0.0 {
        product(one, other) / lengths
    } else {
        f32::NEG_INFINITY
    }
}
