//! An hour of a group, from a transcript, through the real arrival: whoever speaks to the bot is answered,
//! and beyond that it speaks no more often than it may.
//!
//! Time passes by making everything older that is in the store, and by turning the session's time zone.

use std::sync::Arc;

use callgate_agent::{AgentSettings, AnswerWhen, Arrived, Override, Pace, Watch};
use callgate_contract::{Part, SessionKey};
use callgate_gate::GatePolicy;
use callgate_store::{Incoming, LogRole, LogRow, Sender, SessionSettings};
use callgate_testkit::Home;
use jiff::{SignedDuration, Timestamp, civil::Time, tz::TimeZone};
use serde::Deserialize;
use serde_json::json;
use tokio::task::JoinSet;

use crate::stage::{Scripted, Stage, settings};

const DAY: i64 = 24 * 3_600;
const HOUR: SignedDuration = SignedDuration::from_hours(1);

#[derive(Clone, Deserialize)]
#[serde(untagged)]
enum Line {
    Said(Said),
    Restart {
        #[serde(rename = "restart")]
        _restart: bool,
    },
}

#[derive(Clone, Deserialize)]
struct Said {
    at: Time,
    from: String,
    text: String,
    #[serde(default)]
    mention: bool,
    /// To the newest message of the bot.
    #[serde(default)]
    reply: bool,
    /// Seconds that it took to arrive.
    #[serde(default)]
    late: i64,
}

impl Said {
    fn is_addressed(&self) -> bool {
        self.mention || self.reply || self.text.starts_with(['!', '/'])
    }
}

struct Group {
    home: Home,
    stage: Stage,
    settings: AgentSettings,
    clock: Option<Time>,
    heard: Vec<Said>,
}

fn session() -> SessionKey {
    "q:GroupMessage:1".parse().unwrap()
}

fn talkative() -> Scripted {
    (0..500).fold(Scripted::default(), |model, _| model.says("Well."))
}

impl Group {
    async fn new(answer: serde_json::Value, pace: serde_json::Value) -> Self {
        let usual = AnswerWhen {
            accounts: vec!["10086".into()],
            names: vec!["小门".into()],
            prefixes: vec!["!".into()],
            ..AnswerWhen::default()
        };
        let settings = AgentSettings {
            answer: usual.with(&answer).unwrap(),
            pace: Pace::default().with(&pace).unwrap(),
            ..settings()
        };
        let home = Home::sqlite();
        let stage = Group::open(&home, &settings).await;
        Group {
            home,
            stage,
            settings,
            clock: None,
            heard: Vec::new(),
        }
    }

    async fn open(home: &Home, settings: &AgentSettings) -> Stage {
        let store = home.open().await;
        Stage::with(store, talkative(), GatePolicy::default(), settings.clone())
    }

    /// What is said in the same second comes at once.
    async fn plays(&mut self, transcript: &str) {
        let lines = transcript.lines().map(serde_json::from_str);
        let lines: Vec<Line> = lines.collect::<Result<_, _>>().unwrap();
        let together = |one: &Line, other: &Line| match (one, other) {
            (Line::Said(one), Line::Said(other)) => one.at == other.at,
            _ => false,
        };
        for lines in lines.chunk_by(together) {
            let mut said = Vec::new();
            for line in lines {
                match line {
                    Line::Said(one) => said.push(one.clone()),
                    Line::Restart { .. } => {
                        self.stage = Group::open(&self.home, &self.settings).await;
                        self.stage.agent.recover().await.unwrap();
                    }
                }
            }
            if let Some(first) = said.first() {
                self.it_is(first.at).await;
                self.hears(said).await;
            }
        }
    }

    async fn it_is(&mut self, time: Time) {
        if let Some(before) = self.clock.replace(time) {
            let passed = time.duration_since(before).as_secs().rem_euclid(DAY) * 1_000;
            self.home.alter(&format!(
                "UPDATE log SET written_at = written_at - {passed};
                 UPDATE turn SET started_at = started_at - {passed},
                                 finished_at = finished_at - {passed}"
            ));
        }
        let now = Timestamp::now().to_zoned(TimeZone::UTC).time();
        let ahead = time.duration_since(now).as_secs();
        let (sign, ahead) = (if ahead < 0 { '-' } else { '+' }, ahead.abs());
        let (hours, minutes, seconds) = (ahead / 3_600, ahead / 60 % 60, ahead % 60);
        let zone = format!("{sign}{hours:02}:{minutes:02}:{seconds:02}");
        let turned = json!({ "time_zone": zone });
        let settings = self.stage.agent.store().settings();
        let change = |own: &mut SessionSettings| own.pace = Some(turned);
        settings.change_session(&session(), change).await.unwrap();
    }

    async fn hears(&mut self, said: Vec<Said>) {
        // As platforms name what we have sent.
        self.home.alter(
            "INSERT INTO receipt (session, message_id, log)
             SELECT session, 'ours-' || id, id FROM log WHERE role = 'assistant'
             ON CONFLICT DO NOTHING",
        );
        let ours = self.rows().await;
        let ours = ours.iter().rev().find(|row| row.role == LogRole::Assistant);
        let ours = ours.map(|row| format!("ours-{}", row.id));
        let mut arriving = JoinSet::new();
        for one in said {
            let id = format!("theirs-{}", self.heard.len());
            let mut parts = vec![Part::text(one.text.as_str())];
            if one.mention {
                let (id, name) = ("10086".to_owned(), String::new());
                parts.insert(0, Part::Mention { id, name });
            }
            if one.reply {
                let to = ours.clone().unwrap();
                parts.insert(0, Part::Reply { to, text: None });
            }
            let incoming = Incoming {
                session: session(),
                sender: Sender {
                    id: one.from.clone(),
                    name: one.from.clone(),
                },
                parts,
                message_id: Some(id.clone()),
                hidden: false,
                mentioned: false,
                sent_at: Some(Timestamp::now().as_millisecond() - one.late * 1_000),
            };
            let agent = self.stage.agent.clone();
            arriving.spawn(async move {
                let arrived = agent.arrive(incoming, Override::default(), Watch::default());
                arrived.await.unwrap()
            });
            self.heard.push(one);
        }
        let _: Vec<Arrived> = arriving.join_all().await;
    }

    async fn rows(&self) -> Vec<LogRow> {
        let log = self.stage.agent.store().log();
        log.list(&session(), 10_000).await.unwrap()
    }

    /// When anything was said, and whether nobody had asked for it; oldest first.
    async fn answers(&self) -> Vec<(Timestamp, bool)> {
        let turns = self.stage.agent.store().turns();
        let turns = turns.list(&session(), 10_000).await.unwrap();
        let answers = turns
            .into_iter()
            .map(|turn| (turn.finish.unwrap().at, turn.start.unprompted));
        let mut answers: Vec<_> = answers.collect();
        answers.sort_unstable();
        answers
    }

    /// With whether a turn has taken it.
    async fn heard(&self) -> Vec<(Said, bool)> {
        let rows = self.rows().await;
        let taken = |place: usize| {
            let id = Some(format!("theirs-{place}"));
            let row = rows.iter().find(|row| row.message_id == id);
            row.unwrap().turn.is_some()
        };
        let heard = self.heard.iter().enumerate();
        heard
            .map(|(place, said)| (said.clone(), taken(place)))
            .collect()
    }

    async fn answers_all_who_speak_to_it(&self) {
        for (said, taken) in self.heard().await {
            assert!(!said.is_addressed() || taken, "{}: {}", said.at, said.text);
        }
    }

    /// The most that it said unasked in any hour.
    async fn busiest_hour(&self) -> usize {
        let answers = self.answers().await;
        let unasked = answers.iter().filter(|(_, unprompted)| *unprompted);
        let unasked: Vec<Timestamp> = unasked.map(|(at, _)| *at).collect();
        let within = |last: &Timestamp| {
            let hour = |at: &&Timestamp| *at <= last && last.duration_since(**at) < HOUR;
            unasked.iter().filter(hour).count()
        };
        unasked.iter().map(within).max().unwrap_or_default()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lively_evening_is_joined_no_more_often_than_said() {
    let pace = json!({"per_hour": 6, "cooldown_seconds": 90});
    let mut group = Group::new(json!({"probability": 0.3}), pace).await;
    group.plays(include_str!("transcripts/evening.jsonl")).await;
    group.answers_all_who_speak_to_it().await;
    assert_eq!(group.busiest_hour().await, 6);
    let answers = group.answers().await;
    for pair in answers.windows(2) {
        let ((before, _), (after, unprompted)) = (pair[0], pair[1]);
        let pause = after.duration_since(before);
        assert!(
            !unprompted || pause >= SignedDuration::from_secs(90),
            "{pause}"
        );
    }
    let asked = answers.iter().filter(|(_, unprompted)| !unprompted).count();
    assert!(asked > 20, "{asked}: what it was asked does not count");
}

#[tokio::test(flavor = "multi_thread")]
async fn at_night_only_those_are_answered_who_speak_to_it() {
    let is_night = |said: &Said| said.at.hour() >= 23 || said.at.hour() < 7;
    for (quiet, answered) in [("unaddressed", true), ("everything", false)] {
        let pace = json!({"quiet_hours": ["23:00-07:00"], "quiet": quiet});
        let mut group = Group::new(json!({"probability": 0.5}), pace).await;
        group.plays(include_str!("transcripts/night.jsonl")).await;
        let (night, evening): (Vec<_>, Vec<_>) =
            (group.heard().await.into_iter()).partition(|(said, _)| is_night(said));
        for (said, taken) in &night {
            let expected = answered && said.is_addressed();
            assert_eq!(*taken, expected, "{quiet}, {}: {}", said.at, said.text);
        }
        let joined = |(said, taken): &&(Said, bool)| *taken && !said.is_addressed();
        assert!(evening.iter().filter(joined).count() > 0);
        let ignored = |(said, taken): &(Said, bool)| !taken && said.is_addressed();
        assert!(!evening.iter().any(ignored));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_cap_holds_where_many_speak_at_once_and_over_restarts() {
    let mut group = Group::new(json!({"probability": 1.0}), json!({"per_hour": 3})).await;
    group.plays(include_str!("transcripts/flood.jsonl")).await;
    group.answers_all_who_speak_to_it().await;
    assert_eq!(group.busiest_hour().await, 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_comes_too_late_is_kept_and_not_answered() {
    let mut group = Group::new(json!({}), json!({"stale_seconds": 300})).await;
    group
        .plays(include_str!("transcripts/reconnect.jsonl"))
        .await;
    let heard = group.heard().await;
    for (said, taken) in &heard {
        let expected = said.late < 300 && (said.is_addressed() || said.text.contains("小门"));
        assert_eq!(*taken, expected, "{} late: {}", said.late, said.text);
    }
    assert!(
        heard
            .iter()
            .any(|(said, _)| said.late > 300 && said.is_addressed())
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn what_one_person_says_in_pieces_is_answered_as_one() {
    let pace = json!({"join_seconds": 2});
    let group = Arc::new(Group::new(json!({}), pace).await);
    let mut rooms = JoinSet::new();
    for (room, pieces) in [1_usize, 2, 5].into_iter().enumerate() {
        let group = group.clone();
        rooms.spawn(async move {
            let session: SessionKey = format!("q:GroupMessage:{room}").parse().unwrap();
            let mut arriving = JoinSet::new();
            for piece in 0..pieces {
                let incoming = Incoming {
                    session: session.clone(),
                    mentioned: true,
                    ..crate::stage::incoming("mei", &format!("piece {piece}"))
                };
                let agent = group.stage.agent.clone();
                arriving.spawn(async move {
                    let arrived = agent.arrive(incoming, Override::default(), Watch::default());
                    arrived.await.unwrap()
                });
            }
            arriving.join_all().await;
            let turns = group.stage.agent.store().turns();
            assert_eq!(turns.list(&session, 10).await.unwrap().len(), 1, "{pieces}");
        });
    }
    rooms.join_all().await;
}
