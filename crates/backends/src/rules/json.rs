//! Serializes values to JSON text; the columns keep the text unchanged.

use serde::Serialize;

use super::error::CheckError;

pub(crate) fn to_json(value: &impl Serialize) -> Result<String, CheckError> {
    serde_json::to_string(value).map_err(|error| CheckError::new(error.to_string()))
}
