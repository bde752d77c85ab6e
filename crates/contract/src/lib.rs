//! The words of Callgate as types, its few traits, and the two codecs (values, frames).
//! No I/O happens here: everything is data or an interface.

mod caller;
pub mod codec;
pub mod frame;
mod listener;
mod media;
mod message;
mod method;
mod model;
mod run;
mod session;
mod turn;
mod value;

pub use caller::{Allowed, Budget, BudgetSpent, Caller, Grant, JournalId, Role, Surface};
pub use listener::{Listener, TurnFacts};
pub use media::media_type;
pub use message::{Change, Message, Outbox, Part};
pub use method::{
    Arguments, CallContext, Effect, Exposure, Kind, Method, MethodError, MethodInfo, Origin, Reply,
};
pub use model::{
    Accepts, CallArguments, FinishReason, Model, ModelError, ModelEvent, ModelMessage,
    ModelOptions, ModelReply, ModelRequest, ModelStream, Models, NamedModel, ToolCall, ToolChoice,
    ToolSpec, Usage,
};
pub use run::{
    Cancel, CodeCall, CodeReply, HostCall, Limits, OutputListener, Report, RunFolders, RunSpec,
    Sandbox, SandboxError, Stop, Stub, UID_BASE,
};
pub use session::{InvalidSession, SessionKey, SessionType};
pub use turn::{ConversationId, Mode, TurnStop};
pub use value::{Value, json};

/// A boxed future, so that the traits here stay object-safe without a macro.
pub type BoxFuture<'a, T> = std::pin::Pin<Box<dyn Future<Output = T> + Send + 'a>>;
