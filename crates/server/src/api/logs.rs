//! The log's newest lines; new ones are heard at /api/events.

use axum::{Json as Body, extract::State};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    Api, Outcome,
    input::Params,
    list::{List, Piece},
    route::{Routes, Verb},
};
use callgate_service::{Level, LogLine};

pub(super) fn routes(routes: &mut Routes) {
    routes
        .add(
            Verb::Get,
            "/api/logs",
            "Lines of the log, the newest first",
            list,
        )
        .query::<Which>()
        .gives::<List<LogLine>>();
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Which {
    /// This one and worse.
    level: Option<Level>,
    turn: Option<String>,
    plugin: Option<String>,
    session: Option<String>,
    /// Words of the message.
    query: Option<String>,
    #[serde(flatten)]
    piece: Piece,
}

impl Which {
    fn fits(&self, line: &LogLine) -> bool {
        let is =
            |wanted: &Option<String>, said: &Option<String>| wanted.is_none() || wanted == said;
        let words = self.query.as_deref().unwrap_or_default().to_lowercase();
        let text = line.message.to_lowercase();
        self.level.is_none_or(|level| line.level <= level)
            && is(&self.turn, &line.turn)
            && is(&self.plugin, &line.plugin)
            && is(&self.session, &line.session)
            && words.split_whitespace().all(|word| text.contains(word))
    }
}

async fn list(State(api): State<Api>, Params(which): Params<Which>) -> Outcome<List<LogLine>> {
    let before = which
        .piece
        .after()?
        .map(|it| u64::try_from(it).unwrap_or(0));
    let limit = which.piece.limit() as usize;
    let fits = |line: &LogLine| which.fits(line);
    let mut items = api.logs().read(before, limit + 1, fits);
    let more = items.len() > limit;
    items.truncate(limit);
    let next = more.then(|| items.last().map(|line| line.number.to_string()));
    Ok(Body(List {
        items,
        next: next.flatten(),
    }))
}
