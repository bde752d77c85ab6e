//! Everything durable: rows in SQLite or PostgreSQL through one code path, files beneath directory
//! descriptors, and the lock that makes one process the owner of a data directory.
//! What a row *means* is decided by the gate; the store refuses only what would lose or double it.

mod approvals;
mod arrivals;
pub mod backup;
mod capsules;
mod changes;
mod client_names;
mod clients;
mod control;
mod conversations;
mod costs;
mod counted;
mod counts;
mod crash;
mod cursors;
mod database;
mod database_error;
mod error;
pub mod files;
mod foreign;
mod imports;
mod instance;
mod job;
mod journal;
mod keys;
mod leases;
mod leftovers;
mod limits;
mod log;
mod migrations;
mod notes;
mod open;
mod outbox;
mod owner;
mod personas;
mod plugin_data;
mod postgres;
mod preferences;
mod requests;
mod resources;
mod retention;
mod rooms;
mod row;
mod rules;
mod sessions;
mod settings;
mod shared;
mod sqlite;
mod timers;
mod turns;
mod tx;
mod vectors;
mod zone;

use std::{sync::Arc, time::Duration};

pub use approvals::{Approval, ApprovalState, Approvals, Approver, Ask, Decision, Question};
pub use capsules::{Capsules, WrittenRow};
pub use client_names::{ClientNames, MAX_NAMES, NameOf, client_owner};
pub use clients::{Client, ClientState, Clients, NewClient};
pub use control::{ControlError, Events, request};
pub use conversations::{
    Conversation, ConversationUpdate, Conversations, HistoryRow, NewConversation, NewMessage,
    Surroundings,
};
pub use costs::{Charge, CostBy, CostLine, CostSum, Costs, Expense};
pub use counted::Counted;
pub use counts::StatementCounts;
pub use crash::{CRASH_POINTS, crash_point};
pub use cursors::Cursors;
pub use database_error::DatabaseError;
pub use error::StoreError;
pub use files::Files;
pub use foreign::{ForeignDatabase, ForeignError};
pub use imports::{Import, ImportItem, Imports, KnownItem};
pub use journal::{
    CallIntent, CallOutcome, DecidedBy, Ended, Finish, Journal, Keep, PastCall, RecordedCall, Run,
    RunCounts, RunStart, Success, Tail,
};
pub use keys::{Key, KeyHandle, Keys, Login, Logins, NewKey, new_key_text};
pub use leases::{Lease, Leases};
pub use leftovers::{LeftBy, LeftRow, Leftovers};
pub use limits::{CountedMessages, Limits, StoredLimit, UseOf, Used};
pub use log::{Arrival, Incoming, Log, LogQuery, LogRole, LogRow, Reception, Sender, Speaker};
pub use notes::{MAX_NOTE_NAME, MAX_NOTE_TEXT, Note, Notes};
pub use open::{Durability, StoreOptions};
pub use outbox::{Deliveries, DeliveryState, Pending, QueuedMessages, Undelivered};
pub use owner::{Handler, Held, Owner, OwnerError};
pub use personas::{MAX_PERSONA_NAME, NO_PERSONA, NewPersona, Persona, PersonaUpdate, Personas};
pub use plugin_data::{DataKey, DataRow, MAX_DATA_NAME, PluginData};
pub use preferences::{Preference, Preferences};
pub use requests::{Claim, Requests};
pub use resources::{MAX_RESOURCES, Resource, Resources};
pub use retention::Retention;
pub use rooms::{
    MAX_ROOM_MEMBERS, MAX_ROOM_NAME, MAX_ROOMS, NewRoomMessage, Room, RoomMember, RoomMessage,
    RoomMode, RoomRole, Rooms,
};
pub use rules::{AnswerBounds, Rules, Standing, StoredRule};
pub use sessions::{Session, Sessions};
pub use settings::{SessionSettings, Settings, Versioned};
pub use shared::KeptRequest;
pub use timers::{
    InvalidRepeat, MAX_TIMER_TEXT, MAX_TIMERS, NewTimer, PlannedTimer, PluginTimer, Repeat, Timer,
    TimerAct, TimerPlan, TimerState, Timers,
};
pub use turns::{
    Answer, Round, Scope, Spent, Spoken, Turn, TurnCounts, TurnEnd, TurnFinish, TurnStart, Turns,
};
pub use tx::{Cell, FromCell, Parameter, Row, Tx};
pub use vectors::Vectors;
pub use zone::{InvalidZone, Zone};

use crate::database::Database;

/// The door to all of it. Clones are cheap and share one set of connections.
#[derive(Clone)]
pub struct Store {
    database: Arc<Database>,
    journal: Journal,
    files: Files,
}

impl Store {
    pub fn journal(&self) -> &Journal {
        &self.journal
    }

    pub fn files(&self) -> &Files {
        &self.files
    }

    pub fn approvals(&self) -> Approvals<'_> {
        Approvals(&self.database)
    }

    pub fn rules(&self) -> Rules<'_> {
        Rules(&self.database)
    }

    pub fn limits(&self) -> Limits<'_> {
        Limits(&self.database)
    }

    pub fn notes(&self) -> Notes<'_> {
        Notes(&self.database)
    }

    pub fn sessions(&self) -> Sessions<'_> {
        Sessions(&self.database)
    }

    pub fn outbox(&self) -> QueuedMessages<'_> {
        QueuedMessages(&self.database)
    }

    pub fn log(&self) -> Log<'_> {
        Log(&self.database)
    }

    pub fn conversations(&self) -> Conversations<'_> {
        Conversations(&self.database)
    }

    pub fn personas(&self) -> Personas<'_> {
        Personas(&self.database)
    }

    pub fn plugin_data(&self) -> PluginData<'_> {
        PluginData(&self.database)
    }

    pub fn preferences(&self) -> Preferences<'_> {
        Preferences(&self.database)
    }

    pub fn settings(&self) -> Settings<'_> {
        Settings(&self.database)
    }

    pub fn turns(&self) -> Turns<'_> {
        Turns(&self.journal)
    }

    pub fn costs(&self) -> Costs<'_> {
        Costs(&self.journal)
    }

    pub fn vectors(&self) -> Vectors<'_> {
        Vectors(&self.database)
    }

    pub fn leases(&self) -> Leases<'_> {
        Leases(&self.database)
    }

    /// After how long a silence another instance counts as gone; `None` where there are no others.
    pub fn term(&self) -> Option<Duration> {
        let database = &self.database;
        database.is_shared().then_some(database.instance.term)
    }

    /// Writes what was to be written soon; what this instance holds is anybody's at once. For its end in
    /// good order: nothing of its own may be under way.
    pub async fn leave(&self) -> Result<(), StoreError> {
        self.journal.flush().await?;
        self.database.leave().await
    }

    /// Runs `work` in one transaction, which is committed unless it fails, and durable on return. It must
    /// do nothing but ask the database. Whoever stops waiting may have written all the same.
    pub async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut dyn Tx) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.database.write(work).await
    }

    /// Reads what is committed.
    pub async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut dyn Tx) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.database.read(work).await
    }

    /// What was asked of the database since it was opened.
    pub fn counts(&self) -> StatementCounts {
        self.database.counts.get()
    }

    /// Fails unless something can be written now.
    pub async fn check(&self) -> Result<(), StoreError> {
        self.database.check().await
    }

    /// What is wrong with the database's pages, tables and indexes, as far as it is a file of ours. It
    /// reads all of it.
    pub async fn damage(&self) -> Result<Vec<String>, StoreError> {
        if self.database.is_shared() {
            return Ok(Vec::new());
        }
        self.read(sqlite::damage).await
    }

    pub fn cursors(&self) -> Cursors<'_> {
        Cursors(&self.database)
    }

    pub fn timers(&self) -> Timers<'_> {
        Timers(&self.database)
    }

    pub fn rooms(&self) -> Rooms<'_> {
        Rooms(&self.database)
    }

    pub fn keys(&self) -> Keys<'_> {
        Keys(&self.database)
    }

    pub fn logins(&self) -> Logins<'_> {
        Logins(&self.database)
    }

    pub fn clients(&self) -> Clients<'_> {
        Clients(&self.database)
    }

    pub fn client_names(&self) -> ClientNames<'_> {
        ClientNames(&self.database)
    }

    pub fn capsules(&self) -> Capsules<'_> {
        Capsules(&self.journal)
    }

    pub fn requests(&self) -> Requests<'_> {
        Requests(&self.database)
    }

    pub fn imports(&self) -> Imports<'_> {
        Imports(&self.database)
    }

    pub fn resources(&self) -> Resources<'_> {
        Resources(&self.database)
    }
}
