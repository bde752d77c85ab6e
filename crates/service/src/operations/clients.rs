//! Remote clients: who asks to be let in, who is connected, what they offer, and their rooms.

use std::collections::BTreeMap;

use callgate_contract::Origin;
use callgate_store::{Client, ClientState, Room, RoomMode, RoomRole};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{List, Page};
use crate::{Capability, Listing, News, Operation, Requester, Service, ServiceError, remote::Peer};

/// Those that asked, and those that are connected now.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct ListClients {
    #[serde(flatten)]
    pub page: Page,
}

impl Operation for ListClients {
    type Response = List<ClientView>;
    const NAME: &'static str = "clients.list";
    const CAPABILITY: Capability = Capability::Read;

    async fn execute(
        self,
        service: &Service,
        _: &Requester,
    ) -> Result<Self::Response, ServiceError> {
        self.page
            .of(clients(service).await?, |view| view.id.clone())
    }
}

/// Lets a client in that asked, or keeps it out; one that is connected feels it at once.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DecideClient {
    pub id: String,
    pub state: ClientDecision,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ClientDecision {
    Approved,
    Revoked,
}

impl Operation for DecideClient {
    type Response = ClientView;
    const NAME: &'static str = "clients.decide";
    const CAPABILITY: Capability = Capability::Operator;

    async fn execute(
        self,
        service: &Service,
        _: &Requester,
    ) -> Result<Self::Response, ServiceError> {
        let state = match self.state {
            ClientDecision::Approved => ClientState::Approved,
            ClientDecision::Revoked => ClientState::Revoked,
        };
        service.remote().clients().decide(&self.id, state).await?;
        service.live().announce(&News::Clients {});
        let mut views = clients(service).await?.into_iter();
        let found = views.find(|view| view.id == self.id);
        found.ok_or_else(|| {
            ServiceError::not_found(format!("no client '{}'", self.id), Listing::Clients)
        })
    }
}

/// Rooms and their members.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct ListRooms {
    #[serde(flatten)]
    pub page: Page,
}

impl Operation for ListRooms {
    type Response = List<RoomView>;
    const NAME: &'static str = "rooms.list";
    const CAPABILITY: Capability = Capability::Read;

    async fn execute(
        self,
        service: &Service,
        _: &Requester,
    ) -> Result<Self::Response, ServiceError> {
        let is_connected = |client: &str| service.remote().roster().is_here(client);
        let view = |room: Room| {
            let members = room.members.into_iter().map(|member| RoomMemberView {
                connected: is_connected(&member.identity),
                client: member.identity,
                role: member.role,
                muted_until: member.muted_until,
            });
            RoomView {
                name: room.name,
                mode: room.mode,
                members: members.collect(),
            }
        };
        let views = rooms(service).await?.into_iter().map(view).collect();
        self.page.of(views, |room| room.name.clone())
    }
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ClientView {
    pub id: String,
    /// What it says it is.
    pub kind: String,
    pub description: String,
    /// The page it came from; none for a program.
    pub origin: Option<String>,
    pub state: ClientStanding,
    pub connected: bool,
    pub namespaces: Vec<String>,
    /// Names of its functions, methods while it is connected.
    pub offers: Vec<String>,
    pub rooms: Vec<RoomMembership>,
    #[schemars(with = "Option<String>")]
    pub asked_at: Option<Timestamp>,
    #[schemars(with = "Option<String>")]
    pub decided_at: Option<Timestamp>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ClientStanding {
    Pending,
    Approved,
    Revoked,
    /// It holds a key.
    Key,
    /// Nobody asked, and it holds no key.
    Guest,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RoomMembership {
    pub name: String,
    /// `master`, `manager` or `guest`.
    #[schemars(with = "String")]
    pub role: RoomRole,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RoomView {
    pub name: String,
    /// `Immediate`, `HostSubmit`, `MasterOnly` or `Conversational`.
    #[schemars(with = "String")]
    pub mode: RoomMode,
    pub members: Vec<RoomMemberView>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RoomMemberView {
    pub client: String,
    /// `master`, `manager` or `guest`.
    #[schemars(with = "String")]
    pub role: RoomRole,
    pub connected: bool,
    #[schemars(with = "Option<String>")]
    pub muted_until: Option<Timestamp>,
}

/// By their ids.
async fn clients(service: &Service) -> Result<Vec<ClientView>, ServiceError> {
    let rooms = rooms(service).await?;
    let known = service.store().clients().list().await?.into_iter();
    let mut views: BTreeMap<String, ClientView> = known
        .map(|client| (client.id.clone(), client.into()))
        .collect();
    let roster = service.remote().roster();
    for peer in roster.clients() {
        let id = peer.client().to_owned();
        let view = views.entry(id.clone()).or_insert_with(|| (&peer).into());
        view.connected = true;
        let sockets = roster.sockets(&id);
        let namespaces = sockets.iter().map(|socket| socket.namespace().to_owned());
        view.namespaces = namespaces.collect();
        view.namespaces.sort();
        view.namespaces.dedup();
        view.offers = service.gate().names_of(&Origin::Client(id));
    }
    for view in views.values_mut() {
        let membership = |room: &Room| {
            let role = room.role_of(&view.id)?;
            let name = room.name.clone();
            Some(RoomMembership { name, role })
        };
        view.rooms = rooms.iter().filter_map(membership).collect();
    }
    Ok(views.into_values().collect())
}

async fn rooms(service: &Service) -> Result<Vec<Room>, ServiceError> {
    let stored = service.store().rooms();
    let mut rooms = Vec::new();
    for name in stored.list().await? {
        // One may go meanwhile.
        rooms.extend(stored.get(&name).await?);
    }
    Ok(rooms)
}

/// As it asked; what it does now is not known yet.
impl From<Client> for ClientView {
    fn from(client: Client) -> Self {
        ClientView {
            id: client.id,
            kind: client.kind,
            description: client.description,
            origin: client.origin,
            state: match client.state {
                ClientState::Pending => ClientStanding::Pending,
                ClientState::Approved => ClientStanding::Approved,
                ClientState::Revoked => ClientStanding::Revoked,
            },
            connected: false,
            namespaces: Vec::new(),
            offers: Vec::new(),
            rooms: Vec::new(),
            asked_at: Some(client.asked_at),
            decided_at: client.decided_at,
        }
    }
}

/// One that never had to ask.
impl From<&Peer> for ClientView {
    fn from(peer: &Peer) -> Self {
        ClientView {
            id: peer.client().to_owned(),
            kind: peer.kind().to_owned(),
            description: peer.description().to_owned(),
            origin: peer.origin().map(str::to_owned),
            state: if peer.standing().key.is_some() {
                ClientStanding::Key
            } else {
                ClientStanding::Guest
            },
            connected: true,
            namespaces: Vec::new(),
            offers: Vec::new(),
            rooms: Vec::new(),
            asked_at: None,
            decided_at: None,
        }
    }
}
