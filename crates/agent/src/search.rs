//! Finding a method by what it is for. Ranks by words, in any mixture of languages: enough for a
//! catalogue of some thousand methods, with no model and no index on disk. Where there is a model
//! for it, also by meaning.

mod meaning;
pub mod methods;
mod synonyms;
mod words;

use std::collections::HashMap;

use callgate_contract::MethodInfo;
use serde_json::Value as Json;

pub use meaning::Meanings;
use words::terms;

/// How much a word counts, by where it stands. A name is chosen with care, a docstring also speaks
/// of other things.
const NAME: f32 = 3.0;
const TITLE: f32 = 2.0;
const DESCRIPTION: f32 = 1.5;
const PARAMETER: f32 = 0.8;
const DOC: f32 = 0.5;
const ORIGIN: f32 = 0.5;

/// The two constants of BM25: how soon repetition stops counting, and how much a long text is held
/// against its method. Docstrings differ in length for reasons of style, hence little.
const SATURATION: f32 = 1.2;
const LENGTH: f32 = 0.4;
/// A request that spells out a name means it.
const EXACT_NAME: f32 = 50.0;
/// Characters of a request that are read; nobody describes a method in more.
const MAX_QUERY: usize = 500;

/// The words of a set of methods, ready to be searched.
pub struct MethodIndex {
    methods: Vec<Indexed>,
    /// In how many methods a term occurs.
    spread: HashMap<String, usize>,
    mean_length: f32,
}

struct Indexed {
    name: String,
    /// Each term with the weight of all places it stands at.
    terms: HashMap<String, f32>,
    length: f32,
}

impl MethodIndex {
    pub fn new<'a>(methods: impl IntoIterator<Item = &'a MethodInfo>) -> Self {
        let methods: Vec<Indexed> = methods.into_iter().map(Indexed::new).collect();
        let mut spread = HashMap::new();
        for term in methods.iter().flat_map(|method| method.terms.keys()) {
            *spread.entry(term.clone()).or_default() += 1;
        }
        let total: f32 = methods.iter().map(|method| method.length).sum();
        MethodIndex {
            mean_length: (total / methods.len().max(1) as f32).max(1.0),
            methods,
            spread,
        }
    }

    /// The names of at most `limit` methods, the likeliest first; none that shares no word with
    /// the request.
    pub fn search(&self, request: &str, limit: usize) -> Vec<&str> {
        let request: String = request.chars().take(MAX_QUERY).collect();
        let mut wanted: HashMap<String, f32> = HashMap::new();
        for (term, weight) in terms(&request) {
            let known = wanted.entry(term).or_default();
            *known = known.max(weight);
        }
        let score = |method: &Indexed| {
            let exact = if method.is_named_in(&request) {
                EXACT_NAME
            } else {
                0.0
            };
            let words: f32 = wanted
                .iter()
                .map(|(term, weight)| weight * self.score(method, term))
                .sum();
            exact + words
        };
        let mut found: Vec<(f32, &str)> = self
            .methods
            .iter()
            .map(|method| (score(method), method.name.as_str()))
            .filter(|(score, _)| *score > 0.0)
            .collect();
        found.sort_by(|(a, one), (b, other)| b.total_cmp(a).then_with(|| one.cmp(other)));
        found.truncate(limit);
        found.into_iter().map(|(_, name)| name).collect()
    }

    /// The methods that the request spells out.
    fn named_in(&self, request: &str) -> Vec<&str> {
        let named = self.methods.iter();
        let named = named.filter(|method| method.is_named_in(request));
        named.map(|method| method.name.as_str()).collect()
    }

    fn score(&self, method: &Indexed, term: &str) -> f32 {
        let Some(weight) = method.terms.get(term) else {
            return 0.0;
        };
        let spread = self.spread.get(term).copied().unwrap_or(1) as f32;
        let rarity = (1.0 + (self.methods.len() as f32 - spread + 0.5) / (spread + 0.5)).ln();
        let length = 1.0 - LENGTH + LENGTH * method.length / self.mean_length;
        rarity * weight * (SATURATION + 1.0) / (weight + SATURATION * length)
    }
}

impl Indexed {
    fn new(info: &MethodInfo) -> Self {
        let mut indexed = Indexed {
            name: info.name.clone(),
            terms: HashMap::new(),
            length: 0.0,
        };
        indexed.add(&info.name, NAME);
        if info.title != info.name {
            indexed.add(&info.title, TITLE);
        }
        indexed.add(&info.description, DESCRIPTION);
        // A docstring often begins with the description, which must not count twice.
        indexed.add(info.doc.trim_start_matches(&info.description), DOC);
        indexed.add(&info.origin.to_string(), ORIGIN);
        let parameters = info.parameters.get("properties").and_then(Json::as_object);
        for (name, schema) in parameters.into_iter().flatten() {
            indexed.add(name, PARAMETER);
            let text = schema.get("description").and_then(Json::as_str);
            // The docstring of a Rust method repeats it.
            indexed.add(
                text.filter(|text| !info.doc.contains(text))
                    .unwrap_or_default(),
                DOC,
            );
        }
        indexed
    }

    /// A name of one word is a word like any other, unless it is the whole request.
    fn is_named_in(&self, request: &str) -> bool {
        request.trim() == self.name || (self.name.contains('_') && request.contains(&self.name))
    }

    fn add(&mut self, text: &str, place: f32) {
        for (term, weight) in terms(text) {
            self.length += place * weight;
            *self.terms.entry(term).or_default() += place * weight;
        }
    }
}
