//! Operations with several processes: each may be killed while it works on one, and the others finish it.

use serde_json::json;
use testkit::external_service::{ExternalService, ServiceResponse};
use testkit::model_server::{ModelServer, Script};
use testkit::services::TestServerUrls;

use super::finished;
use crate::contract::{assert_complete, assert_replay};
use crate::distributed::operations_flow::{
    self, DONE, KEY, StartedOperation, TOOL, answer, film, follow, is_continuation, is_waiting,
    shown, webhook,
};
use crate::events::{ReceivedEvent, text_of};
use crate::scripts::model_settings;
use crate::server::{Cluster, Role, eventually, json_of};

/// A cluster, a model server, and the external service of a long-running tool, which accepts the work and sends no
/// result.
pub(crate) struct OperationCluster {
    pub(crate) model: ModelServer,
    pub(crate) service: ExternalService,
    pub(crate) cluster: Cluster,
}

impl OperationCluster {
    /// One API process and one executor, on this Redis server or the shared one.
    pub(crate) async fn on(redis: Option<&str>, more: &[(&str, &str)]) -> Self {
        let mut setup = Self::without_executor(redis, more).await;
        setup.cluster.spawn(Role::Executor, &[]);
        setup
    }

    pub(crate) async fn without_executor(redis: Option<&str>, more: &[(&str, &str)]) -> Self {
        let model = ModelServer::start().await;
        model.respond_with(answer);
        let service = operations_flow::service().await;
        service.answer(TOOL, ServiceResponse::accepted());
        let (url, file) = (model.openai_url(), service.tools_file());
        let mut urls = TestServerUrls::from_env().unwrap_or_else(|error| panic!("{error}"));
        urls.redis = redis.map_or(urls.redis, str::to_owned);
        let tools = [("CHAT_TOOLS_FILE", file.as_str()), ("CHAT_INTERNAL_API_KEY", KEY)];
        let settings = model_settings(&url, &[&tools, more].concat());
        let mut cluster = Cluster::on(&urls, &settings);
        cluster.spawn(Role::Api, &[]);
        Self { model, service, cluster }
    }

    /// Starts an operation and waits until its turn waits for the result.
    pub(crate) async fn begin(&self) -> StartedOperation {
        let api = self.cluster.api(0).http();
        let begun = operations_flow::begin(api, &api.session().await).await;
        eventually("a rest", async || is_waiting(&self.cluster.log(), &begun).then_some(())).await;
        begun
    }

    pub(crate) async fn complete(&self, begun: &StartedOperation) {
        let sent = webhook(self.cluster.api(0).http(), &begun.operation, &film()).send().await;
        assert_eq!(json_of(sent.expect("an answer")).await["task_id"], begun.task);
    }

    /// The complete stream of an operation that ends well.
    pub(crate) async fn to_the_end(&self, begun: &StartedOperation) -> Vec<ReceivedEvent> {
        let events = follow(self.cluster.api(0).http(), &begun.task).await.all().await;
        assert_eq!(assert_replay(&events), finished());
        assert!(text_of(&events).ends_with(DONE), "{}", text_of(&events));
        events
    }

    /// How many requests continue the conversation after an operation.
    pub(crate) fn continuations(&self) -> usize {
        self.model.requests().iter().filter(|request| is_continuation(request)).count()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_request_of_a_killed_executor_is_repeated_by_another_with_the_same_key() {
    let mut setup = OperationCluster::on(None, &[]).await;
    setup.service.answer(TOOL, ServiceResponse::never());
    let api = setup.cluster.api(0).http();
    let begun = operations_flow::begin(api, &api.session().await).await;
    setup.service.wait_for_calls(TOOL, 1).await;
    setup.service.answer(TOOL, ServiceResponse::json(json!({"file": "film.mp4"})));
    setup.cluster.spawn(Role::Executor, &[]);
    setup.cluster.executor_mut(0).kill9();
    let events = setup.to_the_end(&begun).await;
    assert_eq!(shown(&events)["output"]["file"], "film.mp4");
    let calls = setup.service.calls(TOOL);
    assert_eq!((calls.len(), calls[0].key()), (2, calls[1].key()));
    assert_eq!(setup.continuations(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_result_received_without_an_executor_is_answered_when_one_starts() {
    let mut setup = OperationCluster::on(None, &[]).await;
    let begun = setup.begin().await;
    setup.cluster.executor_mut(0).kill9();
    setup.complete(&begun).await;
    setup.cluster.executor_mut(0).restart();
    assert_eq!(*shown(&setup.to_the_end(&begun).await), film()["result"]);
    assert_eq!((setup.continuations(), setup.service.calls(TOOL).len()), (1, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_continuation_after_an_operation_moves_to_another_executor_after_a_kill() {
    let mut setup = OperationCluster::on(None, &[]).await;
    let begun = setup.begin().await;
    setup.model.enqueue(Script::default().say_in("The fi", 1).hang());
    setup.complete(&begun).await;
    let mut live = follow(setup.cluster.api(0).http(), &begun.task).await;
    let mut seen = live.until_seen("text-delta").await;
    setup.cluster.spawn(Role::Executor, &[]);
    setup.cluster.executor_mut(0).kill9();
    seen.extend(live.rest().await.0);
    assert_eq!(assert_complete(&seen), finished());
    assert_eq!(*shown(&seen), film()["result"]);
    assert_eq!((text_of(&seen), setup.continuations()), (format!("The fi{DONE}"), 2));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_executor_does_not_send_its_own_address_as_callback_url() {
    let setup = OperationCluster::on(None, &[]).await;
    let begun = setup.begin().await;
    let [call] = setup.service.calls(TOOL).try_into().expect("one call");
    assert_eq!(call.operation_id(), begun.operation);
    assert_eq!(call.body.get("callback_url"), None);
}
