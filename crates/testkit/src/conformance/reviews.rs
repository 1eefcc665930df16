//! Laws of `Reviews`.

use futures::future::join_all;
use ports::Ports;
use ports::leases::JobClaimed;
use ports::store::{ExecutionAdvance, ReviewVerdict, ReviewsDecided};
use protocol::execution::ExecutionStatus;
use protocol::review::{Review, ReviewStatus, session_execution_id};
use serde_json::json;

use super::BackendFixture;
use super::agent_scene::*;

#[macro_export]
macro_rules! reviews_laws {
    ($fixture:ty) => {
        $crate::laws!($fixture, reviews:
            a_review_is_decided_once,
            decisions_are_stored_together_or_not_at_all,
            the_last_decision_makes_the_execution_due,
            a_decision_can_edit_what_may_be_edited,
            the_same_review_is_requested_once,
            an_approval_can_hold_for_the_rest_of_an_execution,
            a_review_is_seen_by_its_user_only,
            a_decided_review_can_be_removed,
        );
    };
}

fn verdict(id: &str, approved: bool) -> ReviewVerdict {
    ReviewVerdict { id: id.into(), approved, message: None, data: None, for_the_rest: false }
}

async fn decide(ports: &Ports, verdicts: &[ReviewVerdict]) -> ReviewsDecided {
    ports.reviews.decide(&ann(), verdicts).await.expect("deciding succeeds")
}

async fn get(ports: &Ports, id: &str) -> Review {
    ports.reviews.get(&ann(), &id.into()).await.expect("get").expect("the review exists")
}

pub async fn a_review_is_decided_once(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let run = waiting_for_review(ports, &["r"]).await;
    let verdicts: Vec<ReviewVerdict> = (0..20)
        .map(|n| ReviewVerdict { message: Some(format!("said {n}")), ..verdict("r", n % 2 == 0) })
        .collect();
    let decided =
        join_all(verdicts.iter().map(|one| decide(ports, std::slice::from_ref(one)))).await;
    let won: Vec<usize> =
        (0..20).filter(|n| matches!(decided[*n], ReviewsDecided::Done { .. })).collect();
    let [won] = won.as_slice() else { panic!("one of them, not {won:?}") };
    assert_eq!(
        decided.iter().filter(|one| **one == ReviewsDecided::Before("r".into())).count(),
        19
    );
    let ReviewsDecided::Done { reviews, execution, due } = &decided[*won] else {
        panic!("it is done")
    };
    assert_eq!((execution, *due), (&run.id, true));
    let now = get(ports, "r").await;
    assert_eq!(reviews.as_slice(), std::slice::from_ref(&now));
    let approved = won.is_multiple_of(2);
    let status = if approved { ReviewStatus::Approved } else { ReviewStatus::Rejected };
    assert_eq!((now.status, now.review_message.clone()), (status, Some(format!("said {won}"))));
    assert!(now.reviewed_at.is_some() && !now.was_edited);
    assert_eq!(now.decision().expect("it is decided").approved, approved);
}

pub async fn decisions_are_stored_together_or_not_at_all(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let run = waiting_for_review(ports, &["a", "b", "c"]).await;
    let other = waiting_for_review(ports, &["else"]).await;
    decide(ports, &[verdict("c", true)]).await;
    let place = session_execution_id(&"s".into());
    let fixed = Review { editable: false, ..question(&place, "fixed", "n") };
    ports.reviews.ask(&question(&place, "free", "m")).await.expect("ask");
    ports.reviews.ask(&fixed).await.expect("ask");
    let edit = ReviewVerdict { data: Some(json!("else")), ..verdict("fixed", true) };
    let (a, else_) = (verdict("a", true), verdict("else", true));
    for (verdicts, expected) in [
        (vec![a.clone(), verdict("none", true)], ReviewsDecided::Unknown("none".into())),
        (vec![a.clone(), else_], ReviewsDecided::Mixed),
        (vec![a.clone(), verdict("c", true)], ReviewsDecided::Before("c".into())),
        (vec![a.clone(), a.clone()], ReviewsDecided::Before("a".into())),
        (vec![verdict("free", true), edit], ReviewsDecided::NotEditable("fixed".into())),
    ] {
        assert_eq!(decide(ports, &verdicts).await, expected);
    }
    for id in ["a", "b", "else", "free", "fixed"] {
        assert_eq!(get(ports, id).await.status, ReviewStatus::Waiting, "{id}");
    }
    ports.executions.request_stop(&ann(), &other.id).await.expect("stop");
    ports.reviews.ask(&question(&other.id, "late", "n")).await.expect("ask");
    assert_eq!(decide(ports, &[verdict("late", true)]).await, ReviewsDecided::Ended);
    assert_eq!(get(ports, "late").await.status, ReviewStatus::Waiting);

    let both = decide(ports, &[verdict("a", true), verdict("b", false)]).await;
    let ReviewsDecided::Done { reviews, due: true, .. } = both else { panic!("{both:?}") };
    let statuses: Vec<_> = reviews.iter().map(|review| review.status).collect();
    assert_eq!(statuses, [ReviewStatus::Approved, ReviewStatus::Rejected]);
    let all = ports.reviews.of_execution(&ann(), &run.id).await.expect("reviews");
    let ids: Vec<_> = all.iter().map(|review| review.id.as_str()).collect();
    assert_eq!(ids, ["a", "b", "c"], "decided or not, oldest first");
}

pub async fn the_last_decision_makes_the_execution_due(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let run = waiting_for_review(ports, &["a", "b"]).await;
    let first = decide(ports, &[verdict("a", true)]).await;
    assert!(matches!(first, ReviewsDecided::Done { due: false, .. }), "{first:?}");
    assert_eq!(try_claim(ports, &run.id).await, JobClaimed::NotReady);
    assert_eq!(due(ports).await, []);
    let last = decide(ports, &[verdict("b", false)]).await;
    assert!(matches!(last, ReviewsDecided::Done { due: true, .. }), "{last:?}");
    assert_eq!(found(ports, &run.id).await.status, ExecutionStatus::Queued);
    assert_eq!(due(ports).await, std::slice::from_ref(&run.id));
    let held = claim(ports, &run.id).await;
    assert_eq!(found(ports, &run.id).await.attempt, 1);
    // A running execution needs no wake-up.
    let asks = ExecutionAdvance { reviews: vec![question(&run.id, "c", "n")], ..batch(1, 1) };
    advance(ports, &held, asks).await;
    let running = decide(ports, &[verdict("c", true)]).await;
    assert!(matches!(running, ReviewsDecided::Done { due: false, .. }), "{running:?}");
    assert_eq!(due(ports).await, []);
    end(ports, &held, ExecutionStatus::Completed).await;
}

pub async fn a_decision_can_edit_what_may_be_edited(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    waiting_for_review(ports, &["a", "b"]).await;
    let before = get(ports, "a").await.payload;
    let edited = json!({"send": ["that"], "ü": "\u{0}x"});
    let verdicts = [
        ReviewVerdict { data: Some(edited.clone()), ..verdict("a", true) },
        ReviewVerdict { data: Some(before.clone()), ..verdict("b", true) },
    ];
    decide(ports, &verdicts).await;
    let (a, b) = (get(ports, "a").await, get(ports, "b").await);
    assert_eq!((a.payload, a.was_edited), (edited, true));
    assert_eq!((b.payload, b.was_edited), (before, false), "the same value is not an edit");
}

pub async fn the_same_review_is_requested_once(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let place = session_execution_id(&"s".into());
    let ask = async |review: Review| ports.reviews.ask(&review).await.expect("ask");
    let first = question(&place, "call-1", "block");
    assert_eq!(ask(first.clone()).await, first);
    assert_eq!(ask(question(&place, "call-2", "block")).await, first);
    let mut other = question(&place, "call-3", "block");
    other.payload = json!({"send": ["else"]});
    assert_eq!(ask(other.clone()).await, other);
    for elsewhere in [
        question(&place, "call-4", "another block"),
        question(&session_execution_id(&"t".into()), "call-5", "block"),
    ] {
        assert_eq!(ask(elsewhere.clone()).await, elsewhere);
    }
    let decided = decide(ports, &[verdict("call-1", true)]).await;
    let ReviewsDecided::Done { execution, due, .. } = decided else { panic!("{decided:?}") };
    assert_eq!((execution, due), (place.clone(), false), "no execution waits for it");
    let again = question(&place, "call-6", "block");
    assert_eq!(ask(again.clone()).await, again, "a decided review does not answer a new request");
    let (_, total) = ports.reviews.pending(&ann(), 10, 0).await.expect("pending");
    assert_eq!(total, 4);
    let (page, total) = ports.reviews.pending(&ann(), 1, 1).await.expect("pending");
    assert_eq!((page[0].id.as_str(), page.len(), total), ("call-4", 1, 4));
}

pub async fn an_approval_can_hold_for_the_rest_of_an_execution(fixture: &mut impl BackendFixture) {
    let run = waiting_for_review(fixture.ports(), &["a", "b", "c"]).await;
    let rest = |id: &str, approved| ReviewVerdict { for_the_rest: true, ..verdict(id, approved) };
    let ports = fixture.ports();
    decide(ports, &[rest("a", true), rest("b", false), verdict("c", true)]).await;
    assert!(ports.reviews.remove(&ann(), &"a".into()).await.expect("remove"));
    fixture.restart().await;
    let ports = fixture.ports();
    let holds = async |node: &str| {
        let node = node.into();
        ports.reviews.approved_for_the_rest(&ann(), &run.id, &node).await.expect("looking succeeds")
    };
    assert!(holds("node of a").await);
    assert!(!holds("node of b").await, "it was rejected");
    assert!(!holds("node of c").await, "it was approved this once");
    let node = "node of a".into();
    let elsewhere = ports.reviews.approved_for_the_rest(&ann(), &"else".into(), &node).await;
    assert!(!elsewhere.expect("looking succeeds"));
    let others = ports.reviews.approved_for_the_rest(&bob(), &run.id, &node).await;
    assert!(!others.expect("looking succeeds"));
}

pub async fn a_review_is_seen_by_its_user_only(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let run = waiting_for_review(ports, &["r"]).await;
    let reviews = &ports.reviews;
    assert_eq!(reviews.get(&bob(), &"r".into()).await.expect("get"), None);
    assert_eq!(reviews.pending(&bob(), 10, 0).await.expect("pending"), (Vec::new(), 0));
    assert_eq!(reviews.of_execution(&bob(), &run.id).await.expect("reviews"), []);
    let decided = reviews.decide(&bob(), &[verdict("r", true)]).await.expect("decide");
    assert_eq!(decided, ReviewsDecided::Unknown("r".into()));
    assert!(!reviews.remove(&bob(), &"r".into()).await.expect("remove"));
    // Call ids come from models and can be the same for two users.
    let place = session_execution_id(&"of bob".into());
    let his = Review { user_id: bob(), ..question(&place, "r", "n") };
    assert_eq!(reviews.ask(&his).await.expect("ask"), his);
    assert_eq!(get(ports, "r").await.execution_id, run.id);
}

pub async fn a_decided_review_can_be_removed(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let place = session_execution_id(&"s".into());
    ports.reviews.ask(&question(&place, "r", "n")).await.expect("ask");
    decide(ports, &[verdict("r", true)]).await;
    assert!(ports.reviews.remove(&ann(), &"r".into()).await.expect("remove"));
    assert!(!ports.reviews.remove(&ann(), &"r".into()).await.expect("remove"));
    assert_eq!(ports.reviews.get(&ann(), &"r".into()).await.expect("get"), None);
}
