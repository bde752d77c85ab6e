//! `read_file`: the text of a file into the context, a page at a time.

use callgate_contract::{Effect, Kind, MethodError};
use callgate_gate::{Call, Function};
use callgate_store::Store;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    session::{failed, folders},
    view_image::Format,
};

/// Characters of one page: what goes into a context has a bound.
const PAGE: usize = 20_000;
/// Bytes. Larger files are for code to work through.
const MAX_FILE: u64 = 32 << 20;

#[derive(Deserialize, JsonSchema)]
struct ReadFile {
    /// A text file under /app/shared or /app/uploads.
    path: String,
    /// Which page of a long file, from 1.
    #[serde(default = "first")]
    #[schemars(range(min = 1))]
    page: u64,
}

fn first() -> u64 {
    1
}

pub(crate) fn method(store: Store) -> Function {
    let handler = move |call, arguments| read_file(store.clone(), call, arguments);
    callgate_gate::method("read_file", Kind::Agent, handler)
        .doc(
            "Read a text file yourself: your code ends here, and its text is shown to you so that \
             you can think about it. To work on a file in code, use open() instead.",
        )
        .returns(
            "str",
            "The page's text, under a line that says which page of how many it is.",
        )
        .example("read_file(\"/app/uploads/contract.txt\")")
        .effect(Effect::Pure)
}

async fn read_file(store: Store, call: Call, arguments: ReadFile) -> Result<String, MethodError> {
    let path = arguments.path.as_str();
    let folders = folders(&store, &call).await?;
    let (folder, relative) = folders.resolve(path).map_err(failed)?;
    let bytes = folder.read(relative, MAX_FILE).map_err(failed)?;
    let text = String::from_utf8(bytes).map_err(|error| not_text(path, error.as_bytes()))?;
    let text = text.strip_prefix('\u{FEFF}').unwrap_or(&text);

    let pages = pages(text);
    let (number, count) = (arguments.page, pages.len());
    let index = usize::try_from(number - 1).unwrap_or(usize::MAX);
    let Some(page) = pages.get(index) else {
        return Err(MethodError::new(format!(
            "'{path}' has {count} pages: there is no page {number}"
        )));
    };
    let more = match index + 1 < count {
        true => format!("\n[go on with read_file({path:?}, page={})]", number + 1),
        false => String::new(),
    };
    Ok(format!("[{path}, page {number} of {count}]\n{page}{more}"))
}

/// At least one page, each within [`PAGE`] characters, cut at a line's end where there is one in
/// its second half.
fn pages(text: &str) -> Vec<&str> {
    let mut pages = Vec::new();
    let mut rest = text;
    while let Some((end, _)) = rest.char_indices().nth(PAGE) {
        let (page, after) = rest.split_at(end);
        let (page, after) = match page.rfind('\n') {
            Some(line) if line >= end / 2 => rest.split_at(line + 1),
            _ => (page, after),
        };
        pages.push(page);
        rest = after;
    }
    if pages.is_empty() || !rest.is_empty() {
        pages.push(rest);
    }
    pages
}

fn not_text(path: &str, bytes: &[u8]) -> MethodError {
    MethodError::new(match Format::of(bytes) {
        Some(_) => format!("'{path}' is an image, not text: call view_image({path:?})"),
        None => format!(
            "'{path}' is not UTF-8 text: open it in code, with the right encoding or library"
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_hold_everything_once() {
        let line = format!("{}\n", "字".repeat(99));
        for (text, count) in [
            (String::new(), 1),
            ("short".to_owned(), 1),
            ("x".repeat(PAGE), 1),
            ("x".repeat(PAGE + 1), 2),
            ("🎉".repeat(3 * PAGE), 3),
            (line.repeat(201), 2),
        ] {
            let pages = pages(&text);
            assert_eq!(pages.len(), count);
            assert_eq!(pages.concat(), text);
            assert!(pages.iter().all(|page| page.chars().count() <= PAGE));
        }
    }

    #[test]
    fn a_page_ends_with_a_line() {
        let text = format!("{}\n{}", "a".repeat(PAGE - 10), "b".repeat(100));
        assert_eq!(pages(&text)[1], "b".repeat(100));
    }
}
