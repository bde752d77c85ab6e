//! Rooms of remote clients, their members and modes. A room has at most one master. Who may change
//! what is decided by the server; only what would grow without bound is refused here.

mod messages;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

pub use messages::{NewRoomMessage, RoomMessage};

use crate::{
    StoreError,
    database::Database,
    row::{self, get},
    tx::{Row, Tx, parameters},
};

pub const MAX_ROOMS: usize = 1_000;
pub const MAX_ROOM_MEMBERS: usize = 1_000;
/// Characters.
pub const MAX_ROOM_NAME: usize = 128;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RoomRole {
    Guest,
    Manager,
    Master,
}

/// Compat(newage): spelled as clients spell it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum RoomMode {
    /// Every request goes out at once.
    #[default]
    Immediate,
    /// Requests of guests wait for the next one of a master or manager and go out with it.
    HostSubmit,
    /// Only requests of a master or manager go out.
    MasterOnly,
    /// What names no target is only heard.
    Conversational,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Room {
    pub name: String,
    pub mode: RoomMode,
    /// In order of joining.
    pub members: Vec<RoomMember>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RoomMember {
    pub identity: String,
    pub role: RoomRole,
    pub muted_until: Option<Timestamp>,
}

impl Room {
    pub fn member(&self, identity: &str) -> Option<&RoomMember> {
        let mut members = self.members.iter();
        members.find(|member| member.identity == identity)
    }

    pub fn role_of(&self, identity: &str) -> Option<RoomRole> {
        self.member(identity).map(|member| member.role)
    }
}

pub struct Rooms<'a>(pub(crate) &'a Database);

impl Rooms<'_> {
    /// Makes the room with its master; false if there is one of this name.
    pub async fn create(&self, name: &str, master: &str) -> Result<bool, StoreError> {
        for given in [name, master] {
            let length = given.chars().count();
            let printable = !given.chars().any(char::is_control);
            if !printable || given.trim().is_empty() || length > MAX_ROOM_NAME {
                return Err(StoreError::RoomName);
            }
        }
        let (name, master) = (name.to_owned(), master.to_owned());
        self.0
            .write(move |tx| {
                let mode = row::word(RoomMode::default())?;
                let create = "INSERT INTO room (name, mode, created_at) VALUES (?1, ?2, ?3)
                              ON CONFLICT (name) DO NOTHING";
                if !tx.writes_one(create, parameters![name, mode, row::now()])? {
                    return Ok(false);
                }
                let count = tx.query_one("SELECT COUNT(*) FROM room", &[])?.at(0)?;
                if row::read_count("rooms", count)? > MAX_ROOMS as u64 {
                    return Err(StoreError::TooMany {
                        what: "rooms",
                        limit: MAX_ROOMS,
                    });
                }
                insert_member(tx, &name, &master, RoomRole::Master)
            })
            .await
    }

    /// With all that was said in it; who was in it, or `None` if there is no such room.
    pub async fn delete(&self, name: &str) -> Result<Option<Vec<RoomMember>>, StoreError> {
        let name = name.to_owned();
        self.0
            .write(move |tx| {
                if !tx.writes_one("DELETE FROM room WHERE name = ?1", parameters![name])? {
                    return Ok(None);
                }
                let members = members_of(tx, &name)?;
                for delete in [
                    "DELETE FROM room_member WHERE room = ?1",
                    "DELETE FROM room_message WHERE room = ?1",
                ] {
                    tx.execute(delete, parameters![name])?;
                }
                Ok(Some(members))
            })
            .await
    }

    /// By name.
    pub async fn list(&self) -> Result<Vec<String>, StoreError> {
        self.0
            .read(|tx| tx.scalars("SELECT name FROM room ORDER BY name", &[]))
            .await
    }

    pub async fn get(&self, name: &str) -> Result<Option<Room>, StoreError> {
        let name = name.to_owned();
        self.0
            .read(move |tx| {
                let mode = "SELECT mode FROM room WHERE name = ?1";
                let Some(mode) = tx.scalar(mode, parameters![name])? else {
                    return Ok(None);
                };
                Ok(Some(Room {
                    mode: row::read_word("room mode", mode)?,
                    members: members_of(tx, &name)?,
                    name,
                }))
            })
            .await
    }

    /// The rooms that `identity` is in, by name.
    pub async fn of(&self, identity: &str) -> Result<Vec<String>, StoreError> {
        let identity = identity.to_owned();
        self.0
            .read(move |tx| {
                let rooms = "SELECT room FROM room_member WHERE identity = ?1 ORDER BY room";
                tx.scalars(rooms, parameters![identity])
            })
            .await
    }

    /// False if there is no such room, or `identity` is in it.
    pub async fn join(
        &self,
        name: &str,
        identity: &str,
        role: RoomRole,
    ) -> Result<bool, StoreError> {
        let (name, identity) = (name.to_owned(), identity.to_owned());
        self.0
            .write(move |tx| {
                let count = "SELECT (SELECT COUNT(*) FROM room_member WHERE room = name)
                             FROM room WHERE name = ?1";
                let Some(count) = tx.scalar(count, parameters![name])? else {
                    return Ok(false);
                };
                if row::read_count("members", count)? >= MAX_ROOM_MEMBERS as u64 {
                    return Err(StoreError::TooMany {
                        what: "members of a room",
                        limit: MAX_ROOM_MEMBERS,
                    });
                }
                let joined = insert_member(tx, &name, &identity, RoomRole::Guest)?;
                if joined && role != RoomRole::Guest {
                    set_role(tx, &name, &identity, role)?;
                }
                Ok(joined)
            })
            .await
    }

    /// False if `identity` is not in the room.
    pub async fn leave(&self, name: &str, identity: &str) -> Result<bool, StoreError> {
        let (name, identity) = (name.to_owned(), identity.to_owned());
        self.0
            .write(move |tx| {
                let leave = "DELETE FROM room_member WHERE room = ?1 AND identity = ?2";
                Ok(tx.writes_one(leave, parameters![name, identity])?)
            })
            .await
    }

    /// A new master makes the old one a manager. False if `identity` is not in the room.
    pub async fn set_role(
        &self,
        name: &str,
        identity: &str,
        role: RoomRole,
    ) -> Result<bool, StoreError> {
        let (name, identity) = (name.to_owned(), identity.to_owned());
        self.0
            .write(move |tx| set_role(tx, &name, &identity, role))
            .await
    }

    /// False if there is no such room.
    pub async fn set_mode(&self, name: &str, mode: RoomMode) -> Result<bool, StoreError> {
        let (name, mode) = (name.to_owned(), row::word(mode)?);
        self.0
            .write(move |tx| {
                let set = "UPDATE room SET mode = ?2 WHERE name = ?1";
                Ok(tx.writes_one(set, parameters![name, mode])?)
            })
            .await
    }

    /// `None` lets it speak again. False if `identity` is not in the room.
    pub async fn mute(
        &self,
        name: &str,
        identity: &str,
        until: Option<Timestamp>,
    ) -> Result<bool, StoreError> {
        let (name, identity) = (name.to_owned(), identity.to_owned());
        // Who is muted for good is so until the end of time, whose last milliseconds do not read back.
        let last = Timestamp::MAX.as_second() * 1_000;
        let until = until.map(|until| until.as_millisecond().min(last));
        self.0
            .write(move |tx| {
                let mute = "UPDATE room_member SET muted_until = ?3
                            WHERE room = ?1 AND identity = ?2";
                Ok(tx.writes_one(mute, parameters![name, identity, until])?)
            })
            .await
    }
}

fn insert_member(
    tx: &mut dyn Tx,
    room: &str,
    identity: &str,
    role: RoomRole,
) -> Result<bool, StoreError> {
    // Members are listed as they joined, also where two did within one millisecond.
    let last = "SELECT joined_at FROM room_member WHERE room = ?1 ORDER BY joined_at DESC LIMIT 1";
    let last = tx.query_optional(last, parameters![room])?;
    let last: Option<i64> = last.map(|row| row::get(&row, "joined_at")).transpose()?;
    let joined_at = last.map_or(row::now(), |last| row::now().max(last + 1));
    let insert = "INSERT INTO room_member (room, identity, role, joined_at)
                  VALUES (?1, ?2, ?3, ?4) ON CONFLICT (room, identity) DO NOTHING";
    Ok(tx.writes_one(
        insert,
        parameters![room, identity, row::word(role)?, joined_at],
    )?)
}

fn set_role(
    tx: &mut dyn Tx,
    room: &str,
    identity: &str,
    role: RoomRole,
) -> Result<bool, StoreError> {
    let set = "UPDATE room_member SET role = ?3 WHERE room = ?1 AND identity = ?2";
    let is_set = tx.writes_one(set, parameters![room, identity, row::word(role)?])?;
    if is_set && role == RoomRole::Master {
        tx.execute(
            "UPDATE room_member SET role = ?3 WHERE room = ?1 AND identity <> ?2 AND role = ?4",
            parameters![
                room,
                identity,
                row::word(RoomRole::Manager)?,
                row::word(RoomRole::Master)?,
            ],
        )?;
    }
    Ok(is_set)
}

fn members_of(tx: &mut dyn Tx, room: &str) -> Result<Vec<RoomMember>, StoreError> {
    let select = "SELECT * FROM room_member WHERE room = ?1 ORDER BY joined_at, identity";
    let rows = tx.query(select, parameters![room])?;
    rows.iter().map(read_member).collect()
}

fn read_member(row: &Row) -> Result<RoomMember, StoreError> {
    let muted_until: Option<i64> = get(row, "muted_until")?;
    Ok(RoomMember {
        identity: get(row, "identity")?,
        role: row::read_word("room role", get(row, "role")?)?,
        muted_until: muted_until.map(row::read_time).transpose()?,
    })
}
