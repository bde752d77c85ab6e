//! [`PlatformHost`]: what a platform hands in, as a message that arrives like any other. Who speaks is the
//! account on that platform and nobody else, whatever the message says.

use std::sync::Arc;

use callgate_agent::{Administrator, Override, TurnEvent, Watch};
use callgate_builtins::fetch::{FetchLimits, FetchPolicy, Fetcher, HostPattern};
use callgate_contract::{BoxFuture, PlatformFacts, Principal, Role, SessionKey, SessionType};
use callgate_platforms::{Event, EventKind, Host, MediaSource, NotStored};
use callgate_store::{Incoming, Sender, SessionSettings};
use sha2::{Digest, Sha256};

use super::progress::Progress;
use crate::{
    Event as LiveEvent, Service, ServiceError,
    config::{PlatformEntry, PlatformKind, place_of},
};

/// Of one attachment.
const LARGEST_FILE: usize = 32 << 20;

pub(super) struct PlatformHost {
    service: Service,
    id: String,
    kind: PlatformKind,
    /// Attachments lie wherever the platform keeps them, and on this machine or its network only at the
    /// places that the operator named.
    fetcher: Fetcher,
    own_places: Vec<(String, u16)>,
}

impl PlatformHost {
    pub(super) fn new(service: Service, entry: &PlatformEntry) -> Self {
        let anywhere = FetchPolicy::new(vec![HostPattern::Any]);
        PlatformHost {
            service,
            id: entry.id.clone(),
            kind: entry.kind,
            fetcher: fetcher(anywhere),
            own_places: entry.own_places(),
        }
    }

    /// Who fetches from there: the platform's own places are the only ones for which walls are left out, and
    /// what comes from them leads nowhere else.
    async fn fetch(&self, url: &str) -> Result<Vec<u8>, String> {
        let place = place_of(url).filter(|place| self.own_places.contains(place));
        let fetched = match place {
            None => self.fetcher.bytes(url).await,
            Some((host, port)) => {
                let pattern = host.parse::<HostPattern>();
                let pattern = pattern.map_err(|error| error.to_string())?;
                let name = host.trim_matches(['[', ']']);
                let found = tokio::net::lookup_host((name, port)).await;
                let found = found.map_err(|error| error.to_string())?.collect();
                fetcher(FetchPolicy::only(pattern, found)).bytes(url).await
            }
        };
        fetched.map_err(|error| error.to_string())
    }

    async fn take(&self, event: Event) -> Result<(), ServiceError> {
        let agent = self.service.agent().await?;
        self.remember_name(&event).await?;
        let facts = Arc::new(PlatformFacts {
            kind: self.kind.name().to_owned(),
            bot: event.bot,
            chat_name: event.chat_name,
            raw: event.raw,
        });
        let sender = Sender {
            id: event.sender.id,
            name: event.sender.name,
        };
        match event.kind {
            EventKind::Message {
                id,
                parts,
                addressed,
            } => {
                let incoming = Incoming {
                    session: event.session.clone(),
                    sender,
                    parts,
                    message_id: id,
                    hidden: false,
                    mentioned: addressed,
                    sent_at: event.sent_at,
                };
                let overrule = Override {
                    platform: Some(facts),
                    ..Override::default()
                };
                let watch = self.watch(event.session);
                agent.accept(incoming, overrule, watch).await?.leave();
            }
            EventKind::Edit { message_id, parts } => {
                let log = self.service.store().log();
                log.rewrite_message(&event.session, &message_id, &parts)
                    .await?;
                agent.notice(event.session, sender, facts);
            }
            EventKind::Recall { message_id } => {
                let log = self.service.store().log();
                log.hide_message(&event.session, &message_id).await?;
                agent.notice(event.session, sender, facts);
            }
            EventKind::Notice => agent.notice(event.session, sender, facts),
        }
        Ok(())
    }

    /// A private chat is called as whom it is with.
    async fn remember_name(&self, event: &Event) -> Result<(), ServiceError> {
        let is_private = event.session.kind() == SessionType::FriendMessage;
        let person = is_private.then(|| event.sender.name.clone());
        let name = event.chat_name.clone().or(person);
        let Some(name) = name.filter(|name| !name.trim().is_empty()) else {
            return Ok(());
        };
        let settings = self.service.store().settings();
        let known = settings.session(&event.session).await?.value.chat_name;
        if known.as_ref() != Some(&name) {
            let rename = |settings: &mut SessionSettings| settings.chat_name = Some(name);
            settings.change_session(&event.session, rename).await?;
        }
        Ok(())
    }

    /// Those who look at the session on the page see the turn as it goes, and those in the chat that
    /// somebody is writing.
    fn watch(&self, session: SessionKey) -> Watch {
        let live = self.service.live().clone();
        let shown = self.service.platforms().of(&self.id);
        let shown = shown.map(|platform| Progress::new(platform, session.clone()));
        Watch::new(move |event: TurnEvent| {
            if let Some(progress) = &shown {
                progress.follow(&event);
            }
            live.tell(&session, LiveEvent::Turn(event));
        })
    }

    async fn keep(
        &self,
        session: &SessionKey,
        name: &str,
        source: MediaSource,
    ) -> Result<String, String> {
        let bytes = match source {
            MediaSource::Bytes(bytes) => bytes,
            MediaSource::Url(url) => self.fetch(&url).await?,
        };
        let name = file_name(name, &bytes);
        let kept = self.service.upload_file(session, &name, &bytes).await;
        kept.map(|file| file.path)
            .map_err(|error| error.to_string())
    }
}

fn fetcher(policy: FetchPolicy) -> Fetcher {
    Fetcher::new(policy).limits(FetchLimits {
        body: LARGEST_FILE,
        ..FetchLimits::default()
    })
}

/// One that tells two files apart and says what it is; names come from strangers.
fn file_name(name: &str, bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    let digest: String = digest
        .iter()
        .take(6)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let plain = |c: char| c.is_alphanumeric() || "._-".contains(c);
    let name: String = name
        .chars()
        .map(|c| if plain(c) { c } else { '_' })
        .collect();
    let name: String = name.trim_matches(['.', '_']).chars().take(80).collect();
    let ending = match callgate_contract::media_type(bytes) {
        Some(_) if name.contains('.') => "",
        Some("image/png") => ".png",
        Some("image/jpeg") => ".jpg",
        Some("image/gif") => ".gif",
        Some("image/webp") => ".webp",
        Some("audio/wav") => ".wav",
        Some("audio/mpeg") => ".mp3",
        Some("audio/ogg") => ".ogg",
        _ => "",
    };
    format!("{digest}-{name}{ending}")
}

fn not_stored(error: &ServiceError) -> NotStored {
    NotStored {
        is_temporary: error.is_temporary(),
        reason: error.to_string(),
    }
}

impl Host for PlatformHost {
    fn receive(&self, event: Event) -> BoxFuture<'_, Result<(), NotStored>> {
        Box::pin(async move {
            let taken = self.take(event).await;
            taken.map_err(|error| not_stored(&error))
        })
    }

    fn is_administrator(&self, account: &str) -> bool {
        let person = Principal::Person {
            platform: self.id.clone(),
            account: account.to_owned(),
        };
        let configured = self.service.configured();
        let role = Role::of(&person, |platform, account| {
            let named = Administrator::new(platform, account);
            configured.agent.administrators.contains(&named)
        });
        role.administers()
    }

    fn connected(&self) {
        let (service, id) = (self.service.clone(), self.id.clone());
        // A task: whoever connected goes on reading, which answers to what is sent need.
        tokio::spawn(async move {
            let delivered = async {
                let agent = service.agent().await?;
                agent
                    .deliver_platform(&id)
                    .await
                    .map_err(ServiceError::from)
            };
            if let Err(error) = delivered.await {
                tracing::warn!(platform = id, %error, "cannot deliver yet");
            }
        });
    }

    fn cursor(&self) -> BoxFuture<'_, Result<Option<String>, NotStored>> {
        Box::pin(async move {
            let cursor = self.service.store().cursors().get(&self.id).await;
            cursor.map_err(|error| not_stored(&error.into()))
        })
    }

    fn set_cursor<'a>(&'a self, cursor: &'a str) -> BoxFuture<'a, Result<(), NotStored>> {
        Box::pin(async move {
            let set = self.service.store().cursors().set(&self.id, cursor).await;
            set.map_err(|error| not_stored(&error.into()))
        })
    }

    fn keep<'a>(
        &'a self,
        session: &'a SessionKey,
        name: &'a str,
        source: MediaSource,
    ) -> BoxFuture<'a, Result<String, String>> {
        Box::pin(self.keep(session, name, source))
    }

    fn read<'a>(
        &'a self,
        session: &'a SessionKey,
        path: &'a str,
    ) -> BoxFuture<'a, Result<Vec<u8>, String>> {
        Box::pin(async move {
            let Some(name) = path.strip_prefix("/app/") else {
                return Err(format!("'{path}' is no file of this chat"));
            };
            let read = self.service.read_file(session, name).await;
            read.map_err(|error| error.to_string())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::file_name;

    #[test]
    fn a_name_is_never_a_path() {
        let name = file_name("../../etc/pass wd", b"x");
        assert!(name.ends_with("-etc_pass_wd"), "{name}");
        assert!(file_name("图.png", b"\x89PNG\r\n\x1a\n").ends_with("-图.png"));
        assert!(file_name("image", b"\xff\xd8\xff").ends_with("-image.jpg"));
        assert_ne!(file_name("a", b"x"), file_name("a", b"y"));
    }
}
