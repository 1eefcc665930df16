//! Reads columns of Postgres rows.

use std::error::Error;

use tokio_postgres::Row;
use tokio_postgres::types::{FromSql, Type};

use super::error::PostgresError;
use crate::rows::StoreRow;

type Result<T> = std::result::Result<T, PostgresError>;

impl StoreRow for Row {
    type Error = PostgresError;

    fn optional_str(&self, column: &str) -> Result<Option<&str>> {
        Ok(self.try_get(column)?)
    }

    fn optional_integer(&self, column: &str) -> Result<Option<i64>> {
        let integer: Option<AnyInteger> = self.try_get(column)?;
        Ok(integer.map(|AnyInteger(integer)| integer))
    }

    fn optional_flag(&self, column: &str) -> Result<Option<bool>> {
        Ok(self.try_get(column)?)
    }

    fn optional_bytes(&self, column: &str) -> Result<Option<&[u8]>> {
        Ok(self.try_get(column)?)
    }
}

/// An integer column of any width.
struct AnyInteger(i64);

impl<'a> FromSql<'a> for AnyInteger {
    fn from_sql(
        kind: &Type,
        raw: &'a [u8],
    ) -> std::result::Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(Self(match *kind {
            Type::INT2 => i16::from_sql(kind, raw)?.into(),
            Type::INT4 => i32::from_sql(kind, raw)?.into(),
            _ => i64::from_sql(kind, raw)?,
        }))
    }

    fn accepts(kind: &Type) -> bool {
        matches!(*kind, Type::INT2 | Type::INT4 | Type::INT8)
    }
}
