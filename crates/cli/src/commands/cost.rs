//! `callgate cost`: what models have cost.

use std::process::ExitCode;

use callgate_agent::{CostReport, money};
use callgate_service::operations::ReportCost;
use callgate_store::{CostBy, CostSum};

use crate::{
    args::{Common, Cost},
    connect::Purpose,
    failure::Failure,
    show,
};

pub async fn perform(common: &Common, cost: Cost) -> Result<ExitCode, Failure> {
    let report = ReportCost {
        by: Some(cost.by.into()),
        since: Some(cost.since.to_string()),
    };
    let report = super::call(common, Purpose::Look, report).await?;
    common.show(&report, show_report);
    Ok(ExitCode::SUCCESS)
}

fn show_report(report: &CostReport) {
    if report.rows.is_empty() {
        return show::note("no model was asked since then");
    }
    let mut rows = vec![
        [
            name(report.by),
            "requests",
            "tokens in",
            "cached",
            "tokens out",
            "cost",
        ]
        .map(str::to_owned)
        .to_vec(),
    ];
    for line in &report.rows {
        let key = line.key.as_deref().unwrap_or("(conversations)");
        rows.push(row(key, &line.sum));
    }
    if report.rows.len() > 1 {
        rows.push(row("total", &report.total));
    }
    show::data(&show::table(&rows));
    if report.total.unpriced > 0 {
        show::note(&format!(
            "{} went to models whose price is not known: give each a price in \
             callgate.toml, such as price = {{ input = 3.0, output = 15.0 }} for a million tokens",
            show::count(report.total.unpriced, "request")
        ));
    }
}

fn row(key: &str, sum: &CostSum) -> Vec<String> {
    let counts = [sum.requests, sum.tokens_in, sum.cached, sum.tokens_out];
    let mut cells = vec![key.to_owned()];
    cells.extend(counts.map(|count| count.to_string()));
    cells.push(money(sum));
    cells
}

fn name(by: CostBy) -> &'static str {
    match by {
        CostBy::Day => "day",
        CostBy::Hour => "hour",
        CostBy::User => "user",
        CostBy::Session => "session",
        CostBy::Plugin => "plugin",
        CostBy::Method => "method",
        CostBy::Model => "model",
        CostBy::Turn => "turn",
    }
}
