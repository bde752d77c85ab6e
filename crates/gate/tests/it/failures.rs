//! A method that panics, hangs, says nothing or returns what cannot pass: each is a clear error.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use callgate_contract::{
    BoxFuture, Budget, CallContext, Change, Effect, Grant, Message, Method, MethodError,
    MethodInfo, Part, Reply, Surface, Value,
};
use callgate_gate::CallError;

use crate::scene::{Closure, Scene, answering, caller, doing};

#[tokio::test]
async fn a_panic_is_an_error() {
    let scene = Scene::new().await;
    let explode = |_| async {
        tokio::task::yield_now().await;
        panic!("the {} broke", "disk")
    };
    scene
        .add(doing("explode", explode))
        .add(answering("fine", "still here"));
    assert_eq!(
        scene.refusal("explode").await,
        "method 'explode' panicked: the disk broke"
    );
    assert!(scene.call(2, "fine").await.is_ok());
}

/// Nothing was done, so that it is no outcome: whoever asked may ask again under the same number.
#[tokio::test]
async fn what_our_own_database_refused_is_asked_again() {
    for effect in [Effect::Pure, Effect::Rows, Effect::Idempotent] {
        let scene = Scene::new().await;
        let tries = Arc::new(AtomicUsize::new(0));
        let counted = tries.clone();
        let remind = move |_| {
            let is_first = counted.fetch_add(1, Ordering::Relaxed) == 0;
            async move {
                if is_first {
                    return Err(MethodError {
                        is_temporary: true,
                        ..MethodError::new("PostgreSQL: connection closed")
                    });
                }
                Ok(Reply::from("set"))
            }
        };
        scene.add(doing("remind", remind).effect(effect));
        let first = scene.call(1, "remind").await;
        assert!(
            matches!(&first, Err(CallError::Store { source, .. }) if source.is_temporary()),
            "{first:?}"
        );
        let second = scene.call(1, "remind").await.unwrap();
        assert_eq!(second.value, Value::from("set"), "{effect:?}");
        assert_eq!(tries.load(Ordering::Relaxed), 2);
    }
}

/// Panics before it even returns a future.
struct Abrupt(Closure);

impl Method for Abrupt {
    fn info(&self) -> &MethodInfo {
        self.0.info()
    }

    fn call<'a>(
        &'a self,
        _: CallContext<'a>,
        _: Vec<(String, Value)>,
    ) -> BoxFuture<'a, Result<Reply, MethodError>> {
        panic!("at once")
    }
}

#[tokio::test]
async fn a_panic_before_the_first_await_is_an_error() {
    let scene = Scene::new().await;
    scene
        .gate
        .register(Arc::new(Abrupt(answering("abrupt", ""))))
        .unwrap();
    assert_eq!(
        scene.refusal("abrupt").await,
        "method 'abrupt' panicked: at once"
    );
}

#[tokio::test]
async fn a_method_that_hangs_meets_its_deadline() {
    for (effect, more) in [
        (Effect::Pure, ""),
        (Effect::Effectful, "; it may still have taken effect"),
    ] {
        let scene = Scene::new().await;
        let mut method = doing("hang", |_| std::future::pending()).effect(effect);
        method.info.deadline = Duration::from_millis(20);
        scene.add(method);
        let expect = format!("'hang' did not finish within 0.02 s{more}");
        assert_eq!(scene.refusal("hang").await, expect);
    }
}

#[tokio::test]
async fn an_error_speaks_for_itself_and_an_empty_one_is_given_words() {
    let scene = Scene::new().await;
    for (name, message, expect) in [
        ("plain", "no such city", "no such city"),
        ("empty", "", "method 'empty' failed without a message"),
        ("blank", " \n", "method 'blank' failed without a message"),
    ] {
        scene.add(doing(name, move |_| async move {
            Err(MethodError::new(message))
        }));
        let caller = caller(Surface::Code, Grant::everything());
        let result = scene.gate.call(&caller, 1, name, Default::default()).await;
        assert_eq!(result.unwrap_err().to_string(), expect);
    }
}

#[tokio::test]
async fn a_result_that_cannot_pass_is_named_by_place() {
    let scene = Scene::new().await;
    let unhashable = Value::Set(vec![Value::List(vec![])]);
    let items = Value::List(vec![1.into(), 2.into(), 3.into(), unhashable]);
    let result = Value::Dict(vec![("items".into(), items)]);
    let deep = (0..200).fold(Value::Null, |inner, _| Value::List(vec![inner]));
    scene
        .add(answering(
            "odd",
            Reply {
                value: result,
                changes: vec![],
            },
        ))
        .add(answering(
            "deep",
            Reply {
                value: deep,
                changes: vec![],
            },
        ))
        .add(answering("huge", "x".repeat(9 << 20)));
    let check = async |sequence, name: &str, expect: &str| {
        let error = scene.call(sequence, name).await.unwrap_err();
        assert!(matches!(error, CallError::Unpassable { .. }));
        assert!(error.to_string().contains(expect), "{error}");
    };
    check(1, "odd", "items").await;
    check(2, "deep", "nested deeper than").await;
    check(3, "huge", "the limit is").await;
}

fn sending(times: usize) -> Closure {
    let session: callgate_contract::SessionKey = "cli:FriendMessage:ada".parse().unwrap();
    let message = Message {
        session,
        parts: vec![Part::text("hi")],
    };
    let changes = vec![Change::Send { message }; times];
    answering(
        "send",
        Reply {
            value: true.into(),
            changes,
        },
    )
    .effect(Effect::Rows)
}

#[tokio::test]
async fn budgets_bound_calls_and_messages() {
    let scene = Scene::new().await;
    scene.add(sending(2)).add(answering("f", ""));
    let grant = |calls, messages| Grant {
        budget: Budget::new(calls, messages),
        ..Grant::everything()
    };
    let few_calls = caller(Surface::Code, grant(1, 10));
    assert!(
        scene
            .gate
            .call(&few_calls, 1, "f", Default::default())
            .await
            .is_ok()
    );
    let spent = scene
        .gate
        .call(&few_calls, 2, "f", Default::default())
        .await;
    assert_eq!(
        spent.unwrap_err().to_string(),
        "'f' was not done: the budget of calls is used up"
    );

    let few_messages = caller(Surface::Code, grant(10, 3));
    assert!(
        scene
            .gate
            .call(&few_messages, 1, "send", Default::default())
            .await
            .is_ok()
    );
    let spent = scene
        .gate
        .call(&few_messages, 2, "send", Default::default())
        .await;
    assert!(matches!(spent, Err(CallError::Budget { .. })));
    // All or nothing: the call that went over the budget left no message.
    assert_eq!(scene.store.outbox().pending(None).await.unwrap().len(), 2);
}

#[tokio::test]
async fn a_refused_call_costs_no_budget() {
    let scene = Scene::new().await;
    scene.add(answering("f", ""));
    let grant = Grant {
        budget: Budget::new(1, 1),
        ..Grant::everything()
    };
    let caller = caller(Surface::Code, grant);
    let wrong = crate::scene::named([("x", 1.into())]);
    assert!(scene.gate.call(&caller, 1, "f", wrong).await.is_err());
    assert!(
        scene
            .gate
            .call(&caller, 2, "f", Default::default())
            .await
            .is_ok()
    );
}
