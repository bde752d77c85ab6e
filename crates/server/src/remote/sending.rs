//! A file as an HTTP answer: its type, its tag, and the range of it that was asked for.

use std::{
    fs::File,
    io::{Read, Seek, SeekFrom},
    os::unix::fs::MetadataExt,
};

use axum::{
    body::Body,
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use callgate_service::remote::StaticFile;
use futures_util::stream;
use tokio::sync::mpsc;

const CHUNK: usize = 64 << 10;

/// Blocks while the file is looked at; its content follows later.
pub(super) fn send_file(
    StaticFile { file, facts, name }: StaticFile,
    headers: &HeaderMap,
    head: bool,
) -> Response {
    let size = facts.len();
    let tag = format!(
        "\"{:x}-{size:x}-{:x}.{:x}\"",
        facts.ino(),
        facts.mtime(),
        facts.mtime_nsec()
    );
    let mut answer = HeaderMap::new();
    let mut put = |name: HeaderName, value: String| {
        if let Ok(value) = HeaderValue::from_str(&value) {
            answer.insert(name, value);
        }
    };
    put(header::ETAG, tag.clone());
    put(header::ACCEPT_RANGES, "bytes".to_owned());
    put(header::CONTENT_TYPE, media_type(&name).to_owned());
    if names_tag(headers, header::IF_NONE_MATCH, &tag) {
        return (StatusCode::NOT_MODIFIED, answer).into_response();
    }
    let (status, start, length) = match range(headers, &tag, size) {
        RequestedRange::Whole => (StatusCode::OK, 0, size),
        RequestedRange::Part { start, end } => {
            put(header::CONTENT_RANGE, format!("bytes {start}-{end}/{size}"));
            (StatusCode::PARTIAL_CONTENT, start, end - start + 1)
        }
        RequestedRange::Beyond => {
            put(header::CONTENT_RANGE, format!("bytes */{size}"));
            return (StatusCode::RANGE_NOT_SATISFIABLE, answer).into_response();
        }
    };
    put(header::CONTENT_LENGTH, length.to_string());
    if head {
        (status, answer).into_response()
    } else {
        (status, answer, content(file, start, length)).into_response()
    }
}

/// Read on a thread of its own, no faster than it is sent.
fn content(mut file: File, start: u64, length: u64) -> Body {
    let (pieces, mut read) = mpsc::channel::<std::io::Result<Bytes>>(2);
    tokio::task::spawn_blocking(move || {
        if let Err(error) = file.seek(SeekFrom::Start(start)) {
            let _ = pieces.blocking_send(Err(error));
            return;
        }
        let mut rest = file.take(length);
        loop {
            let mut piece = vec![0; CHUNK];
            let piece = match rest.read(&mut piece) {
                Ok(0) => return,
                Ok(count) => {
                    piece.truncate(count);
                    Ok(piece.into())
                }
                Err(error) => Err(error),
            };
            // Nobody listens any longer.
            if pieces.blocking_send(piece).is_err() {
                return;
            }
        }
    });
    Body::from_stream(stream::poll_fn(move |context| read.poll_recv(context)))
}

fn names_tag(headers: &HeaderMap, name: HeaderName, tag: &str) -> bool {
    let values = headers.get_all(name).iter();
    let listed = values.filter_map(|value| value.to_str().ok());
    listed.flat_map(|value| value.split(',')).any(|value| {
        let value = value.trim();
        value == "*" || value.trim_start_matches("W/") == tag
    })
}

#[derive(Debug, PartialEq, Eq)]
enum RequestedRange {
    Whole,
    /// Both included.
    Part {
        start: u64,
        end: u64,
    },
    Beyond,
}

/// Of several ranges, or what cannot be read, the whole is sent, as the protocol allows.
fn range(headers: &HeaderMap, tag: &str, size: u64) -> RequestedRange {
    let asked = headers.get(header::RANGE).and_then(|it| it.to_str().ok());
    let stale =
        headers.contains_key(header::IF_RANGE) && !names_tag(headers, header::IF_RANGE, tag);
    let spec = asked.and_then(|asked| asked.trim().strip_prefix("bytes="));
    let Some((first, last)) = spec
        .filter(|_| !stale)
        .and_then(|spec| spec.split_once('-'))
    else {
        return RequestedRange::Whole;
    };
    let number = |text: &str| text.trim().parse::<u64>().ok();
    let (start, end) = match (number(first), number(last)) {
        (Some(start), Some(end)) if start <= end => (start, end.min(size.saturating_sub(1))),
        (Some(start), None) if last.trim().is_empty() => (start, size.saturating_sub(1)),
        (None, Some(0)) if first.trim().is_empty() => return RequestedRange::Beyond,
        (None, Some(suffix)) if first.trim().is_empty() => {
            (size.saturating_sub(suffix), size.saturating_sub(1))
        }
        _ => return RequestedRange::Whole,
    };
    if start < size {
        RequestedRange::Part { start, end }
    } else {
        RequestedRange::Beyond
    }
}

fn media_type(name: &str) -> &'static str {
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    match extension.to_ascii_lowercase().as_str() {
        "html" | "htm" => "text/html; charset=utf-8",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "json" | "map" => "application/json",
        "txt" | "md" | "log" => "text/plain; charset=utf-8",
        "csv" => "text/csv; charset=utf-8",
        "xml" => "application/xml",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "webp" => "image/webp",
        "avif" => "image/avif",
        "ico" => "image/x-icon",
        "mp3" => "audio/mpeg",
        "ogg" => "audio/ogg",
        "wav" => "audio/wav",
        "mp4" => "video/mp4",
        "webm" => "video/webm",
        "woff" => "font/woff",
        "woff2" => "font/woff2",
        "ttf" => "font/ttf",
        "wasm" => "application/wasm",
        "pdf" => "application/pdf",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_read_as_the_protocol_says() {
        let asked = |text: &str| {
            let headers = HeaderMap::from_iter([(header::RANGE, text.parse().unwrap())]);
            range(&headers, "\"t\"", 10)
        };
        let part = |start, end| RequestedRange::Part { start, end };
        for (text, expect) in [
            ("bytes=0-3", part(0, 3)),
            ("bytes=5-", part(5, 9)),
            ("bytes=-3", part(7, 9)),
            ("bytes=-99", part(0, 9)),
            ("bytes=2-99", part(2, 9)),
            ("bytes=10-", RequestedRange::Beyond),
            ("bytes=-0", RequestedRange::Beyond),
            ("bytes=4-2", RequestedRange::Whole),
            ("bytes=0-1,3-4", RequestedRange::Whole),
            ("lines=0-3", RequestedRange::Whole),
            ("bytes=a-b", RequestedRange::Whole),
        ] {
            assert_eq!(asked(text), expect, "{text}");
        }
        assert_eq!(range(&HeaderMap::new(), "\"t\"", 10), RequestedRange::Whole);
        let empty = HeaderMap::from_iter([(header::RANGE, "bytes=0-".parse().unwrap())]);
        assert_eq!(range(&empty, "\"t\"", 0), RequestedRange::Beyond);
    }

    #[test]
    fn a_range_of_another_version_is_the_whole() {
        let headers = HeaderMap::from_iter([
            (header::RANGE, "bytes=0-3".parse().unwrap()),
            (header::IF_RANGE, "\"old\"".parse().unwrap()),
        ]);
        assert_eq!(range(&headers, "\"new\"", 10), RequestedRange::Whole);
        assert_eq!(
            range(&headers, "\"old\"", 10),
            RequestedRange::Part { start: 0, end: 3 }
        );
    }
}
