//! Operations with several processes: each may be killed while it works on one, and the others finish it.

use serde_json::json;
use testkit::external_service::{Answer, ExternalService};
use testkit::model_server::{ModelServer, Script};
use testkit::services::Urls;

use super::finished;
use crate::contract::{assert_replay, assert_whole};
use crate::distributed::guarantees::{eventually, model_settings};
use crate::distributed::operations_flow::{
    self, Begun, DONE, KEY, TOOL, answer, film, follow, goes_on, has_rested, shown, webhook,
};
use crate::events::{Got, text_of};
use crate::server::{Cluster, Role, json_of};

/// A cluster, a model server, and the external service of a long-running tool, which accepts the work and sends no
/// result.
pub(super) struct Workshop {
    pub(super) model: ModelServer,
    pub(super) service: ExternalService,
    pub(super) cluster: Cluster,
}

impl Workshop {
    /// One API process and one executor, on this Redis server or the shared one.
    pub(super) async fn on(redis: Option<&str>, more: &[(&str, &str)]) -> Self {
        let mut shop = Self::without_executor(redis, more).await;
        shop.cluster.spawn(Role::Executor, &[]);
        shop
    }

    pub(super) async fn without_executor(redis: Option<&str>, more: &[(&str, &str)]) -> Self {
        let model = ModelServer::start().await;
        model.respond_with(answer);
        let service = operations_flow::service().await;
        service.answer(TOOL, Answer::accepted());
        let (url, file) = (model.openai_url(), service.tools_file());
        let mut urls = Urls::of_run().unwrap_or_else(|error| panic!("{error}"));
        urls.redis = redis.map_or(urls.redis, str::to_owned);
        let tools = [("CHAT_TOOLS_FILE", file.as_str()), ("CHAT_INTERNAL_API_KEY", KEY)];
        let settings = model_settings(&url, &[&tools, more].concat());
        let mut cluster = Cluster::on(&urls, &settings);
        cluster.spawn(Role::Api, &[]);
        Self { model, service, cluster }
    }

    /// Starts an operation and waits until its turn waits for the result.
    pub(super) async fn begin(&self) -> Begun {
        let api = self.cluster.api(0).http();
        let begun = operations_flow::begin(api, &api.session().await).await;
        eventually("a rest", async || has_rested(&self.cluster.log(), &begun).then_some(())).await;
        begun
    }

    pub(super) async fn complete(&self, begun: &Begun) {
        let sent = webhook(self.cluster.api(0).http(), &begun.operation, &film()).send().await;
        assert_eq!(json_of(sent.expect("an answer")).await["task_id"], begun.task);
    }

    /// The complete stream of an operation that ends well.
    pub(super) async fn to_the_end(&self, begun: &Begun) -> Vec<Got> {
        let events = follow(self.cluster.api(0).http(), &begun.task).await.all().await;
        assert_eq!(assert_replay(&events), finished());
        assert!(text_of(&events).ends_with(DONE), "{}", text_of(&events));
        events
    }

    /// How many requests continue the conversation after an operation.
    pub(super) fn continuations(&self) -> usize {
        self.model.requests().iter().filter(|request| goes_on(request)).count()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_request_of_a_killed_executor_is_repeated_by_another_with_the_same_key() {
    let mut shop = Workshop::on(None, &[]).await;
    shop.service.answer(TOOL, Answer::never());
    let api = shop.cluster.api(0).http();
    let begun = operations_flow::begin(api, &api.session().await).await;
    shop.service.wait_for_calls(TOOL, 1).await;
    shop.service.answer(TOOL, Answer::json(json!({"file": "film.mp4"})));
    shop.cluster.spawn(Role::Executor, &[]);
    shop.cluster.executor_mut(0).kill9();
    let events = shop.to_the_end(&begun).await;
    assert_eq!(shown(&events)["output"]["file"], "film.mp4");
    let calls = shop.service.calls(TOOL);
    assert_eq!((calls.len(), calls[0].key()), (2, calls[1].key()));
    assert_eq!(shop.continuations(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_result_received_without_an_executor_is_answered_when_one_starts() {
    let mut shop = Workshop::on(None, &[]).await;
    let begun = shop.begin().await;
    shop.cluster.executor_mut(0).kill9();
    shop.complete(&begun).await;
    shop.cluster.executor_mut(0).restart();
    assert_eq!(*shown(&shop.to_the_end(&begun).await), film()["result"]);
    assert_eq!((shop.continuations(), shop.service.calls(TOOL).len()), (1, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_continuation_after_an_operation_moves_to_another_executor_after_a_kill() {
    let mut shop = Workshop::on(None, &[]).await;
    let begun = shop.begin().await;
    shop.model.enqueue(Script::default().say_in("The fi", 1).hang());
    shop.complete(&begun).await;
    let mut live = follow(shop.cluster.api(0).http(), &begun.task).await;
    let mut seen = live.until_seen("text-delta").await;
    shop.cluster.spawn(Role::Executor, &[]);
    shop.cluster.executor_mut(0).kill9();
    seen.extend(live.rest().await.0);
    assert_eq!(assert_whole(&seen), finished());
    assert_eq!(*shown(&seen), film()["result"]);
    assert_eq!((text_of(&seen), shop.continuations()), (format!("The fi{DONE}"), 2));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_executor_does_not_send_its_own_address_as_callback_url() {
    let shop = Workshop::on(None, &[]).await;
    let begun = shop.begin().await;
    let [call] = shop.service.calls(TOOL).try_into().expect("one call");
    assert_eq!(call.operation_id(), begun.operation);
    assert_eq!(call.body.get("callback_url"), None);
}
