//! Columns that we have no place for: kept beside the row, by table and id, and laid over it.

use callgate_contract::MethodError;
use callgate_store::{Preference, Store};
use serde_json::{Map, Value as Json};

use super::{super::failed, Row, id_of};

const NAME: &str = "columns";

pub(super) async fn lay_over(
    store: &Store,
    table: &str,
    rows: &mut [Row],
) -> Result<(), MethodError> {
    let scope = scope(table);
    let kept = store
        .preferences()
        .list(Some(&scope), None, None)
        .await
        .map_err(failed)?;
    for preference in kept {
        let row = rows
            .iter_mut()
            .find(|row| id_of(row).to_string() == preference.place);
        if let (Some(row), Json::Object(columns)) = (row, preference.value) {
            row.extend(columns);
        }
    }
    Ok(())
}

pub(super) async fn write(
    store: &Store,
    table: &str,
    row: &Row,
    values: &Map<String, Json>,
) -> Result<(), MethodError> {
    if let Some(unknown) = values.keys().find(|name| !row.contains_key(*name)) {
        return Err(failed(format!("'{table}' has no column '{unknown}'")));
    }
    let (scope, place) = (scope(table), id_of(row).to_string());
    let kept = store
        .preferences()
        .get(&scope, &place, NAME)
        .await
        .map_err(failed)?;
    let mut columns = match kept {
        Some(Json::Object(columns)) => columns,
        _ => Map::new(),
    };
    columns.extend(values.clone());
    let preference = Preference {
        scope,
        place,
        name: NAME.to_owned(),
        value: Json::Object(columns),
    };
    store.preferences().set(&preference).await.map_err(failed)
}

/// The rows of which columns are kept.
pub(super) async fn ids(store: &Store, table: &str) -> Result<Vec<i64>, MethodError> {
    let kept = store
        .preferences()
        .list(Some(&scope(table)), None, None)
        .await
        .map_err(failed)?;
    Ok(kept
        .into_iter()
        .filter_map(|preference| preference.place.parse().ok())
        .collect())
}

pub(super) async fn remove(store: &Store, table: &str, row: &Row) -> Result<(), MethodError> {
    let place = id_of(row).to_string();
    let removed = store
        .preferences()
        .delete(&scope(table), &place, NAME)
        .await;
    removed.map(drop).map_err(failed)
}

fn scope(table: &str) -> String {
    format!("nekro:{table}")
}
