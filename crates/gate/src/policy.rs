//! [`Policy`]: may this caller call this method? Rules in their order, the first that matches decides;
//! where none does, the defaults. Pure: the same question is asked for a call and for the catalogue, so
//! that nobody is offered what a call would refuse.

use callgate_contract::{Caller, Effect, Exposure, Permission, Principal, Role, Rule};
use callgate_store::{DecidedBy, StoredRule};
use serde_json::Value as Json;

use crate::registry::Entry;

/// All rules, in the order in which they are looked at.
#[derive(Default)]
pub(crate) struct Policy {
    rules: Vec<OrderedRule>,
    /// What "always" left. It settles what would be asked; it lifts no refusal.
    answers: Vec<StoredRule>,
}

struct OrderedRule {
    /// None of the configuration's.
    id: Option<i64>,
    rule: Rule,
}

/// What becomes of a call, and by whose word.
#[derive(Clone, Copy)]
pub(crate) struct Decided<'a> {
    pub(crate) permission: Permission,
    source: Source<'a>,
}

#[derive(Clone, Copy)]
enum Source<'a> {
    Default,
    Rule(&'a OrderedRule),
    Answer(&'a StoredRule),
}

/// What holds for a caller: for the one who acts, and for each whose words are in it besides. The strictest
/// counts.
pub(crate) struct CallerPolicy<'a>(Vec<PrincipalPolicy<'a>>);

/// What is about somebody else is left out.
struct PrincipalPolicy<'a> {
    rules: Vec<&'a OrderedRule>,
    answers: Vec<&'a StoredRule>,
    role: Role,
}

impl Policy {
    /// What operators said last counts first, then what is configured.
    pub(crate) fn new(stored: &[StoredRule], configured: &[Rule]) -> Self {
        let newest = || stored.iter().rev();
        let made = newest().filter(|stored| stored.answer.is_none());
        let made = made.map(|stored| (Some(stored.id), &stored.rule));
        let all = made.chain(configured.iter().map(|rule| (None, rule)));
        Policy {
            rules: all
                .map(|(id, rule)| OrderedRule {
                    id,
                    rule: rule.clone(),
                })
                .collect(),
            answers: newest().filter(|it| it.answer.is_some()).cloned().collect(),
        }
    }

    pub(crate) fn of(&self, caller: &Caller) -> CallerPolicy<'_> {
        let others = caller.grant.others.iter();
        let principals = std::iter::once(&caller.principal).chain(others);
        CallerPolicy(principals.map(|one| self.of_one(caller, one)).collect())
    }

    fn of_one(&self, caller: &Caller, principal: &Principal) -> PrincipalPolicy<'_> {
        let rules = self.rules.iter();
        let answers = self.answers.iter();
        PrincipalPolicy {
            rules: rules
                .filter(|it| it.rule.is_about(caller, principal))
                .collect(),
            answers: answers
                .filter(|it| it.rule.is_about(caller, principal))
                .collect(),
            role: caller.role,
        }
    }

    /// Is anybody asked before this method?
    pub(crate) fn asks_somebody(&self, entry: &Entry) -> bool {
        let mut rules = self.rules.iter().map(|it| &it.rule);
        entry.method.needs_approval() || rules.any(|rule| rule.then.waits() && covers(rule, entry))
    }
}

impl Decided<'_> {
    pub(crate) fn by(&self) -> Option<DecidedBy> {
        match self.source {
            Source::Default => None,
            Source::Rule(OrderedRule { id: Some(id), .. }) => Some(DecidedBy::Rule(*id)),
            Source::Rule(OrderedRule { id: None, rule }) => {
                Some(DecidedBy::Configured(rule.to_string()))
            }
            Source::Answer(stored) => Some(DecidedBy::Rule(stored.id)),
        }
    }
}

impl CallerPolicy<'_> {
    /// Of a call whose arguments nobody knows yet.
    pub(crate) fn decide(&self, entry: &Entry) -> Permission {
        self.decided(entry, None).permission
    }

    /// With arguments also by what standing answers say of them. Of several who are as strict, the one who
    /// acts comes first.
    pub(crate) fn decided(&self, entry: &Entry, arguments: Option<&Json>) -> Decided<'_> {
        let all = self.0.iter().rev().map(|one| one.decide(entry, arguments));
        all.max_by_key(|decided| decided.permission)
            .unwrap_or(Decided {
                permission: Permission::Deny,
                source: Source::Default,
            })
    }

    /// What whoever acts has said for always to just these arguments.
    pub(crate) fn confirmed(&self, entry: &Entry, arguments: &Json) -> Option<Permission> {
        let own = self.0.first()?;
        let mut answers = own.answers.iter().filter(|it| covers(&it.rule, entry));
        let answer = answers.find(|stored| {
            stored.answer.as_ref().is_some_and(|bounds| {
                bounds.arguments.as_ref() == Some(arguments) && bounds.schema == entry.schema()
            })
        })?;
        Some(answer.rule.then)
    }
}

impl<'a> PrincipalPolicy<'a> {
    fn decide(&self, entry: &Entry, arguments: Option<&Json>) -> Decided<'a> {
        let decisive = self.rules.iter().find(|it| covers(&it.rule, entry));
        let mut decided = match decisive {
            Some(decisive) => Decided {
                permission: decisive.rule.then,
                source: Source::Rule(decisive),
            },
            None => Decided {
                permission: default(self.role, entry),
                source: Source::Default,
            },
        };
        if entry.method.needs_approval() && decided.permission < Permission::Ask {
            decided = Decided {
                permission: Permission::Ask,
                source: Source::Default,
            };
        }
        if decided.permission.waits() {
            return self.settled(entry, arguments).unwrap_or(decided);
        }
        decided
    }

    /// The standing answer to what would be asked, for the method as it is now. Of several the newest
    /// counts; one that is for certain arguments leaves it open what is said to others.
    fn settled(&self, entry: &Entry, arguments: Option<&Json>) -> Option<Decided<'a>> {
        let mut answers = self.answers.iter().filter(|it| covers(&it.rule, entry));
        let decisive = answers.find(|stored| {
            stored.answer.as_ref().is_some_and(|bounds| {
                let fits = match (&bounds.arguments, arguments) {
                    (Some(only), Some(given)) => only == given,
                    (Some(_), None) | (None, _) => true,
                };
                fits && bounds.schema == entry.schema()
            })
        })?;
        let bounds = decisive.answer.as_ref()?;
        let is_open = bounds.arguments.is_some() && arguments.is_none();
        (!is_open).then_some(Decided {
            permission: decisive.rule.then,
            source: Source::Answer(decisive),
        })
    }
}

/// What is open to plugins alone is part of what a plugin is: a rule reaches it by its name only.
fn covers(rule: &Rule, entry: &Entry) -> bool {
    let info = entry.info();
    let is_inner = info.exposure == Exposure::PLUGINS;
    (rule.method.is_some() || !is_inner) && rule.covers(info, |name| entry.is_called(name))
}

/// Where no rule says anything. Whatever is installed was let in by the operator: installing a plugin,
/// naming a server, keeping a persona is the word that its methods may be called. Methods that are
/// dangerous in themselves ask by [`callgate_contract::Method::needs_approval`].
fn default(role: Role, entry: &Entry) -> Permission {
    if role > Role::Guest {
        return Permission::Allow;
    }
    let info = entry.info();
    // Whoever was not let in yet changes nothing; what plugins do meanwhile is their own.
    match info.effect {
        Effect::Rows | Effect::Effectful if info.exposure != Exposure::PLUGINS => Permission::Deny,
        _ => Permission::Allow,
    }
}
