//! Telling a client that what it may see has changed. Methods come and go one by one, as when a
//! plugin is loaded: it is told once, when they have come, and only of lists that differ.

use std::{
    hash::{DefaultHasher, Hash, Hasher},
    time::Duration,
};

use callgate_contract::JournalId;
use rmcp::{Peer, RoleServer, service::SubscriptionContext};

use super::{Mcp, prompts, tools, watched::WatchedFiles, who::ClientIdentity};

/// How long things may take to come together.
const TOGETHER: Duration = Duration::from_millis(100);

/// What was seen, in short.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct ListHashes {
    tools: u64,
    prompts: u64,
}

impl ListHashes {
    async fn now(mcp: &Mcp, who: &ClientIdentity) -> ListHashes {
        let caller = who.caller(JournalId::NONE);
        let tools = caller.map(|caller| tools::all(mcp.gate(), &caller));
        let prompts = prompts::all(mcp, who).await;
        ListHashes {
            tools: short(&tools.unwrap_or_default()),
            prompts: short(&prompts.unwrap_or_default()),
        }
    }
}

fn short(list: &impl serde::Serialize) -> u64 {
    let mut hasher = DefaultHasher::new();
    serde_json::to_string(list)
        .unwrap_or_default()
        .hash(&mut hasher);
    hasher.finish()
}

/// Which lists are others than before.
struct ChangedLists {
    tools: bool,
    prompts: bool,
}

struct Watch<'a> {
    mcp: &'a Mcp,
    who: &'a ClientIdentity,
    seen: ListHashes,
    changes: tokio::sync::watch::Receiver<u64>,
}

impl<'a> Watch<'a> {
    async fn begin(mcp: &'a Mcp, who: &'a ClientIdentity) -> Self {
        let changes = mcp.gate().changes();
        let seen = ListHashes::now(mcp, who).await;
        Watch {
            mcp,
            who,
            seen,
            changes,
        }
    }

    /// `None` once there can be no more.
    async fn next(&mut self) -> Option<ChangedLists> {
        loop {
            self.changes.changed().await.ok()?;
            tokio::time::sleep(TOGETHER).await;
            self.changes.mark_unchanged();
            let now = ListHashes::now(self.mcp, self.who).await;
            let before = std::mem::replace(&mut self.seen, now);
            if now != before {
                return Some(ChangedLists {
                    tools: now.tools != before.tools,
                    prompts: now.prompts != before.prompts,
                });
            }
        }
    }
}

/// Of a session, until the client has left.
pub(super) async fn tell(mcp: Mcp, who: ClientIdentity, peer: Peer<RoleServer>) {
    let mut watch = Watch::begin(&mcp, &who).await;
    while let Some(changed) = watch.next().await {
        if !who.is_welcome() {
            return;
        }
        let mut told = Ok(());
        if changed.tools {
            told = peer.notify_tool_list_changed().await;
        }
        if changed.prompts && told.is_ok() {
            told = peer.notify_prompt_list_changed().await;
        }
        if told.is_err() {
            return;
        }
    }
}

/// Of a subscription, which has no session.
pub(super) async fn tell_subscriber(mcp: &Mcp, who: &ClientIdentity, context: SubscriptionContext) {
    let mut watch = Watch::begin(mcp, who).await;
    let (accepted, sink) = (context.accepted().clone(), context.sink());
    let files = WatchedFiles::default();
    for uri in accepted.resource_subscriptions.iter().flatten() {
        // Of what it may not see, it hears nothing.
        let _ = files.add(mcp, who, uri).await;
    }
    loop {
        let changed = tokio::select! {
            changed = watch.next() => changed,
            written = files.changed(), if !files.is_empty() => {
                if !who.is_welcome() {
                    return;
                }
                for uri in written {
                    if sink.notify_resource_updated(uri).await.is_err() {
                        return;
                    }
                }
                continue;
            }
            () = context.cancelled() => return,
        };
        let Some(changed) = changed else {
            return;
        };
        if !who.is_welcome() {
            return;
        }
        let mut told = Ok(());
        if changed.tools && accepted.tools_list_changed == Some(true) {
            told = sink.notify_tool_list_changed().await;
        }
        if changed.prompts && accepted.prompts_list_changed == Some(true) && told.is_ok() {
            told = sink.notify_prompt_list_changed().await;
        }
        if told.is_err() {
            return;
        }
    }
}
