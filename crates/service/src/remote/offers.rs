//! Functions that clients offer. Each becomes a method of origin `client:<id>` for as long as the
//! client is connected, for the sessions of the key that offers it; it never takes the name of anybody
//! else's.

use std::{sync::Arc, time::Duration};

use callgate_contract::{
    Binding, BoxFuture, CallContext, Caller, Effect, Exposure, Kind, Method, MethodError,
    MethodInfo, Origin, Principal, Reply, Trust, Value, json as value_json,
};
use callgate_gate::AdHoc;
use serde::Deserialize;
use serde_json::{Map, Value as Json, json};
use uuid::Uuid;

use super::{Answer, Call, Peer, Remote, forward::first_answer, progress::PendingCalls};

/// Functions of one socket.
const MAX_FUNCTIONS: usize = 256;
/// Bytes of one function's description and parameters.
const MAX_TEXT: usize = 16 << 10;
const MAX_DEADLINE: Duration = Duration::from_secs(600);

/// A function as a client describes it.
#[derive(Clone, Debug, Deserialize)]
struct Offer {
    name: String,
    #[serde(default)]
    description: String,
    /// JSON Schema of an object; property order is parameter order.
    #[serde(default, alias = "schema", alias = "inputSchema")]
    parameters: Option<Json>,
    #[serde(default)]
    kind: OfferKind,
    #[serde(default)]
    effect: Option<Effect>,
    /// How long the function may take.
    #[serde(default)]
    seconds: Option<f64>,
}

/// A client can give a value, or set off a new round; rows of a chat are not its to write.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum OfferKind {
    #[default]
    Tool,
    Agent,
}

/// Replaces what this socket offered before.
pub(super) async fn register(call: Call) -> Answer {
    let data = call.first();
    let list = data.get("functions").unwrap_or(data);
    let Json::Array(list) = list else {
        return Answer::Refused("functions is a list of functions.".to_owned());
    };
    if list.len() > MAX_FUNCTIONS {
        return Answer::Refused(format!("More than {MAX_FUNCTIONS} functions."));
    }
    let mut offers = Vec::new();
    for one in list {
        match read(&call.remote, &call.peer, one) {
            Ok(offer) => offers.push(offer),
            Err(reason) => return Answer::Refused(reason),
        }
    }
    let names: Vec<String> = offers.iter().map(|offer| offer.info.name.clone()).collect();
    replace(&call.remote, &call.peer, offers);
    Answer::Ack(json!({
        "requestId": data.get("requestId"),
        "success": true,
        "result": { "registered": names },
    }))
}

pub(super) async fn withdraw(remote: Remote, peer: Peer) {
    replace(&remote, &peer, Vec::new());
}

/// What every socket offers now.
#[derive(Default)]
pub(super) struct Offers {
    methods: parking_lot::Mutex<Vec<Arc<ClientMethod>>>,
    pub(super) asking: PendingCalls,
}

/// All of `new`, which [`read`] has found in order.
fn replace(remote: &Remote, peer: &Peer, new: Vec<Arc<ClientMethod>>) {
    let (gate, client) = (remote.gate(), peer.client());
    // Held throughout: two sockets of a client may offer at once.
    let mut offers = remote.offers().methods.lock();
    let of_client = |offer: &&Arc<ClientMethod>| offer.peer.client() == client;
    let before = offers.len();
    offers.retain(|offer| offer.peer != *peer);
    if before == offers.len() && new.is_empty() {
        return;
    }
    offers.extend(new);
    gate.unregister_origin(&Origin::Client(client.to_owned()));
    for offer in offers.iter().filter(of_client) {
        let method = offer.info.name.as_str();
        match gate.register(offer.clone()) {
            Ok(_) => tracing::info!(client, method, "client function registered"),
            Err(error) => tracing::error!(client, method, %error, "client function not registered"),
        }
    }
}

/// An offer that the gate will take: a list is refused as a whole, before it replaces anything.
fn read(remote: &Remote, peer: &Peer, one: &Json) -> Result<Arc<ClientMethod>, String> {
    if one.to_string().len() > MAX_TEXT {
        return Err(format!(
            "A function's description is longer than {MAX_TEXT} bytes."
        ));
    }
    let offer = Offer::deserialize(one).map_err(|error| format!("A function: {error}"))?;
    let mut parameters = offer
        .parameters
        .unwrap_or_else(|| json!({ "type": "object", "additionalProperties": true }));
    if let Json::Object(schema) = &mut parameters {
        schema.entry("type").or_insert_with(|| "object".into());
        schema
            .entry("properties")
            .or_insert_with(|| Map::new().into());
    }
    let asked = offer
        .seconds
        .filter(|seconds| seconds.is_finite() && *seconds > 0.0);
    let within = asked
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .map_or(remote.settings().call_within, |asked| {
            asked.min(MAX_DEADLINE)
        });
    let method = Arc::new(ClientMethod {
        info: MethodInfo {
            title: offer.name.clone(),
            aliases: Vec::new(),
            doc: offer.description.clone(),
            description: offer.description,
            parameters,
            returns: "Any".to_owned(),
            kind: match offer.kind {
                OfferKind::Tool => Kind::Tool,
                OfferKind::Agent => Kind::Agent,
            },
            origin: Origin::Client(peer.client().to_owned()),
            exposure: Exposure::EVERYONE,
            effect: offer.effect.unwrap_or(Effect::Effectful),
            // A moment more than the client has, whose own silence says more.
            deadline: within + Duration::from_secs(1),
            binding: Binding::Strict,
            leaf: false,
            trust: Trust::default(),
            name: offer.name,
        },
        owner: peer.principal(),
        peer: peer.clone(),
        within,
        asking: remote.offers().asking.clone(),
    });
    let checked = AdHoc::new(method.clone());
    checked.map_err(|error| error.to_string())?;
    Ok(method)
}

pub(super) struct ClientMethod {
    info: MethodInfo,
    /// For whom the client acts that offers it.
    owner: Principal,
    peer: Peer,
    within: Duration,
    asking: PendingCalls,
}

impl Method for ClientMethod {
    fn info(&self) -> &MethodInfo {
        &self.info
    }

    /// Nobody else reads the description either, which a model would take as said by us.
    fn serves(&self, caller: &Caller) -> bool {
        caller.principal == self.owner
    }

    fn call<'a>(
        &'a self,
        context: CallContext<'a>,
        arguments: Vec<(String, Value)>,
    ) -> BoxFuture<'a, Result<Reply, MethodError>> {
        Box::pin(async move {
            let named: Map<String, Json> = arguments
                .iter()
                .map(|(name, value)| (name.clone(), value_json::to_json(value)))
                .collect();
            let request = json!(Uuid::now_v7());
            let sockets = vec![self.peer.clone()];
            let _progress = self.asking.listen(&request, &sockets, context.progress);
            let data = json!({
                "requestId": request,
                "functionName": self.info.name,
                "args": self.positional(&named),
                "named": named,
                "target": self.peer.client(),
            });
            let answer = first_answer(sockets, &data, self.within).await;
            let answer = answer.map_err(|error| MethodError::new(error.to_string()))?;
            read_answer(answer)
        })
    }
}

impl ClientMethod {
    /// In parameter order. What was not given is null, and left out at the end.
    fn positional(&self, named: &Map<String, Json>) -> Vec<Json> {
        let properties = self.info.parameters["properties"].as_object();
        let names = properties.into_iter().flat_map(Map::keys);
        let mut given: Vec<Option<&Json>> = names.map(|name| named.get(name)).collect();
        while given.last().is_some_and(Option::is_none) {
            given.pop();
        }
        given
            .into_iter()
            .map(|value| value.cloned().unwrap_or_default())
            .collect()
    }
}

/// A client's answer is data like any other: strings stay strings.
fn read_answer(answer: Json) -> Result<Reply, MethodError> {
    if answer["success"] == false {
        let error = &answer["error"];
        let message = error["message"].as_str().or(error.as_str());
        return Err(MethodError::new(message.unwrap_or_default()));
    }
    let result = answer.get("result").cloned().unwrap_or_default();
    let value = value_json::from_json(result);
    let value = value.map_err(|error| MethodError::new(format!("the client returned {error}")))?;
    Ok(value.into())
}
