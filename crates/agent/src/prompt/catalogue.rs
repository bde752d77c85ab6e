//! The methods of a prompt: in full while they are few, else as an index.

use callgate_contract::{Kind, MethodInfo, Mode, Origin};
use callgate_gate::signature;

use super::{escape::one_line, index};
use crate::{
    excerpt,
    search::methods::{DESCRIBE_METHOD, SEARCH_METHODS},
    tokens,
};

/// A catalogue of more methods than this, or of more tokens than [`LARGE_TOKENS`] in full, is
/// shown as an index.
pub const LARGE_METHODS: usize = 40;
pub const LARGE_TOKENS: usize = 6_000;

/// Bytes up to which a docstring stands in the prompt unchanged; `describe_method` shows more.
const MAX_DOC: usize = 8_000;
/// Bytes of one docstring anywhere.
const MAX_DESCRIBED: usize = 20_000;
/// Characters of a signature on a line of its own.
const MAX_SIGNATURE: usize = 300;
/// Characters of a summary.
const MAX_SUMMARY: usize = 120;

pub(super) fn for_code(methods: &[&MethodInfo]) -> String {
    let mut shown = without_search(methods);
    // Compat(nekro): a plugin's method without a docstring is callable, and not told of.
    shown.retain(|info| !matches!(info.origin, Origin::Plugin(_)) || !info.doc.trim().is_empty());
    if shown.is_empty() {
        return "# Methods\nThere are none: you have Python itself.".to_owned();
    }
    match in_full(&shown) {
        Some(text) => format!("# Methods\n{text}"),
        None => large(methods, &shown, Mode::Code),
    }
}

/// Few tools are declared to the model natively, with nothing to add here.
pub(super) fn for_tools(methods: &[&MethodInfo]) -> String {
    let shown = without_search(methods);
    match in_full(&shown) {
        Some(_) => String::new(),
        None => large(methods, &shown, Mode::Tools),
    }
}

/// The methods to declare as native tools: all of a small catalogue; of a large one the two that
/// search it and those `opened` before by `describe_method`.
pub fn declared<'a>(methods: &[&'a MethodInfo], opened: &[&str]) -> Vec<&'a MethodInfo> {
    let shown = without_search(methods);
    let searches = shown.len() < methods.len();
    if !searches || in_full(&shown).is_some() {
        return shown;
    }
    let is_declared = |info: &&&MethodInfo| is_search(info) || opened.contains(&info.name.as_str());
    methods.iter().filter(is_declared).copied().collect()
}

/// One method as the prompt shows it, its documentation whole.
pub(crate) fn described(info: &MethodInfo) -> String {
    format!("From {}:\n{}", info.origin, definition(info, MAX_DESCRIBED))
}

/// One method on two lines: how to call it, and what for.
pub(crate) fn brief(info: &MethodInfo) -> String {
    let signature = one_line(&signature(info), MAX_SIGNATURE);
    let head = format!("{}{signature}{}", info.name, mark(info.kind));
    match summary(info) {
        summary if summary.is_empty() => head,
        summary => format!("{head}\n    {summary}"),
    }
}

/// What the method is for, in one short line.
pub(super) fn summary(info: &MethodInfo) -> String {
    let texts = [&info.description, &info.doc, &info.title];
    let text = texts.into_iter().find(|text| !text.trim().is_empty());
    let text = text.map_or("", |text| text.trim());
    let paragraph = text.split("\n\n").next().unwrap_or_default();
    let sentence = match paragraph.split_once(". ") {
        Some((first, _)) => first,
        None => paragraph.split('。').next().unwrap_or_default(),
    };
    one_line(sentence.trim_end_matches('.'), MAX_SUMMARY)
}

/// Every method with its docstring, by origin; `None` if that is too much for a prompt.
fn in_full(methods: &[&MethodInfo]) -> Option<String> {
    if methods.len() > LARGE_METHODS {
        return None;
    }
    let sections: Vec<String> = index::by_origin(methods)
        .into_iter()
        .map(|(origin, methods)| {
            let definitions = methods.iter().map(|info| definition(info, MAX_DOC));
            let definitions: Vec<String> = definitions.collect();
            format!("## {origin}\n{}", definitions.join("\n\n"))
        })
        .collect();
    let text = sections.join("\n\n");
    (tokens::estimate(&text) <= LARGE_TOKENS).then_some(text)
}

fn large(methods: &[&MethodInfo], shown: &[&MethodInfo], mode: Mode) -> String {
    let count = shown.len();
    let index = index::index(shown);
    let search: Vec<&&MethodInfo> = methods.iter().filter(|info| is_search(info)).collect();
    let how = match (search.is_empty(), mode) {
        (true, _) => "`help(name)` shows how one is called.".to_owned(),
        (false, Mode::Tools) => format!(
            "{SEARCH_METHODS} finds one by what it does; {DESCRIBE_METHOD} explains it and puts it \
             among your tools from then on. Do so before you say that something cannot be done."
        ),
        (false, Mode::Code) => {
            let definitions = search.iter().map(|info| definition(info, MAX_DOC));
            let definitions: Vec<String> = definitions.collect();
            format!(
                "All can be called at once, but look up how before you call one you have not \
                 seen described, and search before you say that something cannot be done.\n\n{}",
                definitions.join("\n\n")
            )
        }
    };
    format!("# Methods\nThere are {count}, listed by where they come from. {how}\n\n{index}")
}

/// As Python, with the docstring indented: its text cannot begin another definition.
fn definition(info: &MethodInfo, max_doc: usize) -> String {
    let signature = signature(info);
    let mut text = format!("def {}{signature}:{}", info.name, mark(info.kind));
    let doc = match info.doc.trim() {
        "" => info.description.trim(),
        doc => doc,
    };
    for line in excerpt(doc, max_doc).lines() {
        text.push('\n');
        if !line.trim().is_empty() {
            text.push_str("    ");
            text.push_str(line.trim_end());
        }
    }
    text
}

fn mark(kind: Kind) -> &'static str {
    match kind {
        Kind::Tool => "",
        Kind::Agent => "  # agent",
        Kind::Behavior => "  # behavior",
        Kind::MultimodalAgent => "  # multimodal_agent",
    }
}

fn is_search(info: &MethodInfo) -> bool {
    [SEARCH_METHODS, DESCRIBE_METHOD].contains(&info.name.as_str())
}

fn without_search<'a>(methods: &[&'a MethodInfo]) -> Vec<&'a MethodInfo> {
    let shown = methods.iter().filter(|info| !is_search(info));
    shown.copied().collect()
}
