//! Approvals: calls an operator must say yes to, and the answers. An answer is given once; what
//! follows from it is the gate's. What asked and then ended without an answer waits no more.

use callgate_contract::{
    Change, JournalId, Message, Part, Permission, Principal, SessionKey, StrangeValues,
};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::{
    Standing, StoreError, changes, crash_point,
    database::Database,
    row::{self, get},
    rules,
    tx::{Parameter, Row, Tx, parameters},
};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalState {
    Pending,
    Allowed,
    Denied,
    /// What asked has ended: it was stopped, or went on without an answer.
    Withdrawn,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    Allow,
    Deny,
}

/// Whose word a call waits for. An operator's or administrator's always counts.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Approver {
    #[default]
    Operator,
    /// The person in whose name it is made, in their chat.
    Requester,
}

/// The question as it is put to people in the chat, with the approval's number.
pub type Question = Box<dyn FnOnce(i64) -> String + Send>;

/// The call that needs an answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Ask {
    pub journal: JournalId,
    pub sequence: u64,
    pub session: SessionKey,
    pub principal: Principal,
    /// `origin/name`.
    pub method: String,
    /// The hash of its parameters.
    pub schema: String,
    /// The arguments as the operator reads them.
    pub arguments: Json,
    pub approver: Approver,
    /// Why it is asked, where no rule says so.
    pub reason: Option<StrangeValues>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Approval {
    /// Small, so that a person can type it.
    pub id: i64,
    pub ask: Ask,
    pub state: ApprovalState,
    pub asked_at: Timestamp,
    pub answered_at: Option<Timestamp>,
    /// Who answered, where that was said.
    pub answered_by: Option<String>,
}

pub struct Approvals<'a>(pub(crate) &'a Database);

impl Approvals<'_> {
    /// Asks, or finds what was asked for this call before: a run executed again meets its answer.
    /// A question goes to the chat together with it, once.
    pub async fn ask(&self, ask: &Ask, question: Option<Question>) -> Result<Approval, StoreError> {
        let (ask, session) = (ask.clone(), ask.session.clone());
        let (holder, is_put) = (self.0.holder(), question.is_some());
        let asked = self
            .0
            .write(move |tx| {
                let sequence = row::count(ask.sequence);
                let reason = ask.reason.as_ref().map(serde_json::to_string);
                let reason = reason.and_then(Result::ok);
                // A row that cannot be written would cost a number, and people type those.
                let is_new = tx.execute(
                    "INSERT INTO approval (journal, sequence, session, principal, method,
                                           arguments, state, asked_at, schema, approver, reason)
                     SELECT ?1, ?2, ?3, ?4, ?5, ?6, 'pending', ?7, ?8, ?9, ?10 WHERE NOT EXISTS (
                         SELECT 1 FROM approval WHERE journal = ?1 AND sequence = ?2)
                     ON CONFLICT (journal, sequence) DO NOTHING",
                    parameters![
                        ask.journal,
                        sequence,
                        ask.session.to_string(),
                        ask.principal.to_string(),
                        ask.method,
                        ask.arguments.to_string(),
                        row::now(),
                        ask.schema,
                        row::word(ask.approver)?,
                        reason,
                    ],
                )? > 0;
                let asked = "SELECT * FROM approval WHERE journal = ?1 AND sequence = ?2";
                let approval = read(&tx.query_one(asked, parameters![ask.journal, sequence])?)?;
                if let Some(question) = question.filter(|_| is_new) {
                    let message = Message {
                        session: ask.session,
                        parts: vec![Part::text(question(approval.id))],
                    };
                    changes::apply(tx, ask.journal, &[Change::Send { message }], holder)?;
                }
                Ok(approval)
            })
            .await?;
        crash_point("approval.after_ask");
        if is_put {
            self.0.tell_queued_in(&session);
        }
        Ok(asked)
    }

    /// An answer that stands becomes a rule.
    pub async fn answer(
        &self,
        id: i64,
        decision: Decision,
        standing: Option<Standing>,
        by: Option<&str>,
    ) -> Result<Approval, StoreError> {
        let (state, then) = match decision {
            Decision::Allow => (ApprovalState::Allowed, Permission::Allow),
            Decision::Deny => (ApprovalState::Denied, Permission::Deny),
        };
        let by = by.map(str::to_owned);
        let answered = self
            .0
            .write(move |tx| {
                let answered = tx.query_optional(
                    "UPDATE approval SET state = ?2, answered_at = ?3, answered_by = ?4
                     WHERE id = ?1 AND state = 'pending' RETURNING *",
                    parameters![id, row::word(state)?, row::now(), by],
                )?;
                let Some(answered) = answered else {
                    let state = find(tx, id)?.state.past();
                    return Err(StoreError::AlreadyAnswered { id, state });
                };
                let approval = read(&answered)?;
                if let Some(mut standing) = standing {
                    // What one value may do says nothing of others.
                    standing.same_arguments |= approval.ask.reason.is_some();
                    rules::stand(tx, &approval.ask, then, standing, by.as_deref())?;
                }
                Ok(approval)
            })
            .await?;
        crash_point("approval.after_answer");
        Ok(answered)
    }

    pub async fn get(&self, id: i64) -> Result<Approval, StoreError> {
        self.0.read(move |tx| find(tx, id)).await
    }

    /// Oldest first; of every state where `state` is `None`.
    pub async fn list(&self, state: Option<ApprovalState>) -> Result<Vec<Approval>, StoreError> {
        let state = state.map(row::word).transpose()?;
        self.0
            .read(move |tx| {
                let select = "SELECT * FROM approval
                              WHERE CAST(?1 AS TEXT) IS NULL OR state = ?1 ORDER BY id";
                select_all(tx, select, parameters![state])
            })
            .await
    }

    /// What waits in one session, oldest first.
    pub async fn pending_in(&self, session: &SessionKey) -> Result<Vec<Approval>, StoreError> {
        let session = session.to_string();
        self.0
            .read(move |tx| {
                let select = "SELECT * FROM approval
                              WHERE state = 'pending' AND session = ?1 ORDER BY id";
                select_all(tx, select, parameters![session])
            })
            .await
    }

    /// What the calls of one journal asked, by sequence.
    pub async fn of(&self, journal: JournalId) -> Result<Vec<Approval>, StoreError> {
        self.0
            .read(move |tx| {
                let select = "SELECT * FROM approval WHERE journal = ?1 ORDER BY sequence";
                select_all(tx, select, parameters![journal])
            })
            .await
    }
}

fn find(tx: &mut dyn Tx, id: i64) -> Result<Approval, StoreError> {
    let found = tx.query_optional("SELECT * FROM approval WHERE id = ?1", parameters![id])?;
    read(&found.ok_or(StoreError::UnknownApproval(id))?)
}

fn select_all(
    tx: &mut dyn Tx,
    select: &str,
    parameters: &[Parameter<'_>],
) -> Result<Vec<Approval>, StoreError> {
    tx.query(select, parameters)?.iter().map(read).collect()
}

/// What the calls of a run asked that has ended.
pub(crate) fn withdraw(tx: &mut dyn Tx, run: JournalId) -> Result<(), StoreError> {
    tx.execute(
        "UPDATE approval SET state = 'withdrawn' WHERE journal = ?1 AND state = 'pending'",
        parameters![run],
    )?;
    Ok(())
}

/// The same of a turn, in its tool calls and its code.
pub(crate) fn withdraw_all(tx: &mut dyn Tx, turn: JournalId) -> Result<(), StoreError> {
    tx.execute(
        "UPDATE approval SET state = 'withdrawn' WHERE state = 'pending'
         AND (journal = ?1 OR journal IN (SELECT journal FROM run WHERE run.turn = ?1))",
        parameters![turn],
    )?;
    Ok(())
}

impl ApprovalState {
    fn past(self) -> &'static str {
        match self {
            ApprovalState::Pending => "pending",
            ApprovalState::Allowed => "allowed",
            ApprovalState::Denied => "denied",
            ApprovalState::Withdrawn => "withdrawn",
        }
    }
}

fn read(row: &Row) -> Result<Approval, StoreError> {
    let answered_at: Option<i64> = get(row, "answered_at")?;
    Ok(Approval {
        id: get(row, "id")?,
        ask: Ask {
            journal: get(row, "journal")?,
            sequence: row::read_count("sequence", get(row, "sequence")?)?,
            session: row::read_session(&get::<String>(row, "session")?)?,
            principal: row::read_word("principal", get(row, "principal")?)?,
            method: get(row, "method")?,
            schema: get(row, "schema")?,
            arguments: row::read_json("arguments", &get::<String>(row, "arguments")?)?,
            approver: row::read_word("approver", get(row, "approver")?)?,
            reason: match get::<Option<String>>(row, "reason")? {
                Some(text) => Some(row::read_json("reason", &text)?),
                None => None,
            },
        },
        state: row::read_word("approval", get(row, "state")?)?,
        asked_at: row::read_time(get(row, "asked_at")?)?,
        answered_at: answered_at.map(row::read_time).transpose()?,
        answered_by: get(row, "answered_by")?,
    })
}
