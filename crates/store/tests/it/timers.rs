//! Timers: set and cancelled with the call that asked, fired once, as a message that arrives.

use callgate_contract::{Change, Effect, JournalId, Part, Principal, Role};
use callgate_store::{
    MAX_TIMER_TEXT, MAX_TIMERS, NewTimer, PluginTimer, Store, StoreError, TimerState,
};
use callgate_testkit::on_each_engine;
use jiff::{SignedDuration, Timestamp};
use uuid::Uuid;

use crate::common::{call, session, value};

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(seconds).unwrap()
}

fn timer(to: &str, seconds: i64, text: &str) -> NewTimer {
    NewTimer {
        id: Uuid::now_v7(),
        session: session(to),
        principal: "cli:张三".parse().unwrap(),
        role: Role::Admin,
        due_at: at(seconds),
        text: text.to_owned(),
    }
}

fn change(timer: &NewTimer) -> Change {
    Change::SetTimer {
        id: timer.id,
        session: timer.session.clone(),
        principal: timer.principal.clone(),
        role: timer.role,
        due_at: timer.due_at.as_millisecond(),
        text: timer.text.clone(),
    }
}

async fn apply(store: &Store, changes: &[Change]) -> Result<(), StoreError> {
    let rows = call(JournalId::fresh(), 1, Effect::Rows);
    store.journal().record(&rows, &value(0), changes).await
}

#[tokio::test]
async fn timers_are_set_and_cancelled_with_their_call() {
    on_each_engine(async |home| {
        let store = home.open().await;
        let (late, soon) = (timer("a", 200, "晚\0"), timer("a", 100, "早"));
        let other = timer("b", 50, "x");
        let changes = [change(&late), change(&soon), change(&other)];
        apply(&store, &changes).await.unwrap();

        let store = home.open().await;
        let timers = store.timers();
        let list = timers.list(&session("a")).await.unwrap();
        let ids: Vec<Uuid> = list.iter().map(|timer| timer.id).collect();
        assert_eq!(ids, [soon.id, late.id]);
        assert_eq!(list[1].text, "晚\0");
        assert_eq!((&*list[1].user, list[1].due_at), ("张三", at(200)));
        assert_eq!(list[1].state, TimerState::Waiting);
        assert_eq!(timers.next_due().await.unwrap(), Some(at(50)));

        // Another session's cannot be cancelled; one that is not there need not be.
        let cancel = |to: &str, id| Change::CancelTimer {
            session: session(to),
            id,
        };
        let changes = [
            cancel("a", soon.id),
            cancel("a", other.id),
            cancel("a", Uuid::now_v7()),
        ];
        apply(&store, &changes).await.unwrap();
        assert_eq!(timers.list(&session("a")).await.unwrap().len(), 1);
        assert_eq!(timers.list(&session("b")).await.unwrap().len(), 1);
        assert!(timers.cancel(&session("b"), other.id).await.unwrap());
        assert!(!timers.cancel(&session("b"), other.id).await.unwrap());
        assert_eq!(timers.next_due().await.unwrap(), Some(at(200)));
        assert_eq!(timers.fire(other.id).await.unwrap(), None);
    })
    .await;
}

#[tokio::test]
async fn a_due_timer_arrives_once() {
    on_each_engine(async |home| {
        let store = home.open().await;
        let timers = store.timers();
        let (first, second) = (timer("a", 100, "起\0床"), timer("a", 101, "y"));
        for timer in [&second, &first] {
            timers.set(timer).await.unwrap();
        }
        let due = async |seconds| {
            let due = timers.due(at(seconds)).await.unwrap();
            due.into_iter().map(|timer| timer.id).collect::<Vec<_>>()
        };
        assert_eq!(due(99).await, [] as [Uuid; 0]);
        assert_eq!(due(100).await, [first.id]);
        assert_eq!(due(500).await, [first.id, second.id]);

        let stores = [home.open().await, home.open().await];
        let mut firing = tokio::task::JoinSet::new();
        for n in 0..10 {
            let (store, id) = (stores[n % 2].clone(), first.id);
            firing.spawn(async move { store.timers().fire(id).await.unwrap() });
        }
        let fired: Vec<_> = firing.join_all().await.into_iter().flatten().collect();
        assert_eq!(fired.len(), 1);
        assert_eq!(due(500).await, [second.id]);
        let row = &fired[0];
        assert_eq!(row.parts, [Part::text("起\0床")]);
        assert_eq!(row.sender.as_ref().unwrap().id, "张三");
        assert!(row.mentioned);
        // Whoever set it has then the role they had when they did.
        assert_eq!(row.sender_role, Some(Role::Admin));
        assert_eq!(row.principal(), first.principal);
        let unanswered = store.log().unanswered(&session("a")).await.unwrap();
        assert_eq!(unanswered, fired);
    })
    .await;
}

#[tokio::test]
async fn timers_have_bounds() {
    on_each_engine(async |home| {
        let store = home.open().await;
        for length in [0, MAX_TIMER_TEXT + 1] {
            let refused = apply(&store, &[change(&timer("a", 1, &"x".repeat(length)))]).await;
            assert!(matches!(refused, Err(StoreError::TimerSize { .. })));
        }
        let never = Change::SetTimer {
            id: Uuid::now_v7(),
            session: session("a"),
            principal: Principal::System,
            role: Role::Member,
            due_at: i64::MAX,
            text: "x".to_owned(),
        };
        assert!(apply(&store, &[never]).await.is_err());
        let longest = timer("a", 1, &"x".repeat(MAX_TIMER_TEXT));
        let mut all = vec![change(&longest)];
        all.extend((1..MAX_TIMERS).map(|n| change(&timer("a", n as i64, "x"))));
        apply(&store, &all).await.unwrap();
        let one_more = timer("a", 1, "x");
        let refused = apply(&store, &[change(&one_more)]).await;
        assert!(matches!(refused, Err(StoreError::TooManyTimers)));
        // Set again it is the same timer; elsewhere there is room; a fired one makes room.
        apply(&store, &[change(&longest)]).await.unwrap();
        apply(&store, &[change(&timer("b", 1, "x"))]).await.unwrap();
        store.timers().fire(longest.id).await.unwrap().unwrap();
        let later = at(1) + SignedDuration::from_hours(1);
        let due = store.timers().due(later).await.unwrap();
        assert_eq!(due.len(), MAX_TIMERS);
        apply(&store, &[change(&one_more)]).await.unwrap();
    })
    .await;
}

fn of_plugin(seconds: i64, cron: Option<&str>) -> PluginTimer {
    PluginTimer {
        id: Uuid::now_v7(),
        flavour: "nekro".to_owned(),
        plugin: "a.b".to_owned(),
        name: "job".to_owned(),
        payload: vec![0, 159, 146],
        session: session("a"),
        text: "浇花".to_owned(),
        due_at: at(seconds),
        cron: cron.map(str::to_owned),
        timezone: None,
    }
}

#[tokio::test]
async fn a_plugins_timer_is_claimed_once_for_each_time_and_outlives_the_process() {
    on_each_engine(async |home| {
        let store = home.open().await;
        let (once, daily) = (of_plugin(100, None), of_plugin(50, Some("0 8 * * *")));
        for timer in [&once, &daily] {
            assert!(store.timers().set_for_plugin(timer).await.unwrap());
        }

        let store = home.open().await;
        let timers = store.timers();
        // Texts that arrive are another matter.
        assert_eq!(timers.due(at(1000)).await.unwrap(), []);
        assert_eq!(timers.next_due().await.unwrap(), None);
        assert_eq!(timers.fire(once.id).await.unwrap(), None);
        let due = timers.due_for_plugins(at(99)).await.unwrap();
        assert_eq!(due, std::slice::from_ref(&daily));
        assert!(timers.claim(&daily, Some(at(200))).await.unwrap());
        assert!(!timers.claim(&daily, Some(at(200))).await.unwrap());
        assert!(timers.claim(&once, None).await.unwrap());
        let left = timers.of_plugins("nekro").await.unwrap();
        assert_eq!(left.len(), 1);
        assert_eq!((left[0].id, left[0].due_at), (daily.id, at(200)));

        let foreign = PluginTimer {
            flavour: "astrbot".to_owned(),
            ..daily.clone()
        };
        assert!(!timers.set_for_plugin(&foreign).await.unwrap());
        assert!(!timers.cancel_of_plugins("astrbot", daily.id).await.unwrap());
        assert!(timers.set_for_plugin(&daily).await.unwrap());
        assert!(timers.cancel_of_plugins("nekro", daily.id).await.unwrap());
        assert_eq!(timers.of_plugins("nekro").await.unwrap(), []);
    })
    .await;
}
