//! `callgate cost`.

use callgate_agent::since;
use callgate_store::CostBy;
use clap::{Args, ValueEnum};
use jiff::Timestamp;

/// What models have cost
///
/// Every request to a model counts: rounds of turns, agents, what plugins ask,
/// summaries, vectors. Where a price is not known, sums say "at least".
/// With --json: {"by", "since", "total", "rows": [{"key", "requests", "tokens_in",
/// "cached", "written", "tokens_out", "money", "unpriced"}]}; money is in millionths.
#[derive(Debug, Args)]
#[command(
    verbatim_doc_comment,
    after_help = "\
Examples:
  callgate cost
  callgate cost --since 24h --by method
  callgate cost --since 2026-01-01 --by user --json

Prices that are not known, or are another than the list price, are set by
price = { input = 3.0, output = 15.0 } of the model in callgate.toml; limits by
[budget]: see docs/configuration.md."
)]
pub struct Cost {
    /// From when on: 7d, 24h, 30m, 2w, a date, or a time
    #[arg(long, value_name = "TIME", default_value = "7d", value_parser = moment)]
    pub since: Timestamp,
    /// By what to tell costs apart
    #[arg(long, value_enum, default_value_t = Grouping::Day)]
    pub by: Grouping,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Grouping {
    Day,
    Hour,
    User,
    Session,
    Plugin,
    Method,
    Model,
    Turn,
}

impl From<Grouping> for CostBy {
    fn from(by: Grouping) -> Self {
        match by {
            Grouping::Day => CostBy::Day,
            Grouping::Hour => CostBy::Hour,
            Grouping::User => CostBy::User,
            Grouping::Session => CostBy::Session,
            Grouping::Plugin => CostBy::Plugin,
            Grouping::Method => CostBy::Method,
            Grouping::Model => CostBy::Model,
            Grouping::Turn => CostBy::Turn,
        }
    }
}

fn moment(text: &str) -> Result<Timestamp, String> {
    since(text, Timestamp::now())
}
