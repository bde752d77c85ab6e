//! A long text by pages: what goes into a context has a bound.

use callgate_contract::MethodError;

/// Characters of one page.
const PAGE: usize = 20_000;

/// Page `number`, from 1, of `text`, between a line that says where it is from and one that says
/// how to go on. `call` is the method that shows it, and `source` the argument it was given.
pub(crate) fn page(
    call: &str,
    source: &str,
    from: &str,
    text: &str,
    number: u64,
) -> Result<String, MethodError> {
    let pages = pages(text);
    let count = pages.len();
    let index = usize::try_from(number - 1).unwrap_or(usize::MAX);
    let Some(page) = pages.get(index) else {
        return Err(MethodError::new(format!(
            "'{source}' has {count} pages: there is no page {number}"
        )));
    };
    let more = if index + 1 < count {
        format!("\n[go on with {call}({source:?}, page={})]", number + 1)
    } else {
        String::new()
    };
    Ok(format!("[{from}, page {number} of {count}]\n{page}{more}"))
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
