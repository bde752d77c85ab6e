//! [`Tx`]: a transaction as the store's closures see it, the same on both engines. One SQL text serves
//! both: parameters are `?1`, `?2` …, columns hold integers, text or bytes.

use std::sync::Arc;

use callgate_contract::{ConversationId, JournalId};
use uuid::Uuid;

use crate::{DatabaseError, StoreError};

/// Statements of one transaction, in order. Nothing here waits but for the database.
pub trait Tx {
    /// Returns how many rows were written.
    fn execute(&mut self, sql: &str, parameters: &[Parameter<'_>]) -> Result<u64, DatabaseError>;

    fn query(&mut self, sql: &str, parameters: &[Parameter<'_>])
    -> Result<Vec<Row>, DatabaseError>;

    /// Statements without parameters, such as those that make tables.
    fn batch(&mut self, sql: &str) -> Result<(), DatabaseError>;

    /// What follows in this transaction has no deadline. For what is done seldom and to much.
    fn take_time(&mut self) -> Result<(), DatabaseError>;
}

impl dyn Tx + '_ {
    pub fn query_optional(
        &mut self,
        sql: &str,
        parameters: &[Parameter<'_>],
    ) -> Result<Option<Row>, DatabaseError> {
        Ok(self.query(sql, parameters)?.into_iter().next())
    }

    pub fn query_one(
        &mut self,
        sql: &str,
        parameters: &[Parameter<'_>],
    ) -> Result<Row, DatabaseError> {
        self.query_optional(sql, parameters)?
            .ok_or(DatabaseError::NoRow)
    }

    /// The first column of the first row.
    pub fn scalar<T: FromCell>(
        &mut self,
        sql: &str,
        parameters: &[Parameter<'_>],
    ) -> Result<Option<T>, StoreError> {
        let row = self.query_optional(sql, parameters)?;
        row.map(|row| row.at(0)).transpose()
    }

    /// The first column of every row.
    pub fn scalars<T: FromCell>(
        &mut self,
        sql: &str,
        parameters: &[Parameter<'_>],
    ) -> Result<Vec<T>, StoreError> {
        let rows = self.query(sql, parameters)?;
        rows.into_iter().map(|row| row.at(0)).collect()
    }

    /// True if exactly one row was written.
    pub fn writes_one(
        &mut self,
        sql: &str,
        parameters: &[Parameter<'_>],
    ) -> Result<bool, DatabaseError> {
        Ok(self.execute(sql, parameters)? == 1)
    }
}

/// A value on its way in. Of `None` the type is kept, since PostgreSQL asks for it.
#[derive(Clone, Copy, Debug)]
pub enum Parameter<'a> {
    Integer(Option<i64>),
    Text(Option<&'a str>),
    Bytes(Option<&'a [u8]>),
}

/// `parameters![a, b]`: the values of a statement by reference.
macro_rules! parameters {
    ($($value:expr),* $(,)?) => {
        &[$($crate::tx::AsParameter::parameter(&$value)),*] as &[$crate::tx::Parameter<'_>]
    };
}
pub(crate) use parameters;

pub(crate) trait AsParameter {
    fn parameter(&self) -> Parameter<'_>;
}

macro_rules! as_parameter {
    ($($type:ty => $value:ident $variant:ident $some:expr),* $(,)?) => {
        $(
            impl AsParameter for $type {
                fn parameter(&self) -> Parameter<'_> {
                    let $value = self;
                    Parameter::$variant(Some($some))
                }
            }
            impl AsParameter for Option<$type> {
                fn parameter(&self) -> Parameter<'_> {
                    Parameter::$variant(self.as_ref().map(|$value| $some))
                }
            }
        )*
    };
}

as_parameter! {
    i64 => value Integer *value,
    u32 => value Integer i64::from(*value),
    bool => value Integer i64::from(*value),
    &str => value Text *value,
    String => value Text value.as_str(),
    &[u8] => value Bytes *value,
    Vec<u8> => value Bytes value.as_slice(),
    Uuid => value Bytes value.as_bytes().as_slice(),
    JournalId => value Bytes value.0.as_bytes().as_slice(),
    ConversationId => value Bytes value.0.as_bytes().as_slice(),
}

/// A value on its way out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cell {
    Null,
    Integer(i64),
    Text(String),
    Bytes(Vec<u8>),
}

pub struct Row {
    /// Shared by all rows of the statement.
    pub(crate) columns: Arc<[String]>,
    pub(crate) cells: Vec<Cell>,
}

impl Row {
    pub fn get<T: FromCell>(&self, column: &str) -> Result<T, StoreError> {
        let place = self.columns.iter().position(|name| name == column);
        match place.and_then(|place| self.cells.get(place)) {
            Some(cell) => T::from_cell(cell).ok_or_else(|| unreadable(column, cell)),
            None => Err(StoreError::damaged("row", format!("no column {column}"))),
        }
    }

    pub fn at<T: FromCell>(&self, place: usize) -> Result<T, StoreError> {
        match self.cells.get(place) {
            Some(cell) => T::from_cell(cell).ok_or_else(|| unreadable(&place.to_string(), cell)),
            None => Err(StoreError::damaged("row", format!("no column {place}"))),
        }
    }
}

fn unreadable(column: &str, cell: &Cell) -> StoreError {
    let kind = match cell {
        Cell::Null => "nothing",
        Cell::Integer(_) => "a number",
        Cell::Text(_) => "text",
        Cell::Bytes(_) => "bytes",
    };
    StoreError::damaged("row", format!("column {column} holds {kind}"))
}

pub trait FromCell: Sized {
    fn from_cell(cell: &Cell) -> Option<Self>;
}

impl FromCell for i64 {
    fn from_cell(cell: &Cell) -> Option<Self> {
        match cell {
            Cell::Integer(number) => Some(*number),
            _ => None,
        }
    }
}

impl FromCell for String {
    fn from_cell(cell: &Cell) -> Option<Self> {
        match cell {
            Cell::Text(text) => Some(text.clone()),
            _ => None,
        }
    }
}

impl FromCell for Vec<u8> {
    fn from_cell(cell: &Cell) -> Option<Self> {
        match cell {
            Cell::Bytes(bytes) => Some(bytes.clone()),
            _ => None,
        }
    }
}

impl FromCell for Uuid {
    fn from_cell(cell: &Cell) -> Option<Self> {
        match cell {
            Cell::Bytes(bytes) => Uuid::from_slice(bytes).ok(),
            _ => None,
        }
    }
}

impl FromCell for JournalId {
    fn from_cell(cell: &Cell) -> Option<Self> {
        Uuid::from_cell(cell).map(JournalId)
    }
}

impl FromCell for ConversationId {
    fn from_cell(cell: &Cell) -> Option<Self> {
        Uuid::from_cell(cell).map(ConversationId)
    }
}

impl<T: FromCell> FromCell for Option<T> {
    fn from_cell(cell: &Cell) -> Option<Self> {
        match cell {
            Cell::Null => Some(None),
            cell => T::from_cell(cell).map(Some),
        }
    }
}
