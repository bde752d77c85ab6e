//! Between PostgreSQL's types and ours: `BIGINT`, `TEXT` and `BYTEA`, and what expressions make of them.

use std::error::Error;

use bytes::BytesMut;
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, to_sql_checked};

use crate::tx::{Cell, Parameter};

impl Parameter<'_> {
    pub(super) fn postgres_type(&self) -> Type {
        match self {
            Parameter::Integer(_) => Type::INT8,
            Parameter::Text(_) => Type::TEXT,
            Parameter::Bytes(_) => Type::BYTEA,
        }
    }
}

impl ToSql for Parameter<'_> {
    fn to_sql(
        &self,
        kind: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match self {
            Parameter::Integer(Some(number)) => number.to_sql(kind, out),
            Parameter::Text(Some(text)) => text.to_sql(kind, out),
            Parameter::Bytes(Some(bytes)) => bytes.to_sql(kind, out),
            Parameter::Integer(None) | Parameter::Text(None) | Parameter::Bytes(None) => {
                Ok(IsNull::Yes)
            }
        }
    }

    fn accepts(kind: &Type) -> bool {
        matches!(*kind, Type::INT8 | Type::TEXT | Type::BYTEA)
    }

    to_sql_checked!();
}

impl<'a> FromSql<'a> for Cell {
    fn from_sql(kind: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(match *kind {
            Type::INT8 => Cell::Integer(i64::from_sql(kind, raw)?),
            Type::INT4 => Cell::Integer(i32::from_sql(kind, raw)?.into()),
            Type::BOOL => Cell::Integer(bool::from_sql(kind, raw)?.into()),
            Type::BYTEA => Cell::Bytes(raw.to_vec()),
            _ => Cell::Text(String::from_sql(kind, raw)?),
        })
    }

    fn from_sql_null(_: &Type) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(Cell::Null)
    }

    fn accepts(kind: &Type) -> bool {
        matches!(*kind, Type::INT8 | Type::INT4 | Type::BOOL | Type::BYTEA)
            || <String as FromSql>::accepts(kind)
    }
}
