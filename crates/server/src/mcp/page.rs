//! Long lists in pieces. A cursor is the name after which the next piece begins, so that it stays
//! good while entries come and go.

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use rmcp::{ErrorData, model::PaginatedRequestParams};

/// Entries of one piece. Some clients read only the first, so it is a large one.
pub(super) const PIECE: usize = 500;

pub(super) fn after(request: Option<PaginatedRequestParams>) -> Result<Option<String>, ErrorData> {
    let Some(cursor) = request.and_then(|request| request.cursor) else {
        return Ok(None);
    };
    let name = BASE64_URL_SAFE_NO_PAD.decode(cursor).ok();
    let name = name.and_then(|name| String::from_utf8(name).ok());
    let unknown = || ErrorData::invalid_params("no such cursor: begin anew without one", None);
    name.map(Some).ok_or_else(unknown)
}

pub(super) fn cursor(name: &str) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(name)
}

/// One piece of what is sorted by `name`, and the cursor of the next.
pub(super) fn piece<T>(
    mut all: Vec<T>,
    after: Option<String>,
    name: impl Fn(&T) -> &str,
) -> (Vec<T>, Option<String>) {
    if let Some(after) = after {
        all.retain(|entry| name(entry) > after.as_str());
    }
    let more = all.len() > PIECE;
    all.truncate(PIECE);
    let next = all.last().filter(|_| more).map(|last| cursor(name(last)));
    (all, next)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_follow_each_other_without_gap_or_overlap() {
        let all: Vec<String> = (0..PIECE * 2 + 1).map(|n| format!("{n:06}")).collect();
        let (mut seen, mut cursor) = (Vec::new(), None);
        loop {
            let request = PaginatedRequestParams::default().with_cursor(cursor);
            let (piece, next) = piece(all.clone(), after(Some(request)).unwrap(), |it| it.as_str());
            seen.extend(piece);
            match next {
                Some(next) => cursor = Some(next),
                None => break,
            }
        }
        assert_eq!(seen, all);
    }

    #[test]
    fn what_is_no_cursor_of_ours_is_refused() {
        let request = PaginatedRequestParams::default().with_cursor(Some("!".to_owned()));
        assert!(after(Some(request)).is_err());
    }
}
