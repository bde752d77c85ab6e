//! The stage of the cases: callers, methods, and ways that go through real calls inside calls.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use callgate_contract::{
    Arguments, BoxFuture, CallContext, Caller, Effect, Exposure, Grant, JournalId, Kind, Method,
    MethodError, MethodInfo, Origin, Peer, Reply, Role, Rule, Surface, Value,
};
use callgate_gate::{CallError, CallRequest, Gate, GatePolicy, PluginCallContext, WeakGate};
use callgate_store::{Approver, NewTimer};
use parking_lot::Mutex;

use crate::scene::{Closure, Scene, answering, doing};

/// Name, principal, role, session.
const CALLERS: &[(&str, &str, Role, &str)] = &[
    ("ann", "onebot:42", Role::Member, "onebot:GroupMessage:7"),
    (
        "ann-dm",
        "onebot:42",
        Role::Member,
        "onebot:FriendMessage:42",
    ),
    (
        "eve",
        "telegram:42",
        Role::Member,
        "telegram:GroupMessage:7",
    ),
    ("bob", "onebot:43", Role::Member, "onebot:GroupMessage:8"),
    ("root", "onebot:1", Role::Admin, "onebot:GroupMessage:7"),
    (
        "fake",
        "telegram:1",
        Role::Member,
        "telegram:GroupMessage:7",
    ),
    (
        "guest",
        "remote:guest:x",
        Role::Guest,
        "remote:FriendMessage:x",
    ),
    ("key", "key:3", Role::Member, "web:FriendMessage:key-3"),
    ("sham", "web:key-3", Role::Member, "web:FriendMessage:key-3"),
    (
        "op",
        "operator",
        Role::Operator,
        "cli:FriendMessage:operator",
    ),
    (
        "pose",
        "cli:operator",
        Role::Member,
        "cli:FriendMessage:operator",
    ),
    (
        "self",
        "plugin:weather",
        Role::Member,
        "plugin:OtherMessage:weather",
    ),
];

type Ended = Result<(), CallError>;

/// The rest of a way: a method that goes it, and what became of the call at its end.
struct Step {
    info: MethodInfo,
    gate: WeakGate,
    way: Arc<Mutex<Vec<String>>>,
    ended: Arc<Mutex<Option<(Caller, Ended)>>>,
}

impl Method for Step {
    fn info(&self) -> &MethodInfo {
        &self.info
    }

    fn call<'a>(
        &'a self,
        context: CallContext<'a>,
        _: Vec<(String, Value)>,
    ) -> BoxFuture<'a, Result<Reply, MethodError>> {
        Box::pin(async move {
            let gate = self.gate.upgrade().unwrap();
            let is_plugin = self.info.name == "relay";
            // As the agent begins a turn below another, and as a worker's token stands for its caller.
            let caller = Caller {
                surface: if is_plugin {
                    Surface::Plugin
                } else {
                    Surface::ToolCall
                },
                depth: context.caller.depth + u8::from(!is_plugin),
                journal: JournalId::fresh(),
                ..context
                    .caller
                    .within(self.info.origin.to_string(), Some(&self.info.name))
            };
            go(&gate, caller, &self.way, &self.ended).await;
            Ok(Value::Null.into())
        })
    }
}

/// Makes the next call of the way.
async fn go(
    gate: &Gate,
    caller: Caller,
    way: &Mutex<Vec<String>>,
    ended: &Mutex<Option<(Caller, Ended)>>,
) {
    let (next, is_last) = {
        let mut way = way.lock();
        (way.remove(0), way.is_empty())
    };
    let request = CallRequest::new(1, &next, Arguments::default());
    let peer = Peer::new(|_| Box::pin(async { Err(MethodError::new("nobody")) }));
    let made = if caller.surface == Surface::Plugin {
        let way = PluginCallContext {
            peer: &peer,
            blocking: false,
        };
        gate.dispatch_from_plugin(&caller, request, way).await
    } else {
        gate.dispatch(&caller, request).await
    };
    if is_last || made.is_err() {
        let mut ended = ended.lock();
        let made = made.map(drop);
        ended.get_or_insert((caller, made));
    }
}

pub(super) struct Stage {
    pub(super) scene: Scene,
    way: Arc<Mutex<Vec<String>>>,
    ended: Arc<Mutex<Option<(Caller, Ended)>>>,
    /// How often each method ran.
    ran: Arc<AtomicU64>,
}

/// A method that needs the operator's word by itself.
struct Dangerous(Closure);

impl Method for Dangerous {
    fn info(&self) -> &MethodInfo {
        self.0.info()
    }

    fn needs_approval(&self) -> bool {
        true
    }

    fn call<'a>(
        &'a self,
        context: CallContext<'a>,
        arguments: Vec<(String, Value)>,
    ) -> BoxFuture<'a, Result<Reply, MethodError>> {
        self.0.call(context, arguments)
    }
}

impl Stage {
    pub(super) async fn new(rules: Vec<Rule>) -> Self {
        let scene = Scene::with(GatePolicy {
            rules,
            approval_wait: Duration::ZERO,
            ..GatePolicy::default()
        })
        .await;
        let ran = Arc::new(AtomicU64::new(0));
        let (builtin, weather) = (Origin::Builtin, Origin::Plugin("weather".into()));
        let mail = Origin::Mcp("mail".into());
        for (name, origin, kind, effect) in [
            ("look", &builtin, Kind::Tool, Effect::Pure),
            ("send", &builtin, Kind::Tool, Effect::Rows),
            ("fetch", &builtin, Kind::Tool, Effect::Effectful),
            (
                "fetch",
                &Origin::Plugin("twin".into()),
                Kind::Tool,
                Effect::Effectful,
            ),
            ("think", &builtin, Kind::Agent, Effect::Pure),
            ("note", &builtin, Kind::Behavior, Effect::Rows),
            ("forecast", &weather, Kind::Tool, Effect::Pure),
            ("alarm", &weather, Kind::Behavior, Effect::Effectful),
            (
                "run",
                &Origin::Plugin("shell".into()),
                Kind::Tool,
                Effect::Effectful,
            ),
            ("mail", &mail, Kind::Tool, Effect::Effectful),
            ("inbox", &mail, Kind::Tool, Effect::Idempotent),
            (
                "beep",
                &Origin::Client("pad".into()),
                Kind::Tool,
                Effect::Effectful,
            ),
            (
                "poem",
                &Origin::Agent("poet".into()),
                Kind::Tool,
                Effect::Effectful,
            ),
        ] {
            scene.add(
                counted(name, &ran)
                    .from(origin.clone())
                    .kind(kind)
                    .effect(effect),
            );
        }
        for (name, effect) in [("keep", Effect::Rows), ("tell", Effect::Effectful)] {
            let mut method = counted(name, &ran).effect(effect);
            method.info.exposure = Exposure::PLUGINS;
            scene.add(method);
        }
        let install = counted("install", &ran).effect(Effect::Effectful);
        scene.gate.register(Arc::new(Dangerous(install))).unwrap();
        let stage = Stage {
            way: Arc::default(),
            ended: Arc::default(),
            ran,
            scene,
        };
        for (name, origin) in [
            ("delegate", Origin::Agent("helper".into())),
            ("relay", Origin::Plugin("relay".into())),
        ] {
            let step = Step {
                info: answering(name, "").from(origin).info,
                gate: stage.scene.gate.downgrade(),
                way: stage.way.clone(),
                ended: stage.ended.clone(),
            };
            stage.scene.gate.register(Arc::new(step)).unwrap();
        }
        stage
    }

    /// What became of the call, and whether the method is offered where it would be made.
    pub(super) async fn outcome(&self, who: &str, way: &str, method: &str) -> (String, bool) {
        let mut steps = way.split('>');
        let side = steps.next().unwrap();
        let calls = steps.map(|step| {
            if step == "plugin" {
                "relay"
            } else {
                "delegate"
            }
        });
        *self.way.lock() = calls.chain([method]).map(str::to_owned).collect();
        *self.ended.lock() = None;
        let before = self.ran.load(Ordering::SeqCst);
        let caller = self.caller(who, side).await;
        go(&self.scene.gate, caller, &self.way, &self.ended).await;
        let (last, ended) = self.ended.lock().take().unwrap();
        let is_there = self.way.lock().is_empty();
        let outcome = match ended {
            Ok(()) => "allow",
            Err(CallError::ApprovalPending { approver, .. }) => match approver {
                Approver::Requester => "confirm",
                Approver::Operator => "ask",
            },
            Err(CallError::Denied { .. }) => "deny",
            Err(CallError::NotExposed { .. }) => "absent",
            Err(other) => panic!("{who} {way} {method}: {other}"),
        };
        let ran = self.ran.load(Ordering::SeqCst) - before;
        assert_eq!(ran, u64::from(outcome == "allow"), "{who} {way} {method}");
        let meant = self.scene.gate.find(method).unwrap();
        let named = self.scene.gate.named(&last);
        let is_offered = named
            .iter()
            .any(|(_, offered)| Arc::ptr_eq(offered, &meant));
        let agrees = !is_there || is_offered == ["allow", "confirm", "ask"].contains(&outcome);
        (outcome.to_owned(), agrees)
    }

    pub(super) async fn caller(&self, name: &str, side: &str) -> Caller {
        let known = |name: &str| {
            let found = CALLERS.iter().find(|(known, ..)| *known == name);
            found.unwrap_or_else(|| panic!("nobody is {name}"))
        };
        // `ann+bob`: ann, in whose turn bob has spoken.
        let mut names = name.split('+');
        let (_, principal, role, session) = known(names.next().unwrap());
        let others = names.map(|name| known(name).1.parse().unwrap());
        let mut caller = Caller {
            session: session.parse().unwrap(),
            principal: principal.parse().unwrap(),
            role: *role,
            surface: match side {
                "code" => Surface::Code,
                "tool" | "timer" => Surface::ToolCall,
                "remote" => Surface::Remote,
                "plugin" => Surface::Plugin,
                other => panic!("no way begins with {other}"),
            },
            journal: JournalId::fresh(),
            depth: 0,
            grant: Arc::new(Grant {
                others: others.collect(),
                ..Grant::everything()
            }),
        };
        if side == "timer" {
            let timer = NewTimer {
                id: uuid::Uuid::now_v7(),
                session: caller.session.clone(),
                principal: caller.principal.clone(),
                role: caller.role,
                due_at: jiff::Timestamp::UNIX_EPOCH,
                text: "wake up".to_owned(),
            };
            let timers = self.scene.store.timers();
            timers.set(&timer).await.unwrap();
            let row = timers.fire(timer.id).await.unwrap().unwrap();
            caller.principal = row.principal();
            caller.role = row.sender_role.unwrap();
        }
        caller
    }
}

fn counted(name: &str, ran: &Arc<AtomicU64>) -> Closure {
    let ran = ran.clone();
    doing(name, move |_| {
        ran.fetch_add(1, Ordering::SeqCst);
        async { Ok(Reply::from("done")) }
    })
}
