//! Two API processes and two executors, whose connections to the servers can be broken, and a model that responds
//! slowly.

use std::time::Duration;

use testkit::model_server::{ModelServer, RecordedRequest, Script};
use testkit::proxy::ProxyMode;
use testkit::services::TestServerUrls;

use crate::scripts::model_settings;
use crate::server::{Api, Cluster, Process, Role, ServerProxies};

/// Limits that allow one user many turns, and short leases.
const SETTINGS: [(&str, &str); 5] = [
    ("MAX_RUNNING_COPILOT_TURNS_PER_USER", "100"),
    ("MAX_INFLIGHT_COPILOT_TURNS_PER_USER", "200"),
    ("NUM_COPILOT_WORKERS", "20"),
    ("TURN_LEASE_MS", "3000"),
    ("TURN_RENEW_MS", "400"),
];

pub(crate) struct OutageCluster {
    pub(crate) cluster: Cluster,
    pub(crate) model: ModelServer,
}

/// The processes that a fault applies to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AffectedProcesses {
    Apis,
    Executors,
    All,
}

impl OutageCluster {
    /// On the servers that all tests share.
    pub(crate) async fn start(more: &[(&str, &str)]) -> Self {
        Self::on(&shared(), more).await
    }

    pub(crate) async fn on(urls: &TestServerUrls, more: &[(&str, &str)]) -> Self {
        let model = ModelServer::start().await;
        model.respond_with(|request| slowly(&answer_to(request), Duration::from_millis(100)));
        let url = model.openai_url();
        let mut cluster = Cluster::on(urls, &model_settings(&url, &[&SETTINGS[..], more].concat()));
        for role in [Role::Api, Role::Api, Role::Executor, Role::Executor] {
            cluster.spawn_with_proxies(role, &[]);
        }
        Self { cluster, model }
    }

    pub(crate) fn api(&self, number: usize) -> &Api {
        self.cluster.api(number).http()
    }

    pub(crate) fn processes(&self, affected: AffectedProcesses) -> Vec<&Process> {
        let (cluster, both) = (&self.cluster, [0, 1]);
        let apis = both.iter().map(|number| cluster.api(*number));
        let executors = both.iter().map(|number| cluster.executor(*number));
        match affected {
            AffectedProcesses::Apis => apis.collect(),
            AffectedProcesses::Executors => executors.collect(),
            AffectedProcesses::All => apis.chain(executors).collect(),
        }
    }

    /// Sets the mode of one link of these processes.
    pub(crate) fn set(
        &self,
        affected: AffectedProcesses,
        link: impl Fn(&ServerProxies) -> &testkit::proxy::FaultProxy,
        mode: ProxyMode,
    ) {
        for process in self.processes(affected) {
            link(process.proxies()).set(mode);
        }
    }
}

pub(crate) fn shared() -> TestServerUrls {
    TestServerUrls::from_env().unwrap_or_else(|error| panic!("{error}"))
}

/// The response contains the question, so that a response delivered to the wrong turn is noticed. A question may state
/// how many words it wants.
pub(crate) fn answer_to(request: &RecordedRequest) -> String {
    answer(&request.last_user_text())
}

pub(crate) fn answer(question: &str) -> String {
    let words = question.split("words=").nth(1).and_then(|rest| rest.split(' ').next());
    let words: usize = words.and_then(|words| words.parse().ok()).unwrap_or(3);
    (1..=words).map(|word| format!("{word} of {question}; ")).collect()
}

/// Streams one sentence at a time.
pub(crate) fn slowly(text: &str, pause: Duration) -> Script {
    let mut script = Script::default();
    for sentence in text.split_inclusive("; ") {
        script = script.say_in(sentence, 1).delay(pause);
    }
    script
}
