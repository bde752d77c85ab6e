//! The product's operations: everything a person or program can ask of Callgate is here, once, with its
//! request, its response and one kind of error. Surfaces only translate: they neither decide nor word
//! what happened.

mod attempts;
mod backups;
mod capability;
mod capsules;
mod clock;
pub mod config;
mod doctor;
mod entry;
mod error;
mod imports;
mod jobs;
mod live;
mod logs;
mod metrics;
mod operation;
pub mod operations;
pub mod packages;
mod platforms;
pub mod plugins;
mod processes;
mod quota;
mod rates;
pub mod remote;
pub mod request;
mod requester;
mod scope;
mod service;

pub use attempts::Attempts;
pub use backups::{restore as restore_backup, verify as verify_backup};
pub use capability::{Capabilities, Capability};
pub use capsules::{read as read_capsule, replay as replay_capsule};
pub use clock::keep_time;
pub use doctor::examine;
pub use entry::{Entry, Surface, entries};
pub use error::{ErrorCode, Hint, Listing, ServiceError};
pub use jobs::{Job, JobError, JobKind, JobPhase, JobProgress, JobState};
pub(crate) use jobs::{Jobs, ProgressFn};
pub use live::{
    AnyEvent, Event, EventEnvelope, EventFilter, EventListener, EventSubscription, JobNews, Live,
    News, RunNews, StreamEvent, Subscription, Topic, Topics,
};
pub use logs::{Level, LogLine, Logs};
pub use metrics::{CountedSandbox, Gauges, Metrics};
pub use operation::{NamedOperation, Operation, read as read_operation};
pub use platforms::Platforms;
pub use quota::{QuotaError, Quotas};
pub use rates::Rates;
pub use remote::Remote;
pub use requester::Requester;
pub use scope::{METHODS, OPERATOR, SCOPES, unknown_scope};
pub use service::{
    ForwardRequest, OPENAI_PLATFORM, Observer, PluginWebError, RecoveredRun, Service, Settings,
    Visit, Webhook,
};
