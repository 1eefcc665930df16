//! Results that arrive before the service has answered the request for the work.

use serde_json::json;
use testkit::external_service::{Answer, Ending};
use testkit::model_server::Gate;

use super::{DONE, TOOL, Workshop, content, film, finished, shown};
use crate::events::text_of;

#[tokio::test]
async fn a_result_that_comes_before_the_work_was_accepted_counts() {
    let shop = Workshop::start().await;
    let gate = Gate::closed();
    shop.service.answer(TOOL, Answer::accepted().held_by(&gate));
    let begun = shop.begin().await;
    shop.call_of(&begun.operation).await;
    shop.complete(&begun.operation, &film()).await;
    assert_eq!(content(&shop.row(&begun.session).await), json!({"file": "film.mp4"}));
    gate.open();
    let (events, end) = shop.to_the_end(&begun.task).await;
    assert_eq!((end, text_of(&events)), (finished(), DONE.to_owned()));
    assert_eq!(*shown(&events), json!({"file": "film.mp4"}));
    assert_eq!((shop.continuations().len(), shop.service.calls(TOOL).len()), (1, 1));
    shop.model.assert_no_violations();
}

#[tokio::test]
async fn a_reported_result_ends_the_wait_for_the_response_of_the_service() {
    let shop = Workshop::start().await;
    shop.service.answer(TOOL, Answer::never());
    let begun = shop.begin().await;
    shop.call_of(&begun.operation).await;
    shop.complete(&begun.operation, &film()).await;
    let (events, end) = shop.to_the_end(&begun.task).await;
    assert_eq!((end, text_of(&events)), (finished(), DONE.to_owned()));
    assert_eq!(*shown(&events), json!({"file": "film.mp4"}));
    shop.service.wait_until_left(TOOL, 0).await;
}

#[tokio::test]
async fn the_first_of_two_results_counts() {
    let shop = Workshop::start().await;
    let gate = Gate::closed();
    shop.service.answer(TOOL, Answer::json(json!({"file": "other.mp4"})).held_by(&gate));
    let begun = shop.begin().await;
    shop.call_of(&begun.operation).await;
    shop.complete(&begun.operation, &film()).await;
    gate.open();
    let (events, _) = shop.to_the_end(&begun.task).await;
    assert_eq!(*shown(&events), json!({"file": "film.mp4"}));
    assert_eq!(content(&shop.row(&begun.session).await), json!({"file": "film.mp4"}));
    assert_eq!(shop.continuations().len(), 1);
    assert_ne!(shop.service.calls(TOOL)[0].ending, Ending::Open);
}
