//! Values the tests share.

use callgate_contract::{Allowed, Effect, JournalId, Kind, Role, SessionKey, Surface};
use callgate_store::{CallIntent, CallOutcome, RunStart, Success};

pub fn session(id: &str) -> SessionKey {
    format!("cli:FriendMessage:{id}").parse().unwrap()
}

pub fn run(id: JournalId) -> RunStart {
    RunStart {
        id,
        session: session("张三"),
        user: "张三".to_owned(),
        role: Role::Operator,
        surface: Surface::Code,
        code: Some("print('你好\0')".to_owned()),
        allowed: Allowed::Only(vec!["builtin/now".to_owned()]),
        seed: [7; 16],
    }
}

pub fn call(journal: JournalId, sequence: u64, effect: Effect) -> CallIntent {
    CallIntent {
        journal,
        sequence,
        method: "builtin/now".to_owned(),
        kind: Kind::Tool,
        effect,
        arguments: vec![0, 1, 255],
        clocks: vec![i64::MIN, -1, 0, i64::MAX],
        threaded: false,
    }
}

pub fn value(byte: u8) -> CallOutcome {
    CallOutcome {
        result: Ok(Success {
            value: vec![byte],
            ..Success::default()
        }),
        micros: 12,
    }
}

pub fn failure(text: &str) -> CallOutcome {
    CallOutcome {
        result: Err(text.to_owned()),
        micros: 0,
    }
}
