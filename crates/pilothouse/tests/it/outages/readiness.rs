//! What `/health/ready` reports, and how soon.

use std::time::{Duration, Instant};

use futures::future::join_all;
use serde_json::Value;

use super::measured;
use super::outage_cluster::{AffectedProcesses, OutageCluster};
use crate::server::Process;

const REPORTED_WITHIN: Duration = Duration::from_secs(5);
/// A client of the broker waits up to two seconds between two attempts, and each attempt may take as long.
const READY_WITHIN: Duration = Duration::from_secs(10);

/// Waits until these processes report this server, and no other one, as failing.
pub(crate) async fn wait_for_failing(
    setup: &OutageCluster,
    affected: AffectedProcesses,
    server: &str,
) {
    until(setup, affected, &[server], REPORTED_WITHIN).await;
}

/// Waits until all processes are ready.
pub(crate) async fn wait_until_ready(setup: &OutageCluster) {
    until(setup, AffectedProcesses::All, &[], READY_WITHIN).await;
}

async fn until(
    setup: &OutageCluster,
    affected: AffectedProcesses,
    failing: &[&str],
    within: Duration,
) {
    let began = Instant::now();
    let asking = setup.processes(affected).into_iter().map(async |process| {
        loop {
            let found = failing_of(process).await;
            assert!(began.elapsed() < within, "{found:?} instead of {failing:?} are failing");
            if found == failing {
                break;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    });
    join_all(asking).await;
    measured(&format!("{failing:?} named as failing after"), began.elapsed());
}

async fn failing_of(process: &Process) -> Vec<String> {
    let api = process.http();
    let request = api.client.get(format!("{}/health/ready", api.base()));
    let answer = request.timeout(REPORTED_WITHIN).send().await.expect("health always answers");
    let status = answer.status().as_u16();
    let body: Value = answer.json().await.expect("JSON");
    let failing = body["failing"].as_array().map_or(&[][..], Vec::as_slice);
    assert_eq!(status, if failing.is_empty() { 200 } else { 503 });
    failing.iter().filter_map(|name| Some(name.as_str()?.to_owned())).collect()
}
