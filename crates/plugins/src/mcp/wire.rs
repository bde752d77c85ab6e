//! [`ObservedTransport`]: a transport on which the progress of calls is heard. It is heard here because here
//! messages still come in the order in which they were sent: the SDK answers a call before it has
//! told of what came before the answer.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use callgate_contract::{Onlooker, Progress};
use parking_lot::Mutex;
use rmcp::{
    RoleClient,
    model::{
        ClientRequest, GetMeta, JsonRpcMessage, NumberOrString, ProgressNotificationParam,
        ProgressToken, RequestParamsMeta, ServerNotification,
    },
    service::{RxJsonRpcMessage, TxJsonRpcMessage},
    transport::Transport,
};

/// Who looks on at the calls of one connection. Clones share it.
#[derive(Clone, Default)]
pub(super) struct Onlookers(Arc<CallTokens>);

#[derive(Default)]
struct CallTokens {
    next: AtomicU64,
    /// A mutex, held for a look.
    by_token: Mutex<HashMap<ProgressToken, Onlooker>>,
}

/// While it lives, progress of its token is told.
pub(super) struct ProgressSubscription {
    token: ProgressToken,
    calls: Onlookers,
}

impl Onlookers {
    /// `None` if nobody wants to hear anything.
    pub(super) fn listen(&self, onlooker: &Onlooker) -> Option<ProgressSubscription> {
        if onlooker.is_nobody() {
            return None;
        }
        let number = self.0.next.fetch_add(1, Ordering::Relaxed);
        // Text, since the SDK counts its own in numbers.
        let token = ProgressToken(NumberOrString::String(format!("call-{number}").into()));
        self.0
            .by_token
            .lock()
            .insert(token.clone(), onlooker.clone());
        Some(ProgressSubscription {
            token,
            calls: self.clone(),
        })
    }

    fn tell(&self, told: &ProgressNotificationParam) {
        let onlooker = self.0.by_token.lock().get(&told.progress_token).cloned();
        if let Some(onlooker) = onlooker {
            onlooker.tell(Progress {
                done: told.progress,
                total: told.total,
                text: told.message.clone().unwrap_or_default(),
            });
        }
    }
}

impl ProgressSubscription {
    pub(super) fn token(&self) -> ProgressToken {
        self.token.clone()
    }
}

impl Drop for ProgressSubscription {
    fn drop(&mut self) {
        self.calls.0.by_token.lock().remove(&self.token);
    }
}

pub(super) struct ObservedTransport<T> {
    pub(super) transport: T,
    pub(super) onlookers: Onlookers,
}

impl<T: Transport<RoleClient>> Transport<RoleClient> for ObservedTransport<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        mut message: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        if let JsonRpcMessage::Request(request) = &mut message
            && let ClientRequest::CallToolRequest(call) = &request.request
            && let Some(token) = call.params.progress_token()
        {
            // The SDK has set one of its own beside ours, and its would win.
            request.request.get_meta_mut().set_progress_token(token);
        }
        self.transport.send(message)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        let message = self.transport.receive().await;
        if let Some(JsonRpcMessage::Notification(notification)) = &message
            && let ServerNotification::ProgressNotification(told) = &notification.notification
        {
            self.onlookers.tell(&told.params);
        }
        message
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.transport.close().await
    }
}
