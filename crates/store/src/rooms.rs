//! Rooms of remote clients, their members and modes. A room has at most one master. Who may change
//! what is decided by the server; only what would grow without bound is refused here.

mod messages;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sqlx::any::AnyRow;

pub use messages::{NewRoomMessage, RoomMessage};

use crate::{
    StoreError,
    connection::Connection,
    database::{Database, Writer},
    row::{self, get},
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
        let mut writer = self.begin().await?;
        let count: i64 = sqlx::query_scalar("SELECT COUNT(*) FROM room")
            .fetch_one(writer.connection())
            .await?;
        let created = sqlx::query(
            "INSERT INTO room (name, mode, created_at) VALUES ($1, $2, $3)
             ON CONFLICT (name) DO NOTHING",
        )
        .bind(name.to_owned())
        .bind(row::word(RoomMode::default())?)
        .bind(row::now())
        .execute(writer.connection())
        .await?;
        if created.rows_affected() == 0 {
            writer.rollback().await?;
            return Ok(false);
        }
        if row::read_count("rooms", count)? >= MAX_ROOMS as u64 {
            writer.rollback().await?;
            return Err(StoreError::TooMany {
                what: "rooms",
                limit: MAX_ROOMS,
            });
        }
        insert_member(writer.connection(), name, master, RoomRole::Master).await?;
        writer.commit().await?;
        Ok(true)
    }

    /// With all that was said in it; who was in it, or `None` if there is no such room.
    pub async fn delete(&self, name: &str) -> Result<Option<Vec<RoomMember>>, StoreError> {
        let mut writer = self.begin().await?;
        let deleted = sqlx::query("DELETE FROM room WHERE name = $1")
            .bind(name.to_owned())
            .execute(writer.connection())
            .await?;
        if deleted.rows_affected() == 0 {
            writer.rollback().await?;
            return Ok(None);
        }
        let members = members_of(writer.connection(), name).await?;
        for statement in [
            "DELETE FROM room_member WHERE room = $1",
            "DELETE FROM room_message WHERE room = $1",
        ] {
            let delete = sqlx::query(statement).bind(name.to_owned());
            delete.execute(writer.connection()).await?;
        }
        writer.commit().await?;
        Ok(Some(members))
    }

    /// By name.
    pub async fn list(&self) -> Result<Vec<String>, StoreError> {
        let names = sqlx::query_scalar("SELECT name FROM room ORDER BY name");
        Ok(names.fetch_all(&self.0.readers).await?)
    }

    pub async fn get(&self, name: &str) -> Result<Option<Room>, StoreError> {
        let mode: Option<String> = sqlx::query_scalar("SELECT mode FROM room WHERE name = $1")
            .bind(name.to_owned())
            .fetch_optional(&self.0.readers)
            .await?;
        let Some(mode) = mode else {
            return Ok(None);
        };
        let members = select_members(name).fetch_all(&self.0.readers).await?;
        Ok(Some(Room {
            name: name.to_owned(),
            mode: row::read_word("room mode", mode)?,
            members: members.iter().map(read_member).collect::<Result<_, _>>()?,
        }))
    }

    /// The rooms that `identity` is in, by name.
    pub async fn of(&self, identity: &str) -> Result<Vec<String>, StoreError> {
        let rooms =
            sqlx::query_scalar("SELECT room FROM room_member WHERE identity = $1 ORDER BY room");
        Ok(rooms
            .bind(identity.to_owned())
            .fetch_all(&self.0.readers)
            .await?)
    }

    /// False if there is no such room, or `identity` is in it.
    pub async fn join(
        &self,
        name: &str,
        identity: &str,
        role: RoomRole,
    ) -> Result<bool, StoreError> {
        let mut writer = self.begin().await?;
        let count: Option<i64> = sqlx::query_scalar(
            "SELECT (SELECT COUNT(*) FROM room_member WHERE room = name) FROM room WHERE name = $1",
        )
        .bind(name.to_owned())
        .fetch_optional(writer.connection())
        .await?;
        let Some(count) = count else {
            writer.rollback().await?;
            return Ok(false);
        };
        if row::read_count("members", count)? >= MAX_ROOM_MEMBERS as u64 {
            writer.rollback().await?;
            return Err(StoreError::TooMany {
                what: "members of a room",
                limit: MAX_ROOM_MEMBERS,
            });
        }
        let joined = insert_member(writer.connection(), name, identity, RoomRole::Guest).await?;
        if joined && role != RoomRole::Guest {
            set_role(writer.connection(), name, identity, role).await?;
        }
        writer.commit().await?;
        Ok(joined)
    }

    /// False if `identity` is not in the room.
    pub async fn leave(&self, name: &str, identity: &str) -> Result<bool, StoreError> {
        let delete = sqlx::query("DELETE FROM room_member WHERE room = $1 AND identity = $2");
        self.change(delete.bind(name.to_owned()).bind(identity.to_owned()))
            .await
    }

    /// A new master makes the old one a manager. False if `identity` is not in the room.
    pub async fn set_role(
        &self,
        name: &str,
        identity: &str,
        role: RoomRole,
    ) -> Result<bool, StoreError> {
        let mut writer = self.begin().await?;
        let set = set_role(writer.connection(), name, identity, role).await?;
        writer.commit().await?;
        Ok(set)
    }

    /// False if there is no such room.
    pub async fn set_mode(&self, name: &str, mode: RoomMode) -> Result<bool, StoreError> {
        let update = sqlx::query("UPDATE room SET mode = $2 WHERE name = $1");
        self.change(update.bind(name.to_owned()).bind(row::word(mode)?))
            .await
    }

    /// `None` lets it speak again. False if `identity` is not in the room.
    pub async fn mute(
        &self,
        name: &str,
        identity: &str,
        until: Option<Timestamp>,
    ) -> Result<bool, StoreError> {
        let update = sqlx::query(
            "UPDATE room_member SET muted_until = $3 WHERE room = $1 AND identity = $2",
        );
        let until = until.map(Timestamp::as_millisecond);
        self.change(
            update
                .bind(name.to_owned())
                .bind(identity.to_owned())
                .bind(until),
        )
        .await
    }

    async fn begin(&self) -> Result<Writer<'_>, StoreError> {
        let mut writer = self.0.writer().await?;
        writer.begin().await?;
        Ok(writer)
    }

    /// One statement; did it find its row?
    async fn change(
        &self,
        statement: sqlx::query::Query<'_, sqlx::Any, sqlx::any::AnyArguments>,
    ) -> Result<bool, StoreError> {
        let mut writer = self.0.writer().await?;
        let changed = statement.execute(writer.connection()).await?;
        writer.release();
        Ok(changed.rows_affected() > 0)
    }
}

async fn insert_member(
    connection: &mut Connection,
    room: &str,
    identity: &str,
    role: RoomRole,
) -> Result<bool, StoreError> {
    let inserted = sqlx::query(
        "INSERT INTO room_member (room, identity, role, joined_at) VALUES ($1, $2, $3, $4)
         ON CONFLICT (room, identity) DO NOTHING",
    )
    .bind(room.to_owned())
    .bind(identity.to_owned())
    .bind(row::word(role)?)
    .bind(row::now())
    .execute(connection)
    .await?;
    Ok(inserted.rows_affected() > 0)
}

async fn set_role(
    connection: &mut Connection,
    room: &str,
    identity: &str,
    role: RoomRole,
) -> Result<bool, StoreError> {
    let updated = sqlx::query("UPDATE room_member SET role = $3 WHERE room = $1 AND identity = $2")
        .bind(room.to_owned())
        .bind(identity.to_owned())
        .bind(row::word(role)?)
        .execute(&mut *connection)
        .await?;
    if updated.rows_affected() > 0 && role == RoomRole::Master {
        sqlx::query(
            "UPDATE room_member SET role = $3 WHERE room = $1 AND identity <> $2 AND role = $4",
        )
        .bind(room.to_owned())
        .bind(identity.to_owned())
        .bind(row::word(RoomRole::Manager)?)
        .bind(row::word(RoomRole::Master)?)
        .execute(connection)
        .await?;
    }
    Ok(updated.rows_affected() > 0)
}

fn select_members(room: &str) -> sqlx::query::Query<'static, sqlx::Any, sqlx::any::AnyArguments> {
    sqlx::query("SELECT * FROM room_member WHERE room = $1 ORDER BY joined_at, identity")
        .bind(room.to_owned())
}

async fn members_of(
    connection: &mut Connection,
    room: &str,
) -> Result<Vec<RoomMember>, StoreError> {
    let rows = select_members(room).fetch_all(connection).await?;
    rows.iter().map(read_member).collect()
}

fn read_member(row: &AnyRow) -> Result<RoomMember, StoreError> {
    let muted_until: Option<i64> = get(row, "muted_until")?;
    Ok(RoomMember {
        identity: get(row, "identity")?,
        role: row::read_word("room role", get(row, "role")?)?,
        muted_until: muted_until.map(row::read_time).transpose()?,
    })
}
