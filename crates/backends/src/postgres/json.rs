//! Serializes values to JSON text; the columns keep the text unchanged.

use serde::Serialize;

use super::error::PostgresError;

pub(super) fn written(value: &impl Serialize) -> Result<String, PostgresError> {
    serde_json::to_string(value).map_err(|error| PostgresError::broken(error.to_string()))
}
