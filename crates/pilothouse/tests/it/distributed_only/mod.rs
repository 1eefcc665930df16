//! Tests that need several processes: one of them is killed, suspended, shut down or cut off from a server, and the
//! others take over its work.

mod api_shutdown;
mod canceling;
mod completions;
mod crash_loop;
mod disconnected;
mod executions;
mod followed_turn;
mod killed_executor;
mod operations;
mod rolling_restart;
pub(crate) mod rows;
mod session_trees;
mod suspended;
mod two_apis;

use testkit::model_server::ModelServer;

use crate::contract::TurnEnd;
use crate::scripts::model_settings;
use crate::server::{Cluster, Engine, Role};

/// Limits high enough that all turns of a test run at the same time, with any number of processes.
const ALL_AT_ONCE: [(&str, &str); 3] = [
    ("NUM_COPILOT_WORKERS", "40"),
    ("MAX_RUNNING_COPILOT_TURNS_PER_USER", "40"),
    ("MAX_INFLIGHT_COPILOT_TURNS_PER_USER", "40"),
];

/// The end of a successful turn.
fn finished() -> TurnEnd {
    TurnEnd::Finished("stop".to_owned())
}

/// A model server and a cluster with this many processes of each role.
async fn cluster(
    apis: usize,
    executors: usize,
    settings: &[(&str, &str)],
) -> (ModelServer, Cluster) {
    let (model, mut cluster) = empty_cluster(settings).await;
    for _ in 0..apis {
        cluster.spawn(Role::Api, &[]);
    }
    for _ in 0..executors {
        cluster.spawn(Role::Executor, &[]);
    }
    (model, cluster)
}

/// A model server and a cluster without processes.
async fn empty_cluster(settings: &[(&str, &str)]) -> (ModelServer, Cluster) {
    let model = ModelServer::start().await;
    let url = model.openai_url();
    let cluster = Cluster::empty(Engine::Distributed, &[], &model_settings(&url, settings));
    (model, cluster)
}
