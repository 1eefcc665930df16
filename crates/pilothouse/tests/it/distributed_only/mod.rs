//! What only several processes can meet: one of them dies, hangs, leaves, or is cut off from a server, and the others go
//! on as if nothing had happened.

mod completions;
mod crash_loop;
mod cut_off;
mod executions;
mod hung;
mod killed;
mod leaving_api;
mod operations;
mod rolling_restart;
mod rows;
mod stopping;
mod trees;
mod two_apis;
mod watched;

use testkit::model_server::ModelServer;

use crate::contract::End;
use crate::distributed::guarantees::model_settings;
use crate::server::{Cluster, Engine, Role};

/// Every turn runs at once, however few processes there are.
const ALL_AT_ONCE: [(&str, &str); 3] = [
    ("NUM_COPILOT_WORKERS", "40"),
    ("MAX_RUNNING_COPILOT_TURNS_PER_USER", "40"),
    ("MAX_INFLIGHT_COPILOT_TURNS_PER_USER", "40"),
];

/// How a turn ends that went well.
fn finished() -> End {
    End::Finished("stop".to_owned())
}

/// A model, and so many processes of each role that talk to it.
async fn cluster(
    apis: usize,
    executors: usize,
    settings: &[(&str, &str)],
) -> (ModelServer, Cluster) {
    let (model, mut cluster) = nobody(settings).await;
    for _ in 0..apis {
        cluster.spawn(Role::Api, &[]);
    }
    for _ in 0..executors {
        cluster.spawn(Role::Executor, &[]);
    }
    (model, cluster)
}

/// A model, and a place where nothing runs yet.
async fn nobody(settings: &[(&str, &str)]) -> (ModelServer, Cluster) {
    let model = ModelServer::start().await;
    let url = model.openai_url();
    let cluster = Cluster::empty(Engine::Distributed, &[], &model_settings(&url, settings));
    (model, cluster)
}
