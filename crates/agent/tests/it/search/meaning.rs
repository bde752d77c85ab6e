//! Methods found by meaning, with a model whose vectors are counts of a few ideas.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicBool, Ordering},
};

use callgate_agent::{
    Agent, Sessions, Wiring,
    search::{Meanings, methods},
};
use callgate_contract::{
    Arguments, BoxFuture, Embeddings, JournalId, Model, ModelError, ModelRequest, ModelStream,
    Models, NamedModel, Usage,
};
use callgate_gate::GatePolicy;
use callgate_store::CostBy;
use callgate_testkit::Home;

use super::{catalogue, methods::Described};
use crate::{
    scene::{Ran, caller, coder},
    stage::{Remembering, settings},
};

/// Each idea by words that have nothing else in common.
const IDEAS: [&[&str]; 3] = [
    &["forecast", "brolly", "drizzle"],
    &["currency", "quid"],
    &["email", "missive"],
];

#[derive(Clone, Default)]
struct Thinking {
    texts: Arc<Mutex<Vec<usize>>>,
    fails: Arc<AtomicBool>,
    hangs: Arc<AtomicBool>,
}

impl Model for Thinking {
    fn stream(&self, _: ModelRequest) -> BoxFuture<'_, Result<ModelStream, ModelError>> {
        Box::pin(async { Err(ModelError::CutStream) })
    }

    fn embed(&self, texts: Vec<String>) -> BoxFuture<'_, Result<Embeddings, ModelError>> {
        self.texts.lock().unwrap().push(texts.len());
        Box::pin(async move {
            if self.hangs.load(Ordering::SeqCst) {
                std::future::pending::<()>().await;
            }
            if self.fails.load(Ordering::SeqCst) {
                return Err(ModelError::CutStream);
            }
            let idea = |text: &str, words: &[&str]| {
                let hits = words.iter().filter(|word| text.contains(**word)).count();
                if hits > 0 { 1.0 } else { 0.01 }
            };
            let vector = |text: &String| {
                let text = text.to_lowercase();
                IDEAS.iter().map(|words| idea(&text, words)).collect()
            };
            Ok(Embeddings {
                vectors: texts.iter().map(vector).collect(),
                usage: Some(Usage {
                    input: texts.len() as u64,
                    money: Some(2),
                    ..Usage::default()
                }),
            })
        })
    }
}

async fn agent(home: &Home, model: &Thinking) -> Agent {
    let coder = coder(home.open().await, GatePolicy::default(), &Ran::default());
    let meanings = Meanings::default();
    for info in catalogue() {
        coder.gate.register(Arc::new(Described(info))).unwrap();
    }
    for method in methods::all(&coder.gate, &meanings) {
        coder.gate.register(method).unwrap();
    }
    let named = NamedModel {
        id: "think".into(),
        model: Arc::new(model.clone()),
    };
    let models = Models::new(named, Vec::new(), None, None);
    let agent = Agent::new(Wiring {
        coder,
        models: models.with_embedding(Some("think".into())),
        settings: settings(),
        listeners: Vec::new(),
        outbox: Arc::new(Remembering::default()),
        packages: Vec::new(),
        sessions: Sessions::default(),
    });
    agent.search_by_meaning(&meanings);
    agent
}

async fn found(agent: &Agent, query: &str) -> String {
    let mut caller = caller();
    caller.journal = JournalId::fresh();
    let arguments = Arguments {
        positional: vec![query.into()],
        named: Vec::new(),
    };
    let outcome = agent.gate().call(&caller, 1, "search_methods", arguments);
    let value = outcome.await.unwrap().value;
    value.as_str().unwrap().to_owned()
}

const BROLLY: &str = "will I need a brolly against the drizzle";

#[tokio::test]
async fn what_shares_no_word_is_found_by_meaning_and_texts_are_sent_once() {
    let home = Home::sqlite();
    let model = Thinking::default();
    let first = agent(&home, &model).await;
    let all = catalogue().len() + 5;
    assert!(found(&first, BROLLY).await.contains("get_forecast("));
    assert!(
        found(&first, "200 quid")
            .await
            .contains("convert_currency(")
    );
    assert_eq!(*model.texts.lock().unwrap(), [all + 1, 1]);

    let spent = first.store().costs();
    let spent = spent.sum(CostBy::Method, jiff::Timestamp::UNIX_EPOCH);
    let spent = spent.await.unwrap();
    assert_eq!(spent[0].key.as_deref(), Some("builtin/search_methods"));
    assert_eq!((spent[0].sum.requests, spent[0].sum.money), (2, 4));

    // Also after a restart.
    let second = agent(&home, &model).await;
    assert!(found(&second, BROLLY).await.contains("get_forecast("));
    assert_eq!(model.texts.lock().unwrap().last(), Some(&1));
}

#[tokio::test]
async fn a_name_that_is_spelled_out_comes_first() {
    let home = Home::sqlite();
    let agent = agent(&home, &Thinking::default()).await;
    let found = found(&agent, "brolly: read_logs").await;
    assert!(found.starts_with("read_logs("), "{found}");
    assert!(found.contains("get_forecast("), "{found}");
}

#[tokio::test]
async fn a_model_that_fails_is_left_alone_and_words_do() {
    let home = Home::sqlite();
    let model = Thinking::default();
    model.fails.store(true, Ordering::SeqCst);
    let agent = agent(&home, &model).await;
    for _ in 0..2 {
        let found = found(&agent, "weather forecast").await;
        assert!(found.starts_with("get_forecast("), "{found}");
    }
    assert_eq!(model.texts.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn a_model_that_never_answers_delays_a_search_and_no_more() {
    let home = Home::sqlite();
    let model = Thinking::default();
    model.hangs.store(true, Ordering::SeqCst);
    let agent = agent(&home, &model).await;
    let found = found(&agent, "weather forecast").await;
    assert!(found.starts_with("get_forecast("), "{found}");
}
