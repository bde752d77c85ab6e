//! Remote clients: who asks to be let in, who is connected, what they offer, and their rooms.

use std::collections::BTreeMap;

use axum::{Json as Body, extract::State};
use callgate_contract::Origin;
use callgate_store::{Client, ClientState, Room, RoomMode, RoomRole};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Api, Outcome,
    input::{Given, Params, Path},
    list::{List, Piece},
    problem::Problem,
    route::{Routes, Verb},
};
use callgate_service::{News, remote::Peer};

pub(super) fn routes(routes: &mut Routes) {
    routes
        .add(
            Verb::Get,
            "/api/clients",
            "Remote clients: asking, known, connected",
            list,
        )
        .query::<Piece>()
        .gives::<List<ClientView>>();
    routes
        .add(
            Verb::Post,
            "/api/clients/{id}",
            "Let it in, or keep it out",
            decide,
        )
        .takes::<Word>()
        .gives::<ClientView>();
    routes
        .add(Verb::Get, "/api/rooms", "Rooms and their members", rooms)
        .query::<Piece>()
        .gives::<List<RoomView>>();
}

#[derive(Debug, Serialize, JsonSchema)]
struct ClientView {
    id: String,
    /// What it says it is.
    kind: String,
    description: String,
    /// The page it came from; none for a program.
    origin: Option<String>,
    state: Standing,
    connected: bool,
    namespaces: Vec<String>,
    /// Names of its functions, methods while it is connected.
    offers: Vec<String>,
    rooms: Vec<InRoom>,
    #[schemars(with = "Option<String>")]
    asked_at: Option<Timestamp>,
    #[schemars(with = "Option<String>")]
    decided_at: Option<Timestamp>,
}

#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Standing {
    Pending,
    Approved,
    Revoked,
    /// It holds a key.
    Key,
    /// Nobody asked, and it holds no key.
    Guest,
}

impl From<ClientState> for Standing {
    fn from(state: ClientState) -> Self {
        match state {
            ClientState::Pending => Standing::Pending,
            ClientState::Approved => Standing::Approved,
            ClientState::Revoked => Standing::Revoked,
        }
    }
}

#[derive(Debug, Serialize, JsonSchema)]
struct InRoom {
    name: String,
    /// `master`, `manager` or `guest`.
    #[schemars(with = "String")]
    role: RoomRole,
}

async fn all(api: &Api) -> Result<Vec<ClientView>, Problem> {
    let rooms = whole_rooms(api).await?;
    let known = api.store().clients().list().await?;
    let mut views: BTreeMap<String, ClientView> = BTreeMap::new();
    for client in known {
        views.insert(client.id.clone(), asked(client));
    }
    for peer in api.remote().roster().clients() {
        let view = views
            .entry(peer.client().to_owned())
            .or_insert_with(|| came(&peer));
        view.connected = true;
        let sockets = api.remote().roster().sockets(peer.client());
        let spaces = sockets.iter().map(|socket| socket.namespace().to_owned());
        view.namespaces = spaces.collect();
        view.namespaces.sort();
        view.namespaces.dedup();
        let origin = Origin::Client(peer.client().to_owned());
        view.offers = api.gate().names_of(&origin);
    }
    for view in views.values_mut() {
        let own = |room: &Room| {
            let role = room.role_of(&view.id)?;
            let name = room.name.clone();
            Some(InRoom { name, role })
        };
        view.rooms = rooms.iter().filter_map(own).collect();
    }
    Ok(views.into_values().collect())
}

async fn whole_rooms(api: &Api) -> Result<Vec<Room>, Problem> {
    let rooms = api.store().rooms();
    let mut whole = Vec::new();
    for name in rooms.list().await? {
        // One may go meanwhile.
        whole.extend(rooms.get(&name).await?);
    }
    Ok(whole)
}

fn asked(client: Client) -> ClientView {
    ClientView {
        id: client.id,
        kind: client.kind,
        description: client.description,
        origin: client.origin,
        state: client.state.into(),
        connected: false,
        namespaces: Vec::new(),
        offers: Vec::new(),
        rooms: Vec::new(),
        asked_at: Some(client.asked_at),
        decided_at: client.decided_at,
    }
}

fn came(peer: &Peer) -> ClientView {
    ClientView {
        id: peer.client().to_owned(),
        kind: peer.kind().to_owned(),
        description: peer.description().to_owned(),
        origin: peer.origin().map(str::to_owned),
        state: if peer.standing().key.is_some() {
            Standing::Key
        } else {
            Standing::Guest
        },
        connected: true,
        namespaces: Vec::new(),
        offers: Vec::new(),
        rooms: Vec::new(),
        asked_at: None,
        decided_at: None,
    }
}

async fn list(State(api): State<Api>, Params(piece): Params<Piece>) -> Outcome<List<ClientView>> {
    Ok(Body(piece.of(all(&api).await?, |view| view.id.clone())?))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Word {
    state: Verdict,
}

#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Verdict {
    Approved,
    Revoked,
}

async fn decide(
    State(api): State<Api>,
    Path(id): Path<String>,
    Given(word): Given<Word>,
) -> Outcome<ClientView> {
    let missing = || {
        let hint = "GET /api/clients lists those that asked";
        Problem::missing(format!("no client '{id}' has asked to be let in")).hint(hint)
    };
    api.store().clients().find(&id).await?.ok_or_else(missing)?;
    let state = match word.state {
        Verdict::Approved => ClientState::Approved,
        Verdict::Revoked => ClientState::Revoked,
    };
    api.remote().clients().decide(&id, state).await?;
    api.live().announce(&News::Clients {});
    let found = all(&api).await?.into_iter().find(|view| view.id == id);
    found.map(Body).ok_or_else(missing)
}

#[derive(Debug, Serialize, JsonSchema)]
struct RoomView {
    name: String,
    /// `Immediate`, `HostSubmit`, `MasterOnly` or `Conversational`.
    #[schemars(with = "String")]
    mode: RoomMode,
    members: Vec<MemberView>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct MemberView {
    client: String,
    /// `master`, `manager` or `guest`.
    #[schemars(with = "String")]
    role: RoomRole,
    connected: bool,
    #[schemars(with = "Option<String>")]
    muted_until: Option<Timestamp>,
}

async fn rooms(State(api): State<Api>, Params(piece): Params<Piece>) -> Outcome<List<RoomView>> {
    let rooms = whole_rooms(&api).await?;
    let is_here = |client: &str| api.remote().roster().is_here(client);
    let view = |room: Room| RoomView {
        name: room.name,
        mode: room.mode,
        members: room
            .members
            .into_iter()
            .map(|member| MemberView {
                connected: is_here(&member.identity),
                client: member.identity,
                role: member.role,
                muted_until: member.muted_until,
            })
            .collect(),
    };
    let views = rooms.into_iter().map(view).collect();
    Ok(Body(piece.of(views, |room: &RoomView| room.name.clone())?))
}
