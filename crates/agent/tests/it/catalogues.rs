//! What many methods cost a message: counted by how often each is looked at.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use callgate_contract::{
    BoxFuture, CallContext, Method, MethodError, MethodInfo, Mode, Reply, Value,
};
use callgate_testkit::Home;

use crate::stage::{Scripted, Stage};

/// Counts how often somebody looks at what it is.
struct Counted {
    info: MethodInfo,
    looks: Arc<AtomicUsize>,
}

impl Method for Counted {
    fn info(&self) -> &MethodInfo {
        self.looks.fetch_add(1, Ordering::Relaxed);
        &self.info
    }

    fn call<'a>(
        &'a self,
        _: CallContext<'a>,
        _: Vec<(String, Value)>,
    ) -> BoxFuture<'a, Result<Reply, MethodError>> {
        Box::pin(async { Err(MethodError::new("nobody calls it")) })
    }
}

fn register(stage: &Stage, names: impl IntoIterator<Item = String>) -> Arc<AtomicUsize> {
    let looks = Arc::<AtomicUsize>::default();
    let gate = stage.agent.gate();
    for name in names {
        let mut info = gate.find("look").unwrap().info().clone();
        info.doc = format!("What {name} does. Nobody knows more.");
        info.name = name;
        let looks = Arc::clone(&looks);
        let method = Counted { info, looks };
        gate.register(Arc::new(method)).unwrap();
    }
    looks
}

#[tokio::test]
async fn a_message_asks_whether_it_may_use_a_method_and_renders_none() {
    for mode in [Mode::Tools, Mode::Code] {
        for count in [20, 500] {
            let (home, mut model) = (Home::sqlite(), Scripted::default());
            for _ in 0..12 {
                model = model.says("Well.");
            }
            let stage = Stage::new(home.open().await, model);
            // A large catalogue is searched, and not told in full.
            register(
                &stage,
                ["search_methods", "describe_method"].map(Into::into),
            );
            let looks = register(&stage, (0..count).map(|number| format!("look_{number}")));
            stage.hears_from("ann", "hello", Some(mode)).await;
            looks.store(0, Ordering::Relaxed);
            for _ in 0..10 {
                stage.hears_from("ann", "hello", Some(mode)).await;
            }
            // Exposure and grant are checked for the prompt, and for the tools of the round.
            let looks = looks.load(Ordering::Relaxed);
            assert!(looks <= 10 * 4 * count, "{mode:?}, {count}: {looks}");

            // One that comes later is known to the next message.
            let last = |stage: &Stage| format!("{:?}", stage.model.requests().pop());
            let before = last(&stage);
            register(&stage, ["aaa_new".into()]);
            stage.hears_from("ann", "hello", Some(mode)).await;
            let known = last(&stage).contains("aaa_new");
            assert!(known && !before.contains("aaa_new"), "{mode:?}, {count}");
        }
    }
}
