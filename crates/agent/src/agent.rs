//! [`Agent`]: everything a turn needs, wired once. Clones share it.

use std::sync::{Arc, Weak};

use callgate_contract::{Listener, Models, Outbox, Points, SessionKey};
use callgate_gate::Gate;
use callgate_store::{Store, files::SessionFolders};
use parking_lot::RwLock;

use crate::{
    AgentSettings, Coder, TurnError, rendered::RenderedCatalogues, session::Sessions,
    spending::warn_of_unpriced,
};

#[derive(Clone)]
pub struct Agent(Arc<Wired>);

#[derive(Clone)]
pub(crate) struct WeakAgent(Weak<Wired>);

struct Wired {
    wiring: Wiring,
    /// A lock, held for a look or a change: the operator may change them at any time.
    settings: RwLock<Arc<AgentSettings>>,
    rendered: RenderedCatalogues,
}

impl WeakAgent {
    pub(crate) fn upgrade(&self) -> Option<Agent> {
        self.0.upgrade().map(Agent)
    }
}

/// What an agent is made of.
pub struct Wiring {
    pub coder: Coder,
    pub models: Models,
    /// To begin with.
    pub settings: AgentSettings,
    pub listeners: Vec<Arc<dyn Listener>>,
    /// Where answers leave.
    pub outbox: Arc<dyn Outbox>,
    /// What code finds besides the standard library.
    pub packages: Vec<String>,
    pub sessions: Sessions,
}

impl Agent {
    pub fn new(wiring: Wiring) -> Self {
        warn_of_unpriced(&wiring.models, &wiring.settings.budgets);
        let agent = Agent(Arc::new(Wired {
            settings: RwLock::new(Arc::new(wiring.settings.clone())),
            wiring,
            rendered: RenderedCatalogues::default(),
        }));
        agent.gate().set_confirmer(Arc::new(agent.downgrade()));
        agent
    }

    /// For those whom the agent itself holds on to.
    pub(crate) fn downgrade(&self) -> WeakAgent {
        WeakAgent(Arc::downgrade(&self.0))
    }

    pub fn coder(&self) -> &Coder {
        &self.0.wiring.coder
    }

    pub fn store(&self) -> &Store {
        &self.0.wiring.coder.store
    }

    pub fn gate(&self) -> &Gate {
        &self.0.wiring.coder.gate
    }

    pub fn models(&self) -> &Models {
        &self.0.wiring.models
    }

    /// As they are now.
    pub fn settings(&self) -> Arc<AgentSettings> {
        self.0.settings.read().clone()
    }

    /// From now on. What a turn took along when it began stays its own.
    pub fn set_settings(&self, settings: AgentSettings) {
        warn_of_unpriced(self.models(), &settings.budgets);
        *self.0.settings.write() = Arc::new(settings);
    }

    /// Those that want to hear of `point`, in order.
    pub(crate) fn listeners(&self, point: Points) -> impl Iterator<Item = &dyn Listener> {
        let all = self.0.wiring.listeners.iter().map(Arc::as_ref);
        all.filter(move |listener| listener.points().contains(point))
    }

    /// Does anybody hear of what a turn is about to ask, call or answer?
    pub(crate) fn has_listeners(&self) -> bool {
        let points = [
            Points::COLLECT,
            Points::BEFORE_MODEL,
            Points::BEFORE_CALL,
            Points::AFTER_CALL,
            Points::BEFORE_ANSWER,
        ];
        let mut listeners = self.0.wiring.listeners.iter();
        listeners.any(|listener| {
            let heard = listener.points();
            points.iter().any(|point| heard.contains(*point))
        })
    }

    pub(crate) fn packages(&self) -> &[String] {
        &self.0.wiring.packages
    }

    pub(crate) fn rendered(&self) -> &RenderedCatalogues {
        &self.0.rendered
    }

    pub(crate) fn sessions(&self) -> &Sessions {
        &self.0.wiring.sessions
    }

    pub(crate) async fn folders(&self, session: &SessionKey) -> Result<SessionFolders, TurnError> {
        let session = self.store().sessions().open(session).await?;
        Ok(self.store().files().session(&session)?)
    }

    /// Where answers leave.
    pub(crate) fn outbox(&self) -> &dyn Outbox {
        self.0.wiring.outbox.as_ref()
    }
}
