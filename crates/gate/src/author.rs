//! [`method`]: a Rust function becomes a method. The argument struct is the one source of names,
//! types, defaults and descriptions: of the schema, the signature and the docstring alike.

use std::{sync::Arc, time::Duration};

use callgate_contract::{
    Binding, BoxFuture, CallContext, Caller, Choice, Effect, Exposure, Kind, Method, MethodError,
    MethodInfo, Onlooker, Origin, Peer, Reply, ResultTrust, Trust, Value,
};
use schemars::{JsonSchema, SchemaGenerator, generate::SchemaSettings};
use serde::de::DeserializeOwned;
use serde_json::Value as Json;

use crate::view::{Purpose, view};

/// How long a method may run unless it says otherwise.
const DEADLINE: Duration = Duration::from_secs(30);

/// The call a handler answers. Owned, so that a handler can be a plain `async fn`.
#[derive(Clone, Debug)]
pub struct Call {
    pub caller: Caller,
    /// With `caller.journal` the key that identifies this call, also when it is repeated.
    pub sequence: u64,
    /// The way back to the plugin that calls, where one does.
    pub peer: Option<Peer>,
    /// Who hears how far the call has come.
    pub progress: Onlooker,
}

type HandlerFn = dyn Fn(Call, Vec<(String, Value)>) -> BoxFuture<'static, Result<Reply, MethodError>>
    + Send
    + Sync;

/// A method written in Rust; see [`method`].
#[derive(Clone)]
pub struct Function {
    info: MethodInfo,
    result: Option<String>,
    example: Option<String>,
    needs_approval: bool,
    handler: Arc<HandlerFn>,
}

/// A method of origin `builtin` that AI callers and plugins see, taken to be effectful.
///
/// `handler` is an `async fn(Call, A) -> Result<R, MethodError>`, where `A` is a struct whose
/// fields are the parameters and `R` is anything that becomes a [`Reply`].
pub fn method<A, R, F, Running>(name: &str, kind: Kind, handler: F) -> Function
where
    A: DeserializeOwned + JsonSchema + Send,
    R: Into<Reply>,
    F: Fn(Call, A) -> Running + Send + Sync + 'static,
    Running: Future<Output = Result<R, MethodError>> + Send + 'static,
{
    let handler = move |call: Call, arguments: Vec<(String, Value)>| {
        let running = read::<A>(&arguments).map(|arguments| handler(call, arguments));
        let answer: BoxFuture<'static, _> = Box::pin(async move { running?.await.map(Into::into) });
        answer
    };
    Function {
        info: MethodInfo {
            name: name.to_owned(),
            aliases: Vec::new(),
            title: name.to_owned(),
            description: String::new(),
            doc: String::new(),
            parameters: parameters::<A>(),
            returns: "Any".to_owned(),
            kind,
            origin: Origin::Builtin,
            exposure: Exposure::AI,
            effect: Effect::Effectful,
            deadline: DEADLINE,
            binding: Binding::Strict,
            leaf: false,
            trust: Trust::neutral(),
        },
        result: None,
        example: None,
        needs_approval: false,
        handler: Arc::new(handler),
    }
    .written()
}

impl Function {
    /// What the method does, for the AI that decides whether to call it.
    pub fn doc(mut self, text: &str) -> Self {
        self.info.description = text.trim().to_owned();
        self.written()
    }

    /// The Python annotation of the result, and what it holds.
    pub fn returns(mut self, annotation: &str, text: &str) -> Self {
        self.info.returns = annotation.to_owned();
        self.result = Some(text.trim().to_owned());
        self.written()
    }

    /// A call as the AI would write it.
    pub fn example(mut self, code: &str) -> Self {
        self.example = Some(code.trim().to_owned());
        self.written()
    }

    pub fn title(mut self, title: &str) -> Self {
        self.info.title = title.to_owned();
        self
    }

    pub fn effect(mut self, effect: Effect) -> Self {
        self.info.effect = effect;
        self
    }

    pub fn exposure(mut self, exposure: Exposure) -> Self {
        self.info.exposure = exposure;
        self
    }

    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.info.deadline = deadline;
        self
    }

    /// See [`MethodInfo::leaf`].
    pub fn leaf(mut self) -> Self {
        self.info.leaf = true;
        self
    }

    /// This parameter chooses where something goes: after strangers' words it needs somebody's word.
    pub fn chooses(mut self, parameter: &str, choice: Choice) -> Self {
        let chooses = &mut self.info.trust.chooses;
        chooses.insert(parameter.to_owned(), choice);
        self
    }

    /// What it gives back, others may have written.
    pub fn untrusted(mut self) -> Self {
        self.info.trust.result = ResultTrust::Untrusted;
        self
    }

    /// See [`Method::needs_approval`].
    pub fn with_approval(mut self) -> Self {
        self.needs_approval = true;
        self
    }

    pub fn origin(mut self, origin: Origin) -> Self {
        self.info.origin = origin;
        self
    }

    fn written(mut self) -> Self {
        let mut sections = vec![self.info.description.clone()];
        sections.extend(section("Args", argument_lines(&self.info.parameters)));
        sections.extend(section("Returns", self.result.clone()));
        sections.extend(section("Example", self.example.clone()));
        self.info.doc = sections.join("\n\n").trim().to_owned();
        self
    }
}

impl Method for Function {
    fn info(&self) -> &MethodInfo {
        &self.info
    }

    fn needs_approval(&self) -> bool {
        self.needs_approval
    }

    fn call<'a>(
        &'a self,
        context: CallContext<'a>,
        arguments: Vec<(String, Value)>,
    ) -> BoxFuture<'a, Result<Reply, MethodError>> {
        let call = Call {
            caller: context.caller.clone(),
            sequence: context.sequence,
            peer: context.peer.cloned(),
            progress: context.progress.clone(),
        };
        (self.handler)(call, arguments)
    }
}

fn read<A: DeserializeOwned>(arguments: &[(String, Value)]) -> Result<A, MethodError> {
    let seen = view(arguments, Purpose::Read).map_err(MethodError::new)?;
    serde_json::from_value(seen).map_err(|error| MethodError::new(format!("arguments: {error}")))
}

fn parameters<A: JsonSchema>() -> Json {
    let generator = SchemaGenerator::new(SchemaSettings::draft2020_12());
    let mut schema = Json::from(generator.into_root_schema_for::<A>());
    if let Some(object) = schema.as_object_mut() {
        // These describe the Rust struct, not the method.
        for key in ["$schema", "title", "description"] {
            object.remove(key);
        }
    }
    schema
}

fn argument_lines(parameters: &Json) -> Option<String> {
    let properties = parameters.get("properties")?.as_object()?;
    let line = |(name, schema): (&String, &Json)| {
        let text = schema.get("description").and_then(Json::as_str)?;
        Some(format!("{name}: {}", text.replace('\n', " ")))
    };
    let lines: Vec<String> = properties.iter().filter_map(line).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

fn section(title: &str, body: Option<String>) -> Option<String> {
    let indented: Vec<String> = body?.lines().map(|line| format!("    {line}")).collect();
    Some(format!("{title}:\n{}", indented.join("\n")))
}
