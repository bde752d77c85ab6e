//! [`Rulebook`]: the rules the gate applies, in memory. Those of the store are read when they change and,
//! where other instances may change them, every second.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use callgate_contract::{Permission, Rule};
use callgate_store::{StoreError, StoredRule};
use parking_lot::RwLock;

use crate::{Gate, policy::Policy};

/// How long another instance's change may go unseen.
const LOOK: Duration = Duration::from_secs(1);

pub(crate) struct Rulebook {
    /// A lock held for a look: read by every call, written when rules change.
    pages: RwLock<Pages>,
    /// One reads the store at a time, so that what was read last is what is kept.
    reading: tokio::sync::Mutex<()>,
    is_read: AtomicBool,
}

struct Pages {
    stored: Vec<StoredRule>,
    configured: Vec<Rule>,
    policy: Arc<Policy>,
}

impl Rulebook {
    pub(crate) fn new(configured: Vec<Rule>) -> Self {
        let policy = Arc::new(Policy::new(&[], &configured));
        Rulebook {
            pages: RwLock::new(Pages {
                stored: Vec::new(),
                configured,
                policy,
            }),
            reading: tokio::sync::Mutex::default(),
            is_read: AtomicBool::new(false),
        }
    }

    pub(crate) fn policy(&self) -> Arc<Policy> {
        self.pages.read().policy.clone()
    }

    fn change(&self, change: impl FnOnce(&mut Pages)) {
        let mut pages = self.pages.write();
        change(&mut pages);
        pages.policy = Arc::new(Policy::new(&pages.stored, &pages.configured));
    }
}

/// Methods that need an approval, as rules.
pub(crate) fn asking(names: &[String]) -> impl Iterator<Item = Rule> {
    names.iter().map(|name| Rule {
        method: Some(name.clone()),
        ..Rule::new(Permission::Ask)
    })
}

impl Gate {
    /// Reads the stored rules. Where other instances share the database, theirs hold here within about a
    /// second from now on.
    pub async fn follow_rules(&self) -> Result<(), StoreError> {
        self.read_rules().await?;
        if self.store().term().is_some() {
            let gate = self.downgrade();
            tokio::spawn(async move {
                loop {
                    tokio::time::sleep(LOOK).await;
                    let Some(gate) = gate.upgrade() else { return };
                    if let Err(error) = gate.read_rules().await {
                        tracing::warn!(%error, "could not read rules; retrying");
                    }
                }
            });
        }
        Ok(())
    }

    /// The rules of the configuration from now on, and the methods that need an approval, as
    /// [`crate::GatePolicy`] says them.
    pub fn set_rules(&self, mut rules: Vec<Rule>, ask: &[String]) {
        rules.extend(asking(ask));
        self.rulebook().change(|pages| pages.configured = rules);
        self.tell_change();
    }

    /// Holds from the next call on.
    pub async fn add_rule(&self, rule: &Rule, by: &str) -> Result<StoredRule, StoreError> {
        let made = self.store().rules().add(rule, by).await?;
        self.read_rules().await?;
        Ok(made)
    }

    /// What a rule or a standing answer said is forgotten.
    pub async fn remove_rule(&self, id: i64) -> Result<StoredRule, StoreError> {
        let removed = self.store().rules().remove(id).await?;
        self.read_rules().await?;
        Ok(removed)
    }

    pub(crate) async fn read_rules(&self) -> Result<(), StoreError> {
        let book = self.rulebook();
        let _alone = book.reading.lock().await;
        let stored = self.store().rules().list().await?;
        if book.pages.read().stored != stored {
            book.change(|pages| pages.stored = stored);
            self.tell_change();
        }
        book.is_read.store(true, Ordering::Release);
        Ok(())
    }

    /// Before the first call that nobody has read them for.
    pub(crate) async fn known_rules(&self) -> Result<Arc<Policy>, StoreError> {
        let book = self.rulebook();
        if !book.is_read.load(Ordering::Acquire) {
            self.read_rules().await?;
        }
        Ok(book.policy())
    }
}
