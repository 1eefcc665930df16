//! Values written as JSON, which the columns keep as it was written.

use serde::Serialize;

use super::fault::Fault;

pub(super) fn written(value: &impl Serialize) -> Result<String, Fault> {
    serde_json::to_string(value).map_err(|error| Fault::broken(error.to_string()))
}
