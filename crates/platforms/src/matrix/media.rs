//! Pictures, sounds and files: out of the server's media repository into the session's folder, and back.

use std::time::Duration;

use base64::Engine;
use callgate_contract::{Part, SessionKey, media_type};
use serde_json::{Value as Json, json};

use super::{
    Shared,
    api::{ApiError, Ask},
};
use crate::MediaSource;

const TRANSFER: Duration = Duration::from_secs(60);
/// Of one attachment.
const LARGEST: usize = 32 << 20;
const ATTEMPTS: u32 = 3;
const PAUSE: Duration = Duration::from_secs(1);

impl Shared {
    /// What cannot be had stays as the address it came with.
    pub(super) async fn read_media(
        &self,
        session: &SessionKey,
        msgtype: &str,
        content: &Json,
    ) -> Part {
        let name = content["filename"].as_str().or(content["body"].as_str());
        let name = name.unwrap_or(msgtype).to_owned();
        let address = content["url"].as_str().unwrap_or_default();
        let url = match self.keep_media(session, &name, content, address).await {
            Ok(kept) => kept,
            Err(error) => {
                tracing::warn!(%session, name, error, "could not keep an attachment");
                address.to_owned()
            }
        };
        match msgtype {
            "m.image" => Part::Image { url },
            "m.audio" => Part::Audio { url },
            "m.video" => Part::Video { url },
            _ => Part::File { name, url },
        }
    }

    async fn keep_media(
        &self,
        session: &SessionKey,
        name: &str,
        content: &Json,
        address: &str,
    ) -> Result<String, String> {
        let too_large = || format!("it has more than {} MiB", LARGEST >> 20);
        let size = content["info"]["size"].as_u64().unwrap_or_default();
        if size > LARGEST as u64 {
            return Err(too_large());
        }
        let place = address
            .strip_prefix("mxc://")
            .and_then(|it| it.split_once('/'));
        let (server, id) = place.ok_or("it has no address")?;
        let mut attempt = 1;
        let bytes = loop {
            match self.download(server, id).await {
                Ok(bytes) => break bytes.ok_or_else(too_large)?,
                Err(error @ ApiError::Refused { .. }) => return Err(error.to_string()),
                Err(error) if attempt == ATTEMPTS => return Err(error.to_string()),
                Err(ApiError::Limited { after }) => tokio::time::sleep(after).await,
                Err(_) => tokio::time::sleep(PAUSE * attempt).await,
            }
            attempt += 1;
        };
        let source = MediaSource::Bytes(bytes);
        self.host.keep(session, name, source).await
    }

    async fn download(&self, server: &str, id: &str) -> Result<Option<Vec<u8>>, ApiError> {
        let path = ["download", server, id];
        let ask = |prefix| {
            let ask = Ask {
                prefix,
                ..Ask::get(&path)
            };
            self.api.download(ask.deadline(TRANSFER), LARGEST)
        };
        match ask("/_matrix/client/v1/media").await {
            // Servers from before authenticated media have it elsewhere.
            Err(ApiError::Refused { .. }) => ask("/_matrix/media/v3").await,
            downloaded => downloaded,
        }
    }

    /// The content of a message with this picture, sound or file, which is uploaded.
    pub(super) async fn media_content(
        &self,
        session: &SessionKey,
        part: &Part,
    ) -> Result<Json, MediaError> {
        let (msgtype, url) = match part {
            Part::Image { url } => ("m.image", url),
            Part::Audio { url } => ("m.audio", url),
            Part::Video { url } => ("m.video", url),
            Part::File { url, .. } => ("m.file", url),
            _ => return Err(MediaError::Unreadable("it has no bytes".to_owned())),
        };
        let bytes = self.bytes(session, url).await?;
        let name = match part {
            Part::File { name, .. } if !name.is_empty() => name.clone(),
            _ => file_name(msgtype, url, &bytes),
        };
        let kind = mime(&name, &bytes);
        // Clients show a picture only if it is called one.
        let is_picture = kind.starts_with("image/");
        let msgtype = if is_picture { "m.image" } else { msgtype };
        let size = bytes.len();
        let uploaded = self.api.upload(&name, kind, bytes, TRANSFER).await?;
        let address = uploaded["content_uri"].as_str();
        let address = address.ok_or_else(|| ApiError::NoAnswer {
            reason: "it did not say where it put an upload".to_owned(),
        })?;
        Ok(json!({
            "msgtype": msgtype, "body": name, "filename": name, "url": address,
            "info": {"mimetype": kind, "size": size}, "m.mentions": {},
        }))
    }

    async fn bytes(&self, session: &SessionKey, url: &str) -> Result<Vec<u8>, MediaError> {
        if let Some(data) = url.strip_prefix("data:") {
            let data = data.split_once(";base64,").map(|(_, data)| data);
            let bytes = data.and_then(|data| {
                let decoded = base64::engine::general_purpose::STANDARD.decode(data);
                decoded.ok()
            });
            let reason = "a data: URL that is not base64 cannot be sent";
            return bytes.ok_or_else(|| MediaError::Unreadable(reason.to_owned()));
        }
        let is_elsewhere = url.starts_with("http://") || url.starts_with("https://");
        let kept;
        let path = if is_elsewhere {
            let name = last_word(url);
            let source = MediaSource::Url(url.to_owned());
            let keeping = self.host.keep(session, name, source).await;
            kept = keeping.map_err(MediaError::Unreadable)?;
            &kept
        } else {
            url
        };
        let bytes = self.host.read(session, path).await;
        bytes.map_err(MediaError::Unreadable)
    }
}

/// Why a picture, sound or file cannot leave.
#[derive(Debug, thiserror::Error)]
pub(super) enum MediaError {
    #[error("{0}")]
    Unreadable(String),
    #[error(transparent)]
    Server(#[from] ApiError),
}

fn last_word(url: &str) -> &str {
    let path = url.split(['?', '#']).next().unwrap_or_default();
    path.rsplit('/').next().unwrap_or_default()
}

/// What people see of a file that has no name of its own.
fn file_name(msgtype: &str, url: &str, bytes: &[u8]) -> String {
    let word = last_word(url);
    if !url.starts_with("data:") && word.contains('.') {
        return word.to_owned();
    }
    let ending = match media_type(bytes) {
        Some(kind) => kind.rsplit('/').next().unwrap_or_default(),
        None => "bin",
    };
    format!("{}.{ending}", msgtype.trim_start_matches("m."))
}

/// By the bytes; of kinds that these do not tell, by the name, which only decides how it is shown.
fn mime(name: &str, bytes: &[u8]) -> &'static str {
    if let Some(kind) = media_type(bytes) {
        return kind;
    }
    let ending = name.rsplit('.').next().unwrap_or_default();
    match ending.to_ascii_lowercase().as_str() {
        "mp4" => "video/mp4",
        "webm" => "video/webm",
        "mov" => "video/quicktime",
        "m4a" => "audio/mp4",
        "flac" => "audio/flac",
        "txt" | "log" | "md" => "text/plain",
        "csv" => "text/csv",
        "json" => "application/json",
        "pdf" => "application/pdf",
        "zip" => "application/zip",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_a_name_and_a_kind() {
        let png = b"\x89PNG\r\n\x1a\n";
        for (url, bytes, expected) in [
            ("data:image/png;base64,AA.AA", png.as_slice(), "image.png"),
            ("https://h/a/cat.png?x=1.b", png, "cat.png"),
            ("/app/shared/plot.svg", b"<svg/>", "plot.svg"),
            ("https://h/a", b"?", "image.bin"),
        ] {
            assert_eq!(file_name("m.image", url, bytes), expected);
        }
        assert_eq!(mime("a.txt", png), "image/png");
        assert_eq!(mime("a.PDF", b"%PDF"), "application/pdf");
        assert_eq!(mime("a", b"?"), "application/octet-stream");
    }
}
