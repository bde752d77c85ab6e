//! [`Table`]: the figures of one run, as text and as JSON.

use std::fmt;

use serde_json::{Value as Json, json};

use crate::{
    goals::{Goal, Measured},
    stats::Samples,
};

#[derive(Default)]
pub(crate) struct Table {
    rows: Vec<Row>,
    notes: Vec<String>,
}

struct Row {
    what: String,
    who: &'static str,
    figure: Figure,
    goals: &'static [Goal],
}

enum Figure {
    Times(Samples),
    Number { value: f64, unit: &'static str },
}

impl Table {
    pub(crate) fn times(
        &mut self,
        what: impl Into<String>,
        who: &'static str,
        samples: Samples,
        goals: &'static [Goal],
    ) {
        self.add(what.into(), who, Figure::Times(samples), goals);
    }

    pub(crate) fn number(
        &mut self,
        what: impl Into<String>,
        who: &'static str,
        (value, unit): (f64, &'static str),
        goals: &'static [Goal],
    ) {
        self.add(what.into(), who, Figure::Number { value, unit }, goals);
    }

    pub(crate) fn note(&mut self, text: impl Into<String>) {
        self.notes.push(text.into());
    }

    fn add(&mut self, what: String, who: &'static str, figure: Figure, goals: &'static [Goal]) {
        self.rows.push(Row {
            what,
            who,
            figure,
            goals,
        });
    }

    pub(crate) fn to_json(&self) -> Json {
        let rows: Vec<Json> = self.rows.iter().map(Row::to_json).collect();
        json!({ "rows": rows, "notes": self.notes })
    }
}

impl Row {
    fn measured(&self) -> Option<Measured> {
        match &self.figure {
            Figure::Times(samples) => Some(Measured {
                p50: samples.percentile(50.0)?,
                p99: samples.percentile(99.0)?,
            }),
            Figure::Number { value, .. } => Some(Measured {
                p50: *value,
                p99: *value,
            }),
        }
    }

    fn number(&self, value: f64) -> String {
        match self.figure {
            Figure::Times(_) if value >= 1_000.0 => format!("{:.2} ms", value / 1_000.0),
            Figure::Times(_) => format!("{value:.1} us"),
            Figure::Number { unit, .. } if value < 10.0 => format!("{value:.2} {unit}"),
            Figure::Number { unit, .. } => format!("{value:.0} {unit}"),
        }
    }

    fn cells(&self) -> [String; 6] {
        let Some(measured) = self.measured() else {
            let nothing = String::new;
            return [
                self.what.clone(),
                self.who.into(),
                "skipped".into(),
                nothing(),
                nothing(),
                nothing(),
            ];
        };
        let p99 = match self.figure {
            Figure::Times(_) => self.number(measured.p99),
            Figure::Number { .. } => String::new(),
        };
        let goals: Vec<String> = self
            .goals
            .iter()
            .map(|goal| goal.in_words(|limit| self.number(limit)))
            .collect();
        let verdict = if self.goals.is_empty() {
            ""
        } else if self.goals.iter().all(|goal| goal.is_met(measured)) {
            "ok"
        } else {
            "miss"
        };
        [
            self.what.clone(),
            self.who.into(),
            self.number(measured.p50),
            p99,
            goals.join(", "),
            verdict.into(),
        ]
    }

    fn to_json(&self) -> Json {
        let mut row = json!({ "what": self.what, "who": self.who });
        let Some(measured) = self.measured() else {
            row["skipped"] = true.into();
            return row;
        };
        match &self.figure {
            Figure::Times(samples) => {
                row["unit"] = "us".into();
                row["p50"] = measured.p50.into();
                row["p99"] = measured.p99.into();
                row["samples"] = samples.count().into();
            }
            Figure::Number { value, unit } => {
                row["unit"] = (*unit).into();
                row["value"] = (*value).into();
            }
        }
        row["goals"] = self
            .goals
            .iter()
            .map(|goal| goal.to_json(measured))
            .collect();
        row
    }
}

/// As Markdown, so that it can be kept where it is read.
impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let head = ["what", "who", "p50", "p99", "goal", ""].map(String::from);
        let cells: Vec<[String; 6]> = self.rows.iter().map(Row::cells).collect();
        let mut widths = head.each_ref().map(|cell| cell.chars().count());
        for row in &cells {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(cell.chars().count());
            }
        }
        write_row(f, &head, &widths)?;
        let rule = widths.map(|width| "-".repeat(width));
        write_row(f, &rule, &widths)?;
        for row in &cells {
            write_row(f, row, &widths)?;
        }
        for note in &self.notes {
            write!(f, "\n{note}")?;
        }
        writeln!(f)
    }
}

fn write_row(f: &mut fmt::Formatter<'_>, cells: &[String], widths: &[usize]) -> fmt::Result {
    for (cell, width) in cells.iter().zip(widths) {
        write!(f, "| {cell:width$} ")?;
    }
    writeln!(f, "|")
}
