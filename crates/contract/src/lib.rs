//! The words of Callgate as types, its few traits, and the two codecs (values, frames).
//! No I/O happens here: everything is data or an interface.

mod caller;
pub mod codec;
mod delivery;
pub mod frame;
mod limit;
mod listener;
mod media;
mod message;
mod method;
mod model;
mod peer;
mod policy;
mod principal;
mod progress;
mod provenance;
mod run;
mod selector;
mod session;
mod spec;
mod taint;
mod trust;
mod turn;
mod value;

pub use caller::{Allowed, Budget, BudgetSpent, Caller, Grant, JournalId, Payer, Surface};
pub use delivery::{DeliveryError, Found, Outbox, Piece, Receipt, Repetition};
pub use limit::{InvalidLimit, Limit, Period};
pub use listener::{
    ArrivalFacts, Contribution, Listener, PlatformFacts, Points, TurnFacts, Verdict,
};
pub use media::media_type;
pub use message::{Change, Forwarded, Message, Part};
pub use method::{
    Arguments, Binding, CallContext, Effect, Exposure, Kind, Method, MethodError, MethodInfo,
    Origin, Reply,
};
pub use model::{
    Accepts, CallArguments, Embeddings, FinishReason, LongPrice, Messages, Model, ModelError,
    ModelEvent, ModelInfo, ModelMessage, ModelOptions, ModelReply, ModelRequest, ModelStream,
    Models, NamedModel, Price, Shared, ToolCall, ToolChoice, ToolSpec, Usage,
};
pub use peer::{Peer, PeerMessage};
pub use policy::{InvalidRule, Permission, Rule};
pub use principal::{InvalidPrincipal, Principal, Role};
pub use progress::{Onlooker, Progress};
pub use provenance::{InvalidProvenance, Provenance};
pub use run::{
    CodeCall, CodeReply, HostCall, Limits, OutputListener, Report, RunFolders, RunSpec, Sandbox,
    SandboxError, Stop, Stub, UID_BASE,
};
pub use session::{InvalidSession, SessionKey, SessionType};
pub use spec::{ExposureSpec, MethodSpec};
pub use taint::Taint;
pub use trust::{Choice, DeclaredTrust, ResultTrust, StrangeValue, StrangeValues, Trust};
pub use turn::{ConversationId, Mode, TurnStop};
pub use value::{Value, json};

/// The word to stop, for runs, turns and calls, and for whatever they began.
pub use tokio_util::sync::CancellationToken as Cancel;

/// A boxed future, so that the traits here stay object-safe without a macro.
pub type BoxFuture<'a, T> = std::pin::Pin<Box<dyn Future<Output = T> + Send + 'a>>;
