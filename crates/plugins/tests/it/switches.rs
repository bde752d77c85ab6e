//! A plugin that the operator switched off in one session.

use callgate_contract::{ArrivalFacts, Caller, JournalId, Part, Role, SessionKey, Value, Verdict};
use callgate_gate::CallError;

use crate::scene::{Scene, session};

const PLUGIN: &str = "\
HOOKS = ['message']
async def on_message(context, message): return 'BLOCK_ALL'
async def greet(): return 'hello'
";

fn said(session: &SessionKey) -> ArrivalFacts {
    ArrivalFacts {
        row: 7,
        session: session.clone(),
        user: "u1".to_owned(),
        principal: "cli:u1".parse().unwrap(),
        name: "Ada".to_owned(),
        role: Role::Member,
        parts: vec![Part::text("hello")],
        message_id: None,
        at: 1_000,
        mentioned: true,
        prefix: None,
        wanted: true,
        obeyed: false,
        platform: None,
    }
}

#[tokio::test]
async fn it_is_neither_offered_nor_heard_there_and_is_everywhere_else() {
    let scene = Scene::new().await;
    let loaded = scene.load("greeter", PLUGIN).await.unwrap();
    let elsewhere: SessionKey = "cli:FriendMessage:elsewhere".parse().unwrap();
    let listener = scene.plugins.listener();
    let call = async |session: &SessionKey| {
        let caller = Caller {
            session: session.clone(),
            journal: JournalId::fresh(),
            ..scene.caller.clone()
        };
        scene.call_as(&caller, "greet", Vec::new()).await
    };
    let plugins = &scene.plugins;
    assert!(
        !plugins
            .enable_in("nobody", &session(), false)
            .await
            .unwrap()
    );
    assert!(
        plugins
            .enable_in(&loaded.id, &session(), false)
            .await
            .unwrap()
    );
    assert_eq!(plugins.disabled_in(&loaded.id), [session()]);
    let refused = call(&session()).await;
    assert!(
        matches!(refused, Err(CallError::Unknown { .. })),
        "{refused:?}"
    );
    assert_eq!(listener.arrived(&said(&session())).await, Verdict::Pass);
    assert_eq!(call(&elsewhere).await.unwrap().value, Value::from("hello"));
    assert_eq!(listener.arrived(&said(&elsewhere)).await, Verdict::Hide);

    assert!(
        plugins
            .enable_in(&loaded.id, &session(), true)
            .await
            .unwrap()
    );
    assert!(plugins.disabled_in(&loaded.id).is_empty());
    call(&session()).await.unwrap();
    assert_eq!(listener.arrived(&said(&session())).await, Verdict::Hide);
}
