//! `user`: everybody who has spoken, and whom a plugin has entered. The id of a speaker is that of
//! their first message; the others count on from [`ENTERED`].

use callgate_contract::MethodError;
use callgate_store::Store;
use jiff::Timestamp;
use serde_json::{Map, Value as Json, json};

use super::{super::failed, Row, id_of, overlay, text_of};

/// Compat(nekro): the level of an ordinary user.
const ORDINARY: i64 = 1;

/// Above the ids of messages.
const ENTERED: i64 = 1 << 40;

pub(super) async fn rows(store: &Store) -> Result<Vec<Row>, MethodError> {
    let speakers = store.log().speakers().await.map_err(failed)?;
    let spoken = speakers.into_iter().map(|speaker| {
        let mut row = blank(speaker.id);
        row.insert("username".to_owned(), json!(speaker.name));
        row.insert("adapter_key".to_owned(), json!(speaker.platform));
        row.insert("platform_userid".to_owned(), json!(speaker.user));
        row
    });
    let mut rows: Vec<Row> = spoken.collect();
    overlay::lay_over(store, "user", &mut rows).await?;
    let kept = overlay::ids(store, "user").await?.into_iter();
    let mut entered: Vec<Row> = kept.filter(|id| *id >= ENTERED).map(blank).collect();
    overlay::lay_over(store, "user", &mut entered).await?;
    // Who was entered and has spoken since is the one that was entered.
    rows.retain(|row| !entered.iter().any(|known| same_person(known, row)));
    rows.extend(entered);
    Ok(rows)
}

fn same_person(one: &Row, other: &Row) -> bool {
    ["adapter_key", "platform_userid"]
        .iter()
        .all(|column| one.get(*column) == other.get(*column))
}

fn blank(id: i64) -> Row {
    let row = json!({
        "id": id,
        "username": "",
        "password": "",
        "adapter_key": "",
        "platform_userid": "",
        "perm_level": ORDINARY,
        "login_time": null,
        "ban_until": null,
        "prevent_trigger_until": null,
        "ext_data": {},
        "create_time": null,
        "update_time": null,
    });
    match row {
        Json::Object(row) => row,
        _ => Map::new(),
    }
}

pub(super) async fn create(store: &Store, values: &Map<String, Json>) -> Result<Row, MethodError> {
    let known = rows(store).await?;
    let id = known.iter().map(id_of).fold(ENTERED - 1, i64::max) + 1;
    let mut values = values.clone();
    // Nobody signs in with what a plugin writes here.
    values.remove("password");
    values.remove("id");
    let made = blank(id);
    overlay::write(store, "user", &made, &values).await?;
    let mut made = vec![made];
    overlay::lay_over(store, "user", &mut made).await?;
    Ok(made.remove(0))
}

pub(super) async fn delete(store: &Store, row: &Row) -> Result<(), MethodError> {
    overlay::remove(store, "user", row).await
}

/// Has a plugin asked that this person be not answered now?
pub(crate) async fn is_shunned(store: &Store, platform: &str, user: &str) -> bool {
    // Whoever is shunned has columns of their own; mostly there are none at all.
    if overlay::ids(store, "user")
        .await
        .is_ok_and(|kept| kept.is_empty())
    {
        return false;
    }
    let rows = rows(store).await.unwrap_or_default();
    let is_them = |row: &&Row| {
        text_of(row, "adapter_key") == Some(platform)
            && text_of(row, "platform_userid") == Some(user)
    };
    let ahead = |row: &Row, column: &str| {
        let moment = text_of(row, column).and_then(|text| text.parse::<Timestamp>().ok());
        moment.is_some_and(|moment| moment > Timestamp::now())
    };
    rows.iter()
        .find(is_them)
        .is_some_and(|row| ahead(row, "ban_until") || ahead(row, "prevent_trigger_until"))
}
