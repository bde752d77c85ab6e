//! [`Handler`]: the answers to one client, each to whoever asks it at that moment.

use std::{fmt::Display, sync::Arc};

use axum::http::request::Parts;
use callgate_contract::JournalId;
use callgate_gate::CallError;
use callgate_service::Capability;
use parking_lot::Mutex;
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestParams,
        CompleteResult, ContentBlock, Extensions, GetPromptRequestParams, GetPromptResponse,
        Implementation, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult,
        ListToolsResult, PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse,
        ServerCapabilities, ServerConfig, SubscribeRequestParams, SubscriptionFilter, Tool,
        UnsubscribeRequestParams,
    },
    service::{NotificationContext, RequestContext, SubscriptionContext},
};
use tokio::task::AbortHandle;

use super::{
    Mcp, call, completion, content,
    files::{self, Home},
    lists, page, prompts,
    told::{Level, ProgressNotifier},
    tools,
    watched::{self, WatchedFiles},
    who::ClientIdentity,
};
use crate::api::Access;

/// What each thing that a client can ask needs; over HTTP nothing is asked without the same, at the door.
pub(crate) const VERBS: &[(&str, Capability)] = &[
    ("initialize", Capability::Call),
    ("ping", Capability::Call),
    ("tools/list", Capability::Call),
    ("tools/call", Capability::Call),
    ("resources/list", Capability::Call),
    ("resources/templates/list", Capability::Call),
    ("resources/read", Capability::Call),
    ("resources/subscribe", Capability::Call),
    ("resources/unsubscribe", Capability::Call),
    ("prompts/list", Capability::Call),
    ("prompts/get", Capability::Call),
    ("completion/complete", Capability::Call),
    ("logging/setLevel", Capability::Call),
    ("subscriptions/listen", Capability::Call),
];

#[derive(Clone)]
pub(super) struct Handler(Arc<HandlerInner>);

/// One for each session of a client; for clients without sessions, one for each request.
struct HandlerInner {
    mcp: Mcp,
    /// `None`: each request says who asks.
    who: Option<ClientIdentity>,
    heard: Mutex<ClientState>,
    watched: WatchedFiles,
}

/// A mutex, held for a look.
#[derive(Default)]
struct ClientState {
    /// The least that the client wants to hear.
    level: Option<Level>,
    /// Tells the client of changes, for as long as we live.
    telling: Option<AbortHandle>,
    /// Tells it of its files, from the first that it wants to hear of.
    following: Option<AbortHandle>,
}

impl Drop for HandlerInner {
    fn drop(&mut self) {
        let heard = self.heard.get_mut();
        let tasks = [heard.telling.take(), heard.following.take()];
        for task in tasks.into_iter().flatten() {
            task.abort();
        }
    }
}

/// Our own fault: the client learns no more, the log everything.
pub(super) fn internal(error: impl Display) -> ErrorData {
    tracing::error!(%error, "MCP request failed");
    ErrorData::internal_error(
        "this could not be done now; the server's log says why",
        None,
    )
}

impl Handler {
    pub(super) fn new(mcp: Mcp, who: Option<ClientIdentity>) -> Self {
        Handler(Arc::new(HandlerInner {
            mcp,
            who,
            heard: Mutex::default(),
            watched: WatchedFiles::default(),
        }))
    }

    fn mcp(&self) -> &Mcp {
        &self.0.mcp
    }

    /// Who asks, if that one may.
    fn who(&self, verb: &str, extensions: &Extensions) -> Result<ClientIdentity, ErrorData> {
        let who = self.identity(extensions)?;
        let needs = VERBS.iter().find(|(name, _)| *name == verb);
        let needs = needs.map_or(Capability::Operator, |(_, needs)| *needs);
        if who.holds(needs) {
            return Ok(who);
        }
        let scope = needs.scope();
        let why = format!("this key does not hold the scope '{scope}'");
        Err(ErrorData::invalid_request(why, None))
    }

    fn identity(&self, extensions: &Extensions) -> Result<ClientIdentity, ErrorData> {
        if let Some(who) = &self.0.who {
            return Ok(who.clone());
        }
        let parts = extensions.get::<Parts>();
        let access = parts.and_then(|parts| parts.extensions.get::<Access>());
        let access = access.ok_or_else(|| internal("a request came in without a key"))?;
        Ok(ClientIdentity::of(access))
    }

    fn told(&self, context: &RequestContext<RoleServer>) -> ProgressNotifier {
        let level = context.meta.log_level().or(self.0.heard.lock().level);
        let token = context.meta.get_progress_token();
        ProgressNotifier::new(context.peer.clone(), token, level)
    }
}

impl ServerHandler for Handler {
    #[allow(
        deprecated,
        reason = "clients of the versions that have logging ask for it"
    )]
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_tool_list_changed()
            .enable_prompts()
            .enable_prompts_list_changed()
            .enable_resources()
            .enable_resources_subscribe()
            .enable_completions()
            .enable_logging()
            .build();
        let ourselves =
            Implementation::new("callgate", env!("CARGO_PKG_VERSION")).with_title("Callgate");
        ServerConfig::new(capabilities).with_server_info(ourselves)
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        if let Ok(who) = self.who("initialize", &context.extensions) {
            let telling = lists::tell(self.mcp().clone(), who, context.peer);
            let telling = tokio::spawn(telling).abort_handle();
            if let Some(before) = self.0.heard.lock().telling.replace(telling) {
                before.abort();
            }
        }
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        self.mcp().settled().await;
        let who = self.who("tools/list", &context.extensions)?;
        let caller = who.caller(JournalId::NONE).map_err(internal)?;
        let tools = tools::all(self.mcp().gate(), &caller);
        let (tools, next) = page::piece(tools, page::after(request)?, |tool| &tool.name);
        let mut listed = ListToolsResult::with_all_items(tools);
        listed.next_cursor = next;
        Ok(listed)
    }

    /// Only its parameters are looked at, before anybody is known.
    fn get_tool(&self, name: &str) -> Option<Tool> {
        let method = self.mcp().gate().find(name)?;
        Some(tools::tool(name.to_owned(), &*method))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        self.mcp().settled().await;
        let who = self.who("tools/call", &context.extensions)?;
        let arguments = request.arguments.unwrap_or_default();
        let (name, told) = (request.name, self.told(&context));
        let made = call::call(self.mcp(), &who, &name, arguments, told, &context).await?;
        let result = match made {
            // The client has withdrawn it and hears nothing of this.
            None => return Err(ErrorData::invalid_request("the call was cancelled", None)),
            Some(Ok(outcome)) => {
                let session = who.session().map_err(internal)?;
                let session = self.mcp().store().sessions().get(&session).await;
                let session = session.map_err(internal)?;
                let home = session.and_then(|session| Home::new(self.mcp(), &session).ok());
                content::result(&outcome, home.as_ref())
            }
            Some(Err(
                error @ (CallError::Unknown { .. }
                | CallError::NotExposed { .. }
                | CallError::NotGranted { .. }),
            )) => {
                let why = format!("no tool '{name}' is for this key: {error}");
                return Err(ErrorData::invalid_params(why, None));
            }
            Some(Err(error)) => {
                CallToolResult::error(vec![ContentBlock::text(call::in_words(&error))])
            }
        };
        Ok(result.into())
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let who = self.who("resources/list", &context.extensions)?;
        files::list(self.mcp(), &who, page::after(request)?).await
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        self.who("resources/templates/list", &context.extensions)?;
        Ok(files::templates())
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let who = self.who("resources/read", &context.extensions)?;
        let read = files::read(self.mcp(), &who, &request.uri).await?;
        Ok(read.into())
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let who = self.who("resources/subscribe", &context.extensions)?;
        let watched = &self.0.watched;
        watched.add(self.mcp(), &who, &request.uri).await?;
        let mut heard = self.0.heard.lock();
        if heard.following.is_none() {
            let following = watched::tell(watched.clone(), who, context.peer);
            heard.following = Some(tokio::spawn(following).abort_handle());
        }
        Ok(())
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.who("resources/unsubscribe", &context.extensions)?;
        self.0.watched.remove(&request.uri);
        Ok(())
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let who = self.who("prompts/list", &context.extensions)?;
        let prompts = prompts::all(self.mcp(), &who).await?;
        let (prompts, next) = page::piece(prompts, page::after(request)?, |it| &it.name);
        let mut listed = ListPromptsResult::with_all_items(prompts);
        listed.next_cursor = next;
        Ok(listed)
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let who = self.who("prompts/get", &context.extensions)?;
        let arguments = request.arguments.unwrap_or_default();
        let prompt = prompts::get(self.mcp(), &who, &request.name, arguments).await?;
        Ok(prompt.into())
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let who = self.who("completion/complete", &context.extensions)?;
        completion::complete(self.mcp(), &who, request).await
    }

    #[allow(
        deprecated,
        reason = "clients of the versions that have logging ask for it"
    )]
    async fn set_level(
        &self,
        request: rmcp::model::SetLevelRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.who("logging/setLevel", &context.extensions)?;
        self.0.heard.lock().level = Some(request.level);
        Ok(())
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let who = self.who(
            "subscriptions/listen",
            &context.request_context().extensions,
        )?;
        lists::tell_subscriber(self.mcp(), &who, context).await;
        Ok(())
    }
}
