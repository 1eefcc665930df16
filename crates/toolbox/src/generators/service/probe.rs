//! Asks a service how it is, for `doctor`.

use std::time::Duration;

use ports::agent_generator::GeneratorError;
use serde_json::Value;

use super::transport::{ServiceAnswer, ServiceClient};
use super::{ServiceOptions, errors};

/// A healthy service answers at once.
const TIMEOUT: Duration = Duration::from_secs(5);
const HEALTH_BYTES: usize = 64 * 1024;
/// Hundreds of blocks with their schemas.
const BLOCKS_BYTES: usize = 16 * 1024 * 1024;

/// What a service says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServiceProbe {
    /// Its number of blocks, where it says so.
    Healthy { blocks: Option<usize> },
    /// It answers, but cannot make agents. What it says.
    Unhealthy(String),
    /// It does not answer as an agent generator. Why.
    Failed(String),
}

pub async fn probe_service(options: &ServiceOptions) -> ServiceProbe {
    let client = match ServiceClient::new(&ServiceOptions { timeout: TIMEOUT, ..options.clone() }) {
        Ok(client) => client,
        Err(reason) => return ServiceProbe::Failed(reason),
    };
    let health = match json(&client, "/health", HEALTH_BYTES).await {
        Ok(health) => health,
        Err(error) => return ServiceProbe::Failed(error.message),
    };
    let status = health.get("status").and_then(Value::as_str).unwrap_or("unknown");
    if status != "healthy" {
        return ServiceProbe::Unhealthy(format!("its status is {status}"));
    }
    if !is_set(health.get("blocks_loaded")) {
        return ServiceProbe::Unhealthy("it has not loaded its blocks".to_owned());
    }
    let blocks = json(&client, "/api/blocks", BLOCKS_BYTES).await.ok();
    let blocks = blocks.as_ref().and_then(|answer| answer.get("blocks")).and_then(Value::as_array);
    ServiceProbe::Healthy { blocks: blocks.map(Vec::len) }
}

async fn json(
    client: &ServiceClient,
    path: &str,
    max_bytes: usize,
) -> Result<Value, GeneratorError> {
    match client.get(path, max_bytes).await? {
        ServiceAnswer::Json(answer) => Ok(answer),
        ServiceAnswer::Accepted => Err(errors::unexpected("202")),
    }
}

/// Some services give a number.
fn is_set(value: Option<&Value>) -> bool {
    match value {
        Some(Value::Bool(set)) => *set,
        Some(Value::Number(number)) => number.as_u64() != Some(0),
        _ => false,
    }
}
