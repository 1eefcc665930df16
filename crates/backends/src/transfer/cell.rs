//! A value of either database, and a digest that is the same for both.

use std::error::Error;
use std::time::{Duration, UNIX_EPOCH};

use bytes::BytesMut;
use protocol::text::hex;
use rusqlite::types::ValueRef;
use sha2::{Digest, Sha256};
use tokio_postgres::types::{IsNull, ToSql, Type, to_sql_checked};

use super::tables::ColumnKind;

pub(crate) type TableRow = Vec<TableCell>;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TableCell {
    Null,
    /// Integers, booleans (0, 1), and times in microseconds since 1970.
    Number(i64),
    Text(String),
    Bytes(Vec<u8>),
}

impl TableCell {
    /// The value of an SQLite column.
    pub(crate) fn of_sqlite(value: ValueRef<'_>) -> Result<Self, String> {
        Ok(match value {
            ValueRef::Null => Self::Null,
            ValueRef::Integer(number) => Self::Number(number),
            ValueRef::Text(text) => {
                Self::Text(String::from_utf8(text.to_owned()).map_err(|error| error.to_string())?)
            }
            ValueRef::Blob(bytes) => Self::Bytes(bytes.to_owned()),
            ValueRef::Real(_) => return Err("a column has a fractional number".to_owned()),
        })
    }

    /// The value of a Postgres column.
    pub(crate) fn of_postgres(
        row: &tokio_postgres::Row,
        index: usize,
        kind: ColumnKind,
    ) -> Result<Self, tokio_postgres::Error> {
        let cell = match kind {
            ColumnKind::Text => row.try_get::<_, Option<String>>(index)?.map(Self::Text),
            ColumnKind::Bytes => row.try_get::<_, Option<Vec<u8>>>(index)?.map(Self::Bytes),
            ColumnKind::Bool => {
                row.try_get::<_, Option<bool>>(index)?.map(|truth| Self::Number(truth.into()))
            }
            ColumnKind::Int => {
                row.try_get::<_, Option<i32>>(index)?.map(|number| Self::Number(number.into()))
            }
            ColumnKind::Long => row.try_get::<_, Option<i64>>(index)?.map(Self::Number),
            ColumnKind::Moment => {
                let moment: Option<std::time::SystemTime> = row.try_get(index)?;
                let since = moment.map(|moment| moment.duration_since(UNIX_EPOCH));
                since.map(|since| Self::Number(since.unwrap_or_default().as_micros() as i64))
            }
        };
        Ok(cell.unwrap_or(Self::Null))
    }

    /// Approximate memory size.
    pub(crate) fn size(&self) -> usize {
        let content = match self {
            Self::Null | Self::Number(_) => 0,
            Self::Text(text) => text.len(),
            Self::Bytes(bytes) => bytes.len(),
        };
        content + size_of::<Self>()
    }
}

impl ToSql for TableCell {
    fn to_sql(
        &self,
        to: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match (self, to) {
            (Self::Null, _) => Ok(IsNull::Yes),
            (Self::Number(truth), &Type::BOOL) => (*truth != 0).to_sql(to, out),
            (Self::Number(number), &Type::INT4) => i32::try_from(*number)?.to_sql(to, out),
            (Self::Number(number), &Type::INT8) => number.to_sql(to, out),
            (Self::Number(micros), &Type::TIMESTAMPTZ) => {
                let since = Duration::from_micros(u64::try_from(*micros)?);
                (UNIX_EPOCH + since).to_sql(to, out)
            }
            (Self::Text(text), &Type::TEXT) => text.to_sql(to, out),
            (Self::Bytes(bytes), &Type::BYTEA) => bytes.to_sql(to, out),
            (cell, to) => Err(format!("a {to} column cannot hold {}", cell.word()).into()),
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

impl TableCell {
    /// Type name for messages, which must not repeat the content.
    fn word(&self) -> &'static str {
        match self {
            Self::Null => "nothing",
            Self::Number(_) => "a number",
            Self::Text(_) => "text",
            Self::Bytes(_) => "bytes",
        }
    }
}

/// Number of rows and their digest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RowDigest {
    pub(crate) count: u64,
    pub(crate) digest: String,
}

#[derive(Default)]
pub(crate) struct RowHasher {
    count: u64,
    hash: Sha256,
}

impl RowHasher {
    pub(crate) fn add(&mut self, row: &[TableCell]) {
        self.count += 1;
        for cell in row {
            // Prefixed with type and length, so that no two different rows have the same digest.
            let (kind, content): (u8, &[u8]) = match cell {
                TableCell::Null => (0, &[]),
                TableCell::Number(number) => (1, &number.to_le_bytes()),
                TableCell::Text(text) => (2, text.as_bytes()),
                TableCell::Bytes(bytes) => (3, bytes),
            };
            self.hash.update([kind]);
            self.hash.update((content.len() as u64).to_le_bytes());
            self.hash.update(content);
        }
    }

    pub(crate) fn sum(self) -> RowDigest {
        RowDigest { count: self.count, digest: hex(&self.hash.finalize()) }
    }
}
