//! A simulated external service: carries out operations and reports their completion, by request or by message, as
//! often as necessary, and sometimes with an invalid message.

use std::cell::Cell;
use std::time::Duration;

use ports::store::{OperationCompleted, OperationKey};
use protocol::operation::OperationCompletion;
use serde_json::json;
use testkit::sim::OperationCallback;
use tokio::time::{sleep, timeout};

use crate::fleet::Fleet;

const POLL_INTERVAL: Duration = Duration::from_millis(50);
const REQUEST_TIMEOUT: Duration = Duration::from_secs(3);

/// Reports until every client has its answer, no turn is open and nothing is left to report.
pub(crate) async fn report(fleet: &Fleet, answered: &Cell<bool>) {
    let sim = &fleet.sim;
    loop {
        let due = {
            let (now, mut observations) = (sim.backend.now(), sim.observations());
            let first = observations.callbacks.iter().position(|callback| callback.at <= now);
            first.map(|first| observations.callbacks.remove(first))
        };
        if let Some(callback) = due {
            deliver(fleet, &callback).await;
            continue;
        }
        let done = {
            let state = sim.backend.state();
            let open = state.turns.values().any(|row| row.is_open());
            !open && state.completions.is_empty() && sim.observations().callbacks.is_empty()
        };
        if done && answered.get() {
            return;
        }
        sleep(POLL_INTERVAL).await;
    }
}

async fn deliver(fleet: &Fleet, callback: &OperationCallback) {
    let (by_message, by_task, garbage, success) = {
        let mut rng = fleet.sim.rng();
        (rng.chance(500), rng.chance(300), rng.chance(100), rng.chance(800))
    };
    if garbage {
        while !sent(fleet, "{ who knows".to_owned()).await {}
    }
    let which = if by_task {
        OperationKey::Task(callback.task_id.clone())
    } else {
        OperationKey::Operation(callback.operation_id.clone())
    };
    let error = (!success).then(|| "no luck".to_owned());
    if by_message {
        let body = json!({
            "operation_id": callback.operation_id,
            "task_id": callback.task_id,
            "success": success,
            "error": error,
        });
        while !sent(fleet, body.to_string()).await {}
    } else {
        let completion = OperationCompletion { success, result: None, error };
        while !called_back(fleet, &which, &completion).await {}
    }
}

async fn sent(fleet: &Fleet, body: String) -> bool {
    let process = fleet.any();
    let sent = timeout(REQUEST_TIMEOUT, process.ports.completions.send(body)).await;
    matches!(sent, Ok(Ok(()))) || pause().await
}

async fn called_back(
    fleet: &Fleet,
    which: &OperationKey,
    completion: &OperationCompletion,
) -> bool {
    let process = fleet.any();
    let call = process.engine.complete_operation(which, completion.clone());
    match timeout(REQUEST_TIMEOUT, call).await {
        Ok(Ok(OperationCompleted::Unknown)) => {
            fleet.sim.report_violation(format!("L3: {which:?} is unknown"));
            true
        }
        Ok(Ok(_)) => true,
        Ok(Err(_)) | Err(_) => pause().await,
    }
}

/// Waits before a retry. Always returns `false`: not done yet.
async fn pause() -> bool {
    sleep(Duration::from_millis(300)).await;
    false
}
