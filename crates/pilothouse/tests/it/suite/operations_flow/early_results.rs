//! Results that arrive before the service has answered the request for the work.

use serde_json::json;
use testkit::external_service::{ReceivedCallEnd, ServiceResponse};
use testkit::model_server::Gate;

use super::{DONE, OperationServer, TOOL, content, film, finished, shown};
use crate::events::text_of;

#[tokio::test]
async fn a_result_that_comes_before_the_work_was_accepted_counts() {
    let setup = OperationServer::start().await;
    let gate = Gate::closed();
    setup.service.answer(TOOL, ServiceResponse::accepted().held_by(&gate));
    let begun = setup.begin().await;
    setup.call_of(&begun.operation).await;
    setup.complete(&begun.operation, &film()).await;
    assert_eq!(content(&setup.row(&begun.session).await), json!({"file": "film.mp4"}));
    gate.open();
    let (events, end) = setup.to_the_end(&begun.task).await;
    assert_eq!((end, text_of(&events)), (finished(), DONE.to_owned()));
    assert_eq!(*shown(&events), json!({"file": "film.mp4"}));
    assert_eq!((setup.continuations().len(), setup.service.calls(TOOL).len()), (1, 1));
    setup.model.assert_no_violations();
}

#[tokio::test]
async fn a_reported_result_ends_the_wait_for_the_response_of_the_service() {
    let setup = OperationServer::start().await;
    setup.service.answer(TOOL, ServiceResponse::never());
    let begun = setup.begin().await;
    setup.call_of(&begun.operation).await;
    setup.complete(&begun.operation, &film()).await;
    let (events, end) = setup.to_the_end(&begun.task).await;
    assert_eq!((end, text_of(&events)), (finished(), DONE.to_owned()));
    assert_eq!(*shown(&events), json!({"file": "film.mp4"}));
    setup.service.wait_until_left(TOOL, 0).await;
}

#[tokio::test]
async fn the_first_of_two_results_counts() {
    let setup = OperationServer::start().await;
    let gate = Gate::closed();
    setup.service.answer(TOOL, ServiceResponse::json(json!({"file": "other.mp4"})).held_by(&gate));
    let begun = setup.begin().await;
    setup.call_of(&begun.operation).await;
    setup.complete(&begun.operation, &film()).await;
    gate.open();
    let (events, _) = setup.to_the_end(&begun.task).await;
    assert_eq!(*shown(&events), json!({"file": "film.mp4"}));
    assert_eq!(content(&setup.row(&begun.session).await), json!({"file": "film.mp4"}));
    assert_eq!(setup.continuations().len(), 1);
    assert_ne!(setup.service.calls(TOOL)[0].ending, ReceivedCallEnd::Open);
}
