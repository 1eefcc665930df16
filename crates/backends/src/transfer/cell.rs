//! A value as both databases have it, and a digest that is the same whichever of them it was read from.

use std::error::Error;
use std::time::{Duration, UNIX_EPOCH};

use bytes::BytesMut;
use rusqlite::types::ValueRef;
use sha2::{Digest, Sha256};
use tokio_postgres::types::{IsNull, ToSql, Type, to_sql_checked};

use super::tables::Kind;

pub(super) type Row = Vec<Cell>;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Cell {
    Null,
    /// Whole numbers, truth values (0, 1), and moments in microseconds since 1970.
    Number(i64),
    Text(String),
    Bytes(Vec<u8>),
}

impl Cell {
    /// What a column of SQLite holds.
    pub(super) fn of_sqlite(value: ValueRef<'_>) -> Result<Self, String> {
        Ok(match value {
            ValueRef::Null => Self::Null,
            ValueRef::Integer(number) => Self::Number(number),
            ValueRef::Text(text) => {
                Self::Text(String::from_utf8(text.to_owned()).map_err(|error| error.to_string())?)
            }
            ValueRef::Blob(bytes) => Self::Bytes(bytes.to_owned()),
            ValueRef::Real(_) => return Err("a column holds a number with a fraction".to_owned()),
        })
    }

    /// What a column of Postgres holds.
    pub(super) fn of_postgres(
        row: &tokio_postgres::Row,
        index: usize,
        kind: Kind,
    ) -> Result<Self, tokio_postgres::Error> {
        let cell = match kind {
            Kind::Text => row.try_get::<_, Option<String>>(index)?.map(Self::Text),
            Kind::Bytes => row.try_get::<_, Option<Vec<u8>>>(index)?.map(Self::Bytes),
            Kind::Bool => {
                row.try_get::<_, Option<bool>>(index)?.map(|truth| Self::Number(truth.into()))
            }
            Kind::Int => {
                row.try_get::<_, Option<i32>>(index)?.map(|number| Self::Number(number.into()))
            }
            Kind::Long => row.try_get::<_, Option<i64>>(index)?.map(Self::Number),
            Kind::Moment => {
                let moment: Option<std::time::SystemTime> = row.try_get(index)?;
                let since = moment.map(|moment| moment.duration_since(UNIX_EPOCH));
                since.map(|since| Self::Number(since.unwrap_or_default().as_micros() as i64))
            }
        };
        Ok(cell.unwrap_or(Self::Null))
    }

    /// About how much memory it takes.
    pub(super) fn size(&self) -> usize {
        let content = match self {
            Self::Null | Self::Number(_) => 0,
            Self::Text(text) => text.len(),
            Self::Bytes(bytes) => bytes.len(),
        };
        content + size_of::<Self>()
    }
}

impl ToSql for Cell {
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

impl Cell {
    /// The content stays out of what is told to people.
    fn word(&self) -> &'static str {
        match self {
            Self::Null => "nothing",
            Self::Number(_) => "a number",
            Self::Text(_) => "text",
            Self::Bytes(_) => "bytes",
        }
    }
}

/// How many rows there are and what they add up to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Sum {
    pub(super) count: u64,
    pub(super) digest: String,
}

#[derive(Default)]
pub(super) struct Summing {
    count: u64,
    hash: Sha256,
}

impl Summing {
    pub(super) fn add(&mut self, row: &[Cell]) {
        self.count += 1;
        for cell in row {
            // With its kind and its length in front, so that no two rows can look alike.
            let (kind, content): (u8, &[u8]) = match cell {
                Cell::Null => (0, &[]),
                Cell::Number(number) => (1, &number.to_le_bytes()),
                Cell::Text(text) => (2, text.as_bytes()),
                Cell::Bytes(bytes) => (3, bytes),
            };
            self.hash.update([kind]);
            self.hash.update((content.len() as u64).to_le_bytes());
            self.hash.update(content);
        }
    }

    pub(super) fn sum(self) -> Sum {
        let digest = self.hash.finalize();
        let digest = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        Sum { count: self.count, digest }
    }
}
