//! Reads rows of both databases as protocol types: for each noun one list of columns and one function. Columns are found
//! by name, so that a select may have more of them and in any order.

pub(crate) mod api_keys;
pub(crate) mod background_calls;
pub(crate) mod block_runs;
pub(crate) mod credits;
pub(crate) mod executions;
pub(crate) mod follow_ups;
pub(crate) mod graphs;
pub(crate) mod library;
pub(crate) mod listings;
pub(crate) mod messages;
pub(crate) mod operations;
pub(crate) mod reports;
pub(crate) mod reviews;
pub(crate) mod sessions;
pub(crate) mod turns;

use jiff::Timestamp;
use protocol::text_enum::TextEnum;
use serde::de::DeserializeOwned;

use crate::rules::error::CheckError;

/// A row of a query. The databases implement how a column is read, and share what it means.
pub(crate) trait StoreRow {
    type Error: From<CheckError>;

    /// Borrowed from the row: words and JSON are parsed without a copy.
    fn optional_str(&self, column: &str) -> Result<Option<&str>, Self::Error>;

    /// An integer of any width.
    fn optional_integer(&self, column: &str) -> Result<Option<i64>, Self::Error>;

    fn optional_flag(&self, column: &str) -> Result<Option<bool>, Self::Error>;

    fn optional_bytes(&self, column: &str) -> Result<Option<&[u8]>, Self::Error>;

    fn optional_text(&self, column: &str) -> Result<Option<String>, Self::Error> {
        Ok(self.optional_str(column)?.map(str::to_owned))
    }

    fn text(&self, column: &str) -> Result<String, Self::Error> {
        required(column, self.optional_text(column)?)
    }

    fn optional_id<T: From<String>>(&self, column: &str) -> Result<Option<T>, Self::Error> {
        Ok(self.optional_text(column)?.map(T::from))
    }

    fn id<T: From<String>>(&self, column: &str) -> Result<T, Self::Error> {
        self.text(column).map(T::from)
    }

    fn integer(&self, column: &str) -> Result<i64, Self::Error> {
        required(column, self.optional_integer(column)?)
    }

    fn optional_number(&self, column: &str) -> Result<Option<u64>, Self::Error> {
        Ok(self.optional_integer(column)?.map(|number| number as u64))
    }

    /// A count or a position, which a column stores as a signed integer.
    fn number(&self, column: &str) -> Result<u64, Self::Error> {
        self.integer(column).map(|number| number as u64)
    }

    fn optional_small(&self, column: &str) -> Result<Option<u32>, Self::Error> {
        Ok(self.optional_integer(column)?.map(|number| number as u32))
    }

    /// A small count, which a column stores as a signed integer.
    fn small(&self, column: &str) -> Result<u32, Self::Error> {
        self.integer(column).map(|number| number as u32)
    }

    fn flag(&self, column: &str) -> Result<bool, Self::Error> {
        required(column, self.optional_flag(column)?)
    }

    /// A time for display, stored as microseconds since 1970.
    fn optional_time(&self, column: &str) -> Result<Option<Timestamp>, Self::Error> {
        let time = self.optional_integer(column)?.map(Timestamp::from_microsecond);
        Ok(time.transpose().map_err(|error| unreadable(column, error))?)
    }

    fn time(&self, column: &str) -> Result<Timestamp, Self::Error> {
        required(column, self.optional_time(column)?)
    }

    fn optional_word<E: TextEnum>(&self, column: &str) -> Result<Option<E>, Self::Error> {
        let Some(text) = self.optional_str(column)? else { return Ok(None) };
        let word = E::parse(text);
        Ok(Some(word.ok_or_else(|| unreadable(column, format_args!("{text:?} is unknown")))?))
    }

    fn word<E: TextEnum>(&self, column: &str) -> Result<E, Self::Error> {
        required(column, self.optional_word(column)?)
    }

    fn optional_json<T: DeserializeOwned>(&self, column: &str) -> Result<Option<T>, Self::Error> {
        let value = self.optional_str(column)?.map(serde_json::from_str);
        Ok(value.transpose().map_err(|error| unreadable(column, error))?)
    }

    fn json<T: DeserializeOwned>(&self, column: &str) -> Result<T, Self::Error> {
        required(column, self.optional_json(column)?)
    }
}

fn required<T, E: From<CheckError>>(column: &str, value: Option<T>) -> Result<T, E> {
    value.ok_or_else(|| unreadable(column, "the value is missing").into())
}

fn unreadable(column: &str, reason: impl std::fmt::Display) -> CheckError {
    CheckError(format!("the column {column} cannot be read: {reason}"))
}
