//! Reads columns of SQLite rows.

use rusqlite::types::Type;
use rusqlite::{Error, Result, Row};

use crate::rows::StoreRow;
use crate::rules::error::CheckError;

impl StoreRow for Row<'_> {
    type Error = Error;

    fn optional_str(&self, column: &str) -> Result<Option<&str>> {
        Ok(self.get_ref(column)?.as_str_or_null()?)
    }

    fn optional_integer(&self, column: &str) -> Result<Option<i64>> {
        self.get(column)
    }

    fn optional_flag(&self, column: &str) -> Result<Option<bool>> {
        self.get(column)
    }

    fn optional_bytes(&self, column: &str) -> Result<Option<&[u8]>> {
        Ok(self.get_ref(column)?.as_blob_or_null()?)
    }
}

/// Functions that read a row may only return errors of the driver.
impl From<CheckError> for Error {
    fn from(error: CheckError) -> Self {
        // The message names the column, so the error needs no index.
        Self::FromSqlConversionFailure(usize::MAX, Type::Null, Box::new(error))
    }
}
