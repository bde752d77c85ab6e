//! Values the tests share.

use std::{path::Path, time::Duration};

use callgate_contract::{
    Allowed, Change, ConversationId, Effect, JournalId, Kind, Message, Mode, Part, Role,
    SessionKey, Surface, TurnStop, Usage,
};
use callgate_store::{
    CallIntent, CallOutcome, Charge, DecidedBy, Incoming, KeptRequest, NewMessage, RunStart,
    Sender, Success, TurnEnd, TurnStart,
};
use callgate_testkit::Home;
use serde_json::{Value as Json, json};
use tokio_postgres::NoTls;

pub fn session(id: &str) -> SessionKey {
    format!("cli:FriendMessage:{id}").parse().unwrap()
}

pub fn run(id: JournalId) -> RunStart {
    RunStart {
        id,
        session: session("张三"),
        principal: "cli:张三".parse().unwrap(),
        role: Role::Operator,
        surface: Surface::Code,
        code: Some("print('你好\0')".to_owned()),
        allowed: Allowed::Only(vec!["builtin/now".to_owned()]),
        seed: [7; 16],
        turn: None,
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
        decided_by: Some(DecidedBy::Configured("ask method=现在:now".to_owned())),
    }
}

pub fn value(byte: u8) -> CallOutcome {
    CallOutcome {
        result: Ok(Success {
            value: vec![byte],
            ..Success::default()
        }),
        detail: None,
        micros: 12,
    }
}

pub fn failure(text: &str) -> CallOutcome {
    CallOutcome {
        result: Err(text.to_owned()),
        detail: None,
        micros: 0,
    }
}

pub fn turn(id: JournalId, session: SessionKey) -> TurnStart {
    TurnStart {
        id,
        session,
        conversation: None,
        principal: "cli:张三".parse().unwrap(),
        role: Role::Member,
        mode: Mode::Tools,
        model: "script:文.jsonl".to_owned(),
        persona: Some("诗人\0".to_owned()),
        allowed: Allowed::Only(vec![]),
        parent: None,
        depth: 0,
        unprompted: false,
        plan: json!({"max_steps": 30}),
    }
}

pub fn end<'a>(messages: &'a [NewMessage], changes: &'a [Change]) -> TurnEnd<'a> {
    TurnEnd {
        tainted: false,
        calls: true,
        stop: TurnStop::Answered,
        report: &Json::Null,
        messages,
        changes,
        elapsed: Duration::from_millis(1500),
    }
}

pub fn incoming(session: SessionKey, text: &str, message_id: Option<&str>) -> Incoming {
    Incoming {
        session,
        sender: Sender {
            id: "u1".to_owned(),
            name: "张三\0".to_owned(),
        },
        parts: vec![Part::text(text)],
        message_id: message_id.map(str::to_owned),
        hidden: false,
        mentioned: false,
        sent_at: None,
    }
}

pub fn send(session: SessionKey, text: &str) -> Change {
    Change::Send {
        message: Message {
            session,
            parts: vec![Part::text(text)],
        },
    }
}

pub fn said(role: &str, text: &str) -> Json {
    json!({"role": role, "content": text})
}

pub fn kept(request: &Json, shared_in: Option<ConversationId>) -> KeptRequest {
    KeptRequest {
        text: request.to_string(),
        shared_in,
    }
}

pub fn charge(usage: Usage, money: Option<u64>) -> Charge {
    Charge {
        model: "model".to_owned(),
        usage: Some(Usage { money, ..usage }),
        ..Charge::default()
    }
}

/// What a statement finds in the database itself: text or bytes, the first column of every row.
pub async fn ask(home: &Home, sql: &str) -> Vec<Vec<u8>> {
    match home.options().url {
        None => ask_sqlite(&home.data().join("callgate.db"), sql),
        Some(url) => ask_postgres(&url, sql).await,
    }
}

fn ask_sqlite(path: &Path, sql: &str) -> Vec<Vec<u8>> {
    let connection = rusqlite::Connection::open(path).unwrap();
    let mut statement = connection.prepare(sql).unwrap();
    let bytes =
        |row: &rusqlite::Row<'_>| Ok(row.get_ref(0)?.as_bytes_or_null()?.map(<[u8]>::to_vec));
    let rows = statement.query_map([], bytes).unwrap();
    rows.filter_map(Result::unwrap).collect()
}

async fn ask_postgres(url: &str, sql: &str) -> Vec<Vec<u8>> {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
    // Ends with the client.
    tokio::spawn(connection);
    let rows = client.query(sql, &[]).await.unwrap();
    let bytes = |row: &tokio_postgres::Row| match row.try_get::<_, Option<String>>(0) {
        Ok(text) => text.map(String::into_bytes),
        Err(_) => row.get(0),
    };
    rows.iter().filter_map(bytes).collect()
}
