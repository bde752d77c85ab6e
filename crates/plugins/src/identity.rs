//! For whom plugin code acts. Each frame to a worker carries a token; what the code then asks of the
//! host is asked in the name behind that token. When the frame is over, its token stands for the
//! plugin alone, in the same session: plugins send results minutes later. What plugins do that nobody
//! called for (a route, a webhook, a timer) is a call by `plugin:<id>` through the gate.

use std::{
    collections::{HashMap, VecDeque},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use callgate_contract::{
    Allowed, Budget, Caller, Grant, JournalId, Onlooker, Principal, Role, SessionKey, SessionType,
    Surface,
};
use parking_lot::Mutex;
use tracing::Span;
use uuid::Uuid;

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
    known: Mutex<TokenTable>,
    /// What each plugin may spend by itself, and since when. A mutex held for a look.
    background: Mutex<HashMap<String, (Instant, Arc<Grant>)>>,
}

#[derive(Default)]
struct TokenTable {
    tokens: HashMap<Token, TokenSubject>,
    /// Tokens that are over, oldest first.
    over: VecDeque<Token>,
}

/// What a token stands for.
enum TokenSubject {
    /// A caller, while the frame is served.
    For(Arc<ActingCaller>),
    /// The plugin alone, in the session where the frame was served.
    In(SessionKey),
}

/// Who acts, and the journal of what they do.
#[derive(Debug)]
pub(crate) struct ActingCaller {
    pub(crate) caller: Caller,
    /// Who hears how far the call has come that is being served.
    pub(crate) progress: Onlooker,
    /// In which whatever the code asks of the host is traced.
    pub(crate) span: Span,
    sequence: AtomicU64,
}

impl ActingCaller {
    fn new(caller: Caller, progress: Onlooker, span: Span) -> Self {
        ActingCaller {
            caller,
            progress,
            span,
            sequence: AtomicU64::new(0),
        }
    }

    /// The number of the next call in the journal.
    pub(crate) fn next(&self) -> u64 {
        self.sequence.fetch_add(1, Ordering::Relaxed) + 1
    }
}

/// A token in use. Dropped, it is over.
pub(crate) struct IssuedToken {
    identities: Arc<Identities>,
    token: Token,
}

impl IssuedToken {
    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.token.to_vec()
    }
}

impl Drop for IssuedToken {
    fn drop(&mut self) {
        self.identities.expire(self.token);
    }
}

impl Identities {
    pub(crate) fn new(worker: &str) -> Self {
        Identities {
            worker: worker.to_owned(),
            known: Mutex::default(),
            background: Mutex::default(),
        }
    }

    pub(crate) fn worker(&self) -> &str {
        &self.worker
    }

    /// A token for a frame that is served on behalf of `caller`. What plugin code asks needs the
    /// plugin's own grant; the budget stays the caller's.
    pub(crate) fn issue(
        self: &Arc<Self>,
        caller: &Caller,
        progress: Onlooker,
        span: &Span,
    ) -> IssuedToken {
        let token = *Uuid::now_v7().as_bytes();
        let caller = Caller {
            surface: Surface::Plugin,
            journal: JournalId::fresh(),
            ..caller.clone()
        };
        let acting = ActingCaller::new(caller, progress, span.clone());
        let standing = TokenSubject::For(Arc::new(acting));
        self.known.lock().tokens.insert(token, standing);
        IssuedToken {
            identities: self.clone(),
            token,
        }
    }

    /// Who asks. An unknown token, or none, is the background work of `plugin`.
    pub(crate) fn resolve(&self, token: Option<&[u8]>, plugin: &str) -> Arc<ActingCaller> {
        let token = token.and_then(|token| Token::try_from(token).ok());
        let session = match token.and_then(|token| self.standing(token)) {
            Some(Ok(acting)) => return acting,
            Some(Err(session)) => Some(session),
            None => None,
        };
        let caller = self.background(session, plugin);
        Arc::new(ActingCaller::new(caller, Onlooker::default(), Span::none()))
    }

    fn standing(&self, token: Token) -> Option<Result<Arc<ActingCaller>, SessionKey>> {
        match self.known.lock().tokens.get(&token)? {
            TokenSubject::For(acting) => Some(Ok(acting.clone())),
            TokenSubject::In(session) => Some(Err(session.clone())),
        }
    }

    fn expire(&self, token: Token) {
        let mut known = self.known.lock();
        let Some(TokenSubject::For(acting)) = known.tokens.get(&token) else {
            return;
        };
        let session = acting.caller.session.clone();
        known.tokens.insert(token, TokenSubject::In(session));
        known.over.push_back(token);
        if known.over.len() > REMEMBERED
            && let Some(oldest) = known.over.pop_front()
        {
            known.tokens.remove(&oldest);
        }
    }

    /// A plugin that acts for nobody but itself; of a worker's own work, the worker.
    pub(crate) fn background(&self, session: Option<SessionKey>, plugin: &str) -> Caller {
        let name = match plugin {
            "" => self.worker.as_str(),
            plugin => plugin,
        };
        let key = |id: &str| SessionKey::new("plugin", SessionType::OtherMessage, id).ok();
        let session = session.or_else(|| key(name)).or_else(|| key("worker"));
        Caller {
            // Invariant: the last of the three is a valid key.
            session: session.unwrap_or_else(|| unreachable!("a constant session key")),
            principal: Principal::Plugin(name.to_owned()),
            role: Role::Member,
            surface: Surface::Plugin,
            journal: JournalId::fresh(),
            depth: 0,
            grant: self.grant(name),
        }
    }

    fn grant(&self, plugin: &str) -> Arc<Grant> {
        let mut background = self.background.lock();
        match background.get(plugin) {
            Some((since, grant)) if since.elapsed() <= REFILL => grant.clone(),
            _ => {
                let grant = background_grant();
                background.insert(plugin.to_owned(), (Instant::now(), grant.clone()));
                grant
            }
        }
    }
}

fn background_grant() -> Arc<Grant> {
    Arc::new(Grant {
        methods: Allowed::All,
        budget: Budget::new(BACKGROUND_CALLS, BACKGROUND_MESSAGES),
        ..Grant::everything()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn caller() -> Caller {
        Caller {
            session: "cli:FriendMessage:u1".parse().unwrap(),
            principal: "cli:u1".parse().unwrap(),
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
        let issued = identities.issue(&caller(), Onlooker::new(|_| ()), &Span::none());
        let token = issued.bytes();
        let acting = identities.resolve(Some(&token), "a.b");
        assert_eq!(acting.caller.principal.user(), "u1");
        assert_eq!(
            (acting.caller.role, acting.caller.depth),
            (Role::Operator, 2)
        );
        assert_eq!(acting.caller.surface, Surface::Plugin);
        assert_eq!((acting.next(), acting.next()), (1, 2));
        assert!(!acting.progress.is_nobody());
        drop(issued);
        let later = identities.resolve(Some(&token), "a.b");
        assert!(later.progress.is_nobody(), "its call is answered");
        let later = later.caller.clone();
        assert_eq!(
            (later.principal.user().as_ref(), later.role),
            ("plugin:a.b", Role::Member)
        );
        assert_eq!(later.session, caller().session);
        for unknown in [None, Some(b"short".as_slice()), Some(&[7; 16])] {
            let nobody = identities.resolve(unknown, "").caller.clone();
            assert_eq!(nobody.session.to_string(), "plugin:OtherMessage:nekro");
        }
    }

    #[test]
    fn each_plugin_has_a_purse_of_its_own() {
        let identities = Identities::new("nekro");
        let spend = |plugin: &str| {
            let grant = identities.resolve(None, plugin).caller.grant.clone();
            grant.budget.take_call().is_ok()
        };
        while spend("a.greedy") {}
        assert!(spend("a.modest"));
        let modest = identities.resolve(None, "a.modest");
        assert_eq!(modest.caller.principal.user(), "plugin:a.modest");
    }
}
