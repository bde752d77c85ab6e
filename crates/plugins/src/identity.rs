//! For whom plugin code acts. Each frame to a worker carries a token; what the code then asks of the
//! host is asked in the name behind that token. When the frame is over, its token stands for the
//! plugin alone, in the same session: plugins send results minutes later.

use std::{
    collections::{HashMap, VecDeque},
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use callgate_contract::{
    Allowed, Budget, Caller, Grant, JournalId, Role, SessionKey, SessionType, Surface,
};
use uuid::Uuid;

use crate::link::lock;

/// Tokens that are over and still remembered.
const REMEMBERED: usize = 8192;

/// What a plugin may spend by itself, per [`REFILL`].
const BACKGROUND_CALLS: u64 = 100_000;
const BACKGROUND_MESSAGES: u64 = 1_000;
const REFILL: Duration = Duration::from_secs(3600);

type Token = [u8; 16];

/// The identities of one worker.
pub(crate) struct Identities {
    worker: String,
    /// A mutex held for a map operation.
    known: Mutex<Known>,
    background: Mutex<(Instant, Arc<Grant>)>,
}

#[derive(Default)]
struct Known {
    tokens: HashMap<Token, Arc<Acting>>,
    /// Tokens that are over, oldest first.
    over: VecDeque<Token>,
}

/// Who acts, and the journal of what they do.
#[derive(Debug)]
pub(crate) struct Acting {
    pub(crate) caller: Caller,
    sequence: AtomicU64,
}

impl Acting {
    fn new(caller: Caller) -> Self {
        Acting {
            caller,
            sequence: AtomicU64::new(0),
        }
    }

    /// The number of the next call in the journal.
    pub(crate) fn next(&self) -> u64 {
        self.sequence.fetch_add(1, Ordering::Relaxed) + 1
    }
}

/// A token in use. Dropped, it is over.
pub(crate) struct Issued {
    identities: Arc<Identities>,
    token: Token,
}

impl Issued {
    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.token.to_vec()
    }
}

impl Drop for Issued {
    fn drop(&mut self) {
        self.identities.expire(self.token);
    }
}

impl Identities {
    pub(crate) fn new(worker: &str) -> Self {
        Identities {
            worker: worker.to_owned(),
            known: Mutex::default(),
            background: Mutex::new((Instant::now(), background_grant())),
        }
    }

    pub(crate) fn worker(&self) -> &str {
        &self.worker
    }

    /// A token for a frame that is served on behalf of `caller`. What plugin code asks needs the
    /// plugin's own grant; the budget stays the caller's.
    pub(crate) fn issue(self: &Arc<Self>, caller: &Caller) -> Issued {
        let token = *Uuid::now_v7().as_bytes();
        let acting = Acting::new(Caller {
            surface: Surface::Plugin,
            journal: JournalId::fresh(),
            ..caller.clone()
        });
        lock(&self.known).tokens.insert(token, Arc::new(acting));
        Issued {
            identities: self.clone(),
            token,
        }
    }

    /// Who asks. An unknown token, or none, is the worker's own background work.
    pub(crate) fn resolve(&self, token: Option<&[u8]>) -> Arc<Acting> {
        let token = token.and_then(|token| Token::try_from(token).ok());
        let known = token.and_then(|token| lock(&self.known).tokens.get(&token).cloned());
        known.unwrap_or_else(|| Arc::new(self.background(None)))
    }

    fn expire(&self, token: Token) {
        let mut known = lock(&self.known);
        let Some(acting) = known.tokens.get(&token) else {
            return;
        };
        let session = acting.caller.session.clone();
        let acting = Arc::new(self.background(Some(session)));
        known.tokens.insert(token, acting);
        known.over.push_back(token);
        if known.over.len() > REMEMBERED
            && let Some(oldest) = known.over.pop_front()
        {
            known.tokens.remove(&oldest);
        }
    }

    fn background(&self, session: Option<SessionKey>) -> Acting {
        let own = || SessionKey::new("plugin", SessionType::OtherMessage, &self.worker);
        let none = || SessionKey::new("plugin", SessionType::OtherMessage, "worker");
        let session = session.or_else(|| own().ok()).or_else(|| none().ok());
        Acting::new(Caller {
            // Invariant: `none` is a valid key.
            session: session.unwrap_or_else(|| unreachable!("a constant session key")),
            user: format!("plugin:{}", self.worker),
            role: Role::User,
            surface: Surface::Plugin,
            journal: JournalId::fresh(),
            depth: 0,
            grant: self.grant(),
        })
    }

    fn grant(&self) -> Arc<Grant> {
        let mut background = lock(&self.background);
        if background.0.elapsed() > REFILL {
            *background = (Instant::now(), background_grant());
        }
        background.1.clone()
    }
}

fn background_grant() -> Arc<Grant> {
    Arc::new(Grant {
        methods: Allowed::All,
        budget: Budget::new(BACKGROUND_CALLS, BACKGROUND_MESSAGES),
        expires: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn caller() -> Caller {
        Caller {
            session: "cli:FriendMessage:u1".parse().unwrap(),
            user: "u1".to_owned(),
            role: Role::Operator,
            surface: Surface::Code,
            journal: JournalId::fresh(),
            depth: 2,
            grant: Arc::new(Grant::everything()),
        }
    }

    #[test]
    fn a_token_is_its_caller_and_later_the_plugin_in_that_session() {
        let identities = Arc::new(Identities::new("nekro"));
        let issued = identities.issue(&caller());
        let token = issued.bytes();
        let acting = identities.resolve(Some(&token));
        assert_eq!(acting.caller.user, "u1");
        assert_eq!(
            (acting.caller.role, acting.caller.depth),
            (Role::Operator, 2)
        );
        assert_eq!(acting.caller.surface, Surface::Plugin);
        assert_eq!((acting.next(), acting.next()), (1, 2));
        drop(issued);
        let later = identities.resolve(Some(&token)).caller.clone();
        assert_eq!(
            (later.user.as_str(), later.role),
            ("plugin:nekro", Role::User)
        );
        assert_eq!(later.session, caller().session);
        for unknown in [None, Some(b"short".as_slice()), Some(&[7; 16])] {
            let nobody = identities.resolve(unknown).caller.clone();
            assert_eq!(nobody.session.to_string(), "plugin:OtherMessage:nekro");
        }
    }
}
