//! The index of a large catalogue, in a constant number of tokens however many methods there are:
//! what does not fit with its purpose is named, what does not fit by name is counted.

use std::collections::BTreeMap;

use callgate_contract::{MethodInfo, Origin};

use super::{catalogue::summary, escape::one_line};
use crate::tokens;

/// Tokens of the whole index.
const INDEX_TOKENS: usize = 800;
/// Characters of an origin's name.
const MAX_ORIGIN: usize = 60;
/// Kept for the line that says how many origins were left out.
const LAST_LINE: usize = 30;

/// The methods of one origin and how much of them is shown.
struct Group<'a> {
    origin: String,
    methods: Vec<&'a MethodInfo>,
    shown: Shown,
}

#[derive(Clone, Copy)]
enum Shown {
    Count,
    /// So many names, then the count of the rest.
    Names(usize),
    Purposes,
}

/// By origin, built-in methods first; each group in the order given.
pub(super) fn by_origin<'a>(methods: &[&'a MethodInfo]) -> Vec<(String, Vec<&'a MethodInfo>)> {
    let mut groups: BTreeMap<(bool, &Origin), Vec<&'a MethodInfo>> = BTreeMap::new();
    for info in methods {
        let place = (info.origin != Origin::Builtin, &info.origin);
        groups.entry(place).or_default().push(info);
    }
    let named = |((_, origin), methods): ((bool, &Origin), _)| {
        (one_line(&origin.to_string(), MAX_ORIGIN), methods)
    };
    groups.into_iter().map(named).collect()
}

pub(super) fn index(methods: &[&MethodInfo]) -> String {
    let mut groups: Vec<Group> = by_origin(methods)
        .into_iter()
        .map(|(origin, methods)| Group {
            origin,
            methods,
            shown: Shown::Count,
        })
        .collect();
    let mut left = INDEX_TOKENS;
    let last_line = cut(&mut groups, &mut left);

    // The smallest first: so the most origins are shown well, and one huge origin costs only itself.
    let mut smallest: Vec<usize> = (0..groups.len()).collect();
    smallest.sort_by_key(|&at| groups.get(at).map(Group::names_cost));
    for better in [Group::names_that_fit, Group::purposes] {
        for &at in &smallest {
            if let Some(group) = groups.get_mut(at) {
                group.show(better(group, left), &mut left);
            }
        }
    }
    let lines = groups.iter().map(|group| group.line(group.shown));
    let lines: Vec<String> = lines.chain(last_line).collect();
    lines.join("\n")
}

/// Leaves out the origins whose mere count does not fit, and says how many they are.
fn cut(groups: &mut Vec<Group>, left: &mut usize) -> Option<String> {
    let mut kept = 0;
    for group in groups.iter() {
        let cost = group.cost(Shown::Count);
        if cost + LAST_LINE > *left {
            break;
        }
        *left -= cost;
        kept += 1;
    }
    let out = groups.split_off(kept);
    let methods: usize = out.iter().map(|group| group.methods.len()).sum();
    (!out.is_empty()).then(|| {
        *left = left.saturating_sub(LAST_LINE);
        format!("- {methods} methods of {} more origins", out.len())
    })
}

impl Group<'_> {
    /// Shows more, if there is room for it.
    fn show(&mut self, shown: Shown, left: &mut usize) {
        let room = *left + self.cost(self.shown);
        if let Some(rest) = room.checked_sub(self.cost(shown)) {
            *left = rest;
            self.shown = shown;
        }
    }

    fn names_that_fit(&self, left: usize) -> Shown {
        let room = left + self.cost(self.shown);
        let counts: Vec<usize> = (1..=self.methods.len()).collect();
        let fits = |&count: &usize| self.cost(Shown::Names(count)) <= room;
        // The line with all names may be shorter than one that says how many more there are.
        if fits(&self.methods.len()) {
            Shown::Names(self.methods.len())
        } else {
            Shown::Names(counts.partition_point(fits))
        }
    }

    fn purposes(&self, _left: usize) -> Shown {
        Shown::Purposes
    }

    fn names_cost(&self) -> usize {
        self.cost(Shown::Names(self.methods.len()))
    }

    fn cost(&self, shown: Shown) -> usize {
        tokens::estimate(&self.line(shown)) + 1
    }

    fn line(&self, shown: Shown) -> String {
        let (origin, count) = (&self.origin, self.methods.len());
        match shown {
            Shown::Count | Shown::Names(0) => format!("- {origin}: {count} methods"),
            Shown::Names(named) => {
                let names = self
                    .methods
                    .iter()
                    .take(named)
                    .map(|info| info.name.as_str());
                let names: Vec<&str> = names.collect();
                let more = match count - names.len() {
                    0 => String::new(),
                    more => format!(" and {more} more"),
                };
                format!("- {origin}: {}{more}", names.join(", "))
            }
            Shown::Purposes => {
                let purpose =
                    |info: &&MethodInfo| format!("\n  - {}: {}", info.name, summary(info));
                let purposes: String = self.methods.iter().map(purpose).collect();
                format!("- {origin}:{purposes}")
            }
        }
    }
}
