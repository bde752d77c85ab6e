//! A database that an earlier version made, with rows in it, as this version finds it.

use callgate_contract::{JournalId, SessionKey, Stop};
use callgate_store::{Ask, CostBy, CostSum, Decision, Rule, Scope, Spent, Store, Tail};
use callgate_testkit::{Home, on_each_engine};
use jiff::Timestamp;
use sqlx::{
    AnyConnection, Connection, SqlSafeStr,
    migrate::{Migration, MigrationType, Migrator},
};

macro_rules! migrations {
    ($($version:literal $name:literal),* $(,)?) => {
        [$((
            $version,
            $name,
            include_str!(concat!("../../migrations/", $version, "_", $name, ".sql")),
        )),*]
    };
}

/// A database as the version that knew the migrations up to `last` left it.
async fn made_by(home: &Home, last: i64) -> AnyConnection {
    let all = migrations![
        "0001" "spine", "0002" "turns", "0003" "arrival", "0004" "plugins", "0007" "remote",
        "0008" "rooms", "0010" "spent", "0011" "statistics", "0012" "capsule",
        "0021" "plugin_timers", "0022" "taking_over", "0023" "turn_sums",
    ];
    let known = all.into_iter().filter_map(|(version, name, text)| {
        let version = version.parse().unwrap();
        let sql = text.into_sql_str();
        let kind = MigrationType::Simple;
        (version <= last).then(|| Migration::new(version, name.into(), kind, sql, false))
    });
    std::fs::create_dir_all(home.data()).unwrap();
    sqlx::any::install_default_drivers();
    let sqlite = format!("sqlite://{}/callgate.db?mode=rwc", home.data().display());
    let url = home.options().url.unwrap_or(sqlite);
    let mut connection = AnyConnection::connect(&url).await.unwrap();
    let migrator = Migrator::with_migrations(known.collect());
    migrator
        .run_direct(None, &mut connection, false)
        .await
        .unwrap();
    connection
}

async fn put(connection: &mut AnyConnection, rows: &[String]) {
    for row in rows {
        let row = sqlx::AssertSqlSafe(row.clone());
        sqlx::query(row).execute(&mut *connection).await.unwrap();
    }
}

fn session() -> SessionKey {
    "cli:FriendMessage:ann".parse().unwrap()
}

fn turn(id: JournalId, parent: Option<JournalId>, user: &str, at: i64) -> String {
    let parent = parent.map_or("NULL".to_owned(), |parent| format!("'{}'", parent.0));
    format!(
        "INSERT INTO turn (id, session, user_name, role, mode, model, parent, depth, started_at,
                           stop, tokens_in, tokens_out, calls, millis)
         VALUES ('{}', '{}', '{user}', 'user', 'tools', 'large', {parent}, 0, {at},
                 'answered', 30, 12, 4, 900)",
        id.0,
        session(),
    )
}

/// `answered`: when, and the money where a price was known.
fn round(turn: JournalId, number: u32, answered: Option<(i64, Option<u64>)>) -> String {
    let (at, money) = match answered {
        Some((at, money)) => (at.to_string(), money.map(|money| money.to_string())),
        None => ("NULL".to_owned(), None),
    };
    let money = money.unwrap_or("NULL".to_owned());
    format!(
        "INSERT INTO round (turn, number, asked_at, attempts, reply, tokens_in, tokens_out, money,
                            answered_at)
         VALUES ('{}', {number}, 1000, 1, '{{}}', 15, 6, {money}, {at})",
        turn.0
    )
}

/// Migration 0010: what rounds cost before there was an account of it.
#[tokio::test]
async fn rounds_of_before_are_on_the_account() {
    on_each_engine(async |home| {
        const DAY: i64 = 86_400_000;
        let (own, agents) = (JournalId::fresh(), JournalId::fresh());
        let mut old = made_by(&home, 8).await;
        let rows = [
            turn(own, None, "ann", DAY),
            turn(agents, Some(own), "ann", DAY),
            round(own, 1, Some((DAY, Some(70)))),
            round(own, 2, Some((2 * DAY, None))),
            // Asked, and cut off: nobody knows what it cost.
            round(own, 3, None),
            round(agents, 1, Some((2 * DAY, Some(5)))),
        ];
        put(&mut old, &rows).await;
        old.close().await.unwrap();

        let store = home.open().await;
        let sum = async |by| store.costs().sum(by, Timestamp::UNIX_EPOCH).await.unwrap();
        let days = sum(CostBy::Day).await;
        let one = |requests, money, unpriced| CostSum {
            requests,
            tokens_in: 15 * requests,
            tokens_out: 6 * requests,
            money,
            unpriced,
            ..CostSum::default()
        };
        let days: Vec<_> = days
            .iter()
            .map(|day| (day.key.as_deref().unwrap(), day.sum))
            .collect();
        assert_eq!(
            days,
            [("1970-01-02", one(1, 70, 0)), ("1970-01-03", one(2, 5, 1))]
        );
        let keys = async |by| -> Vec<Option<String>> {
            sum(by).await.into_iter().map(|line| line.key).collect()
        };
        assert_eq!(keys(CostBy::Model).await, [Some("large".to_owned())]);
        assert_eq!(keys(CostBy::User).await, [Some("ann".to_owned())]);
        assert_eq!(keys(CostBy::Session).await, [Some(session().to_string())]);
        assert_eq!(keys(CostBy::Method).await, [None], "their own");

        // Budgets see it too, with what the turn's agents spent.
        let spent = store.turns().spent(Scope::Turn(own)).await.unwrap();
        let expected = Spent {
            tokens_in: 45,
            tokens_out: 18,
            calls: 8,
            millis: 1_800,
            money: Some(75),
            unpriced: 1,
        };
        assert_eq!(spent, expected);
        // And a round that is answered now is counted beside them, not again.
        assert_eq!(
            home.open()
                .await
                .turns()
                .spent(Scope::Turn(own))
                .await
                .unwrap(),
            expected
        );
    })
    .await;
}

/// Migration 0012: runs that nobody could execute again to their very end.
#[tokio::test]
async fn runs_of_before_have_no_tail() {
    on_each_engine(async |home| {
        let (ended, open) = (JournalId::fresh(), JournalId::fresh());
        let seed = if home.options().url.is_some() {
            "decode('07070707070707070707070707070707', 'hex')"
        } else {
            "x'07070707070707070707070707070707'"
        };
        let code = if home.options().url.is_some() {
            "'pass'::bytea"
        } else {
            "x'70617373'"
        };
        let run = |id: JournalId, stop: &str| {
            format!(
                "INSERT INTO run (journal, session, user_name, role, surface, code, seed,
                                  started_at, stop, report, finished_at)
                 VALUES ('{}', '{}', 'ann', 'operator', 'code', {code}, {seed}, 1000, {stop}, NULL,
                         2000)",
                id.0,
                session(),
            )
        };
        let mut old = made_by(&home, 11).await;
        put(&mut old, &[run(ended, "'finished'"), run(open, "NULL")]).await;
        old.close().await.unwrap();

        let store = home.open().await;
        let found = store.journal().run(ended).await.unwrap();
        assert_eq!(found.tail, Tail::default());
        assert_eq!(found.finish.unwrap().stop, Stop::Finished);
        assert_eq!(found.start.code.as_deref(), Some("pass"));
        let cut_off = store.journal().cut_off(Timestamp::now()).await.unwrap();
        let cut_off: Vec<JournalId> = cut_off.iter().map(|run| run.start.id).collect();
        assert_eq!(cut_off, [open], "and goes on as ours");
        let clocks = Tail {
            clocks: vec![7],
            threaded: false,
        };
        let journal = store.journal();
        let report = serde_json::json!({});
        journal
            .finish_with(open, Stop::Finished, &report, &clocks)
            .await
            .unwrap();
        assert_eq!(journal.run(open).await.unwrap().tail, clocks);
    })
    .await;
}

/// Migration 0002 and those after it: what was said before anybody answered, and what was on its way.
#[tokio::test]
async fn what_was_said_before_there_were_turns_stays_said() {
    on_each_engine(async |home| {
        let key = session();
        let mut old = made_by(&home, 1).await;
        let said = |id: i64, role: &str| {
            format!(
                "INSERT INTO log (id, session, role, parts, written_at)
                 VALUES ({id}, '{key}', '{role}', '[{{\"type\":\"text\",\"text\":\"hi\"}}]', 1000)"
            )
        };
        let rows = [
            said(1, "user"),
            said(2, "assistant"),
            "INSERT INTO counter (name, value) VALUES ('log', 2)".to_owned(),
        ];
        put(&mut old, &rows).await;
        old.close().await.unwrap();
        let store = home.open().await;
        assert_eq!(store.log().list(&key, 9).await.unwrap().len(), 2);
        assert_eq!(
            store.log().waiting().await.unwrap(),
            [],
            "nobody waits for an answer"
        );
        assert_eq!(
            store.log().left_unanswered(Timestamp::now()).await.unwrap(),
            []
        );
    })
    .await;
}

/// Migration 0022: messages that an instance of before had claimed, and turns without a holder.
#[tokio::test]
async fn what_was_under_way_is_ours_to_take_up() {
    on_each_engine(async |home| {
        let id = JournalId::fresh();
        let mut old = made_by(&home, 21).await;
        let rows = [
            turn(id, None, "ann", 1000).replace("'answered'", "NULL"),
            format!(
                "INSERT INTO outbox (id, session, parts, queued_at, claimed_by, claimed_until)
                 VALUES (1, '{}', '[]', 1000, 'somebody', 2000)",
                session()
            ),
            "INSERT INTO counter (name, value) VALUES ('outbox', 1)".to_owned(),
        ];
        put(&mut old, &rows).await;
        old.close().await.unwrap();
        let store: Store = home.open().await;
        assert_eq!(
            store.turns().cut_off(Timestamp::now()).await.unwrap().len(),
            1
        );
        assert!(store.leases().adopt(id).await.unwrap());
        store.turns().asked(id, 1, None).await.unwrap();
        assert_eq!(store.outbox().left_behind().await.unwrap(), [session()]);
        let sent = store
            .outbox()
            .deliver_pending(None, &Anywhere)
            .await
            .unwrap();
        assert_eq!(sent.delivered, 1);
    })
    .await;
}

struct Anywhere;

impl callgate_contract::Outbox for Anywhere {
    fn deliver<'a>(
        &'a self,
        _: i64,
        _: &'a callgate_contract::Message,
    ) -> callgate_contract::BoxFuture<'a, Result<(), String>> {
        Box::pin(std::future::ready(Ok(())))
    }
}

#[tokio::test]
async fn answers_that_stood_before_still_stand_and_can_be_revoked() {
    on_each_engine(async |home| {
        let mut old = made_by(&home, 23).await;
        let session = session();
        let answered = |sequence: u32, at: i64, by: &str| {
            format!(
                "INSERT INTO approval (id, journal, sequence, session, user_name, method, arguments,
                                       state, asked_at, answered_at, answered_by)
                 VALUES ({sequence}, '{}', 1, '{session}', 'ann', 'builtin/fetch', '{{}}', 'allowed',
                         1, {at}, '{by}')",
                JournalId::fresh().0,
            )
        };
        let rule = |method: &str, decision: &str| {
            format!(
                "INSERT INTO rule (session, method, decision)
                 VALUES ('{session}', '{method}', '{decision}')"
            )
        };
        let rows = [
            answered(1, 1_000, "bob"),
            answered(2, 2_000, "ann"),
            rule("builtin/fetch", "always"),
            rule("builtin/now", "never"),
            "INSERT INTO counter (name, value) VALUES ('approval', 2)".to_owned(),
        ];
        put(&mut old, &rows).await;
        drop(old);

        let store = home.open().await;
        let approvals = store.approvals();
        let rules = approvals.rules().await.unwrap();
        let told: Vec<_> = rules
            .iter()
            .map(|rule| {
                let by = rule.made_by.as_deref();
                (rule.id, rule.method.as_str(), rule.decision, by, rule.made_at)
            })
            .collect();
        let at = |milliseconds| Timestamp::from_millisecond(milliseconds).unwrap();
        assert_eq!(
            told,
            [
                (1, "builtin/fetch", Rule::Always, Some("ann"), at(2_000)),
                (2, "builtin/now", Rule::Never, None, at(0)),
            ]
        );
        approvals.revoke_rule(1).await.unwrap();
        let now = approvals.rule(&session, "builtin/now").await.unwrap();
        assert_eq!(now, Some(Rule::Never));
        let ask = Ask {
            journal: JournalId::fresh(),
            sequence: 1,
            session: session.clone(),
            user: "ann".into(),
            method: "builtin/fetch".into(),
            arguments: serde_json::json!({}),
        };
        let asked = approvals.ask(&ask).await.unwrap();
        approvals
            .answer(asked.id, Decision::Allow, true, None)
            .await
            .unwrap();
        assert_eq!(approvals.rules().await.unwrap().last().unwrap().id, 3);
    })
    .await;
}
