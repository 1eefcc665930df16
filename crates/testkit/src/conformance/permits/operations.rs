//! Laws of the permits of operations, which run concurrently with their session.

use ports::Fenced;
use ports::leases::JobClaimed;
use ports::store::{OperationBegun, OperationCompleted, OperationKey};

use super::{IN_FLIGHT, RUNNING, open, open_some};
use crate::conformance::BackendFixture;
use crate::conformance::operations::{begin, done, new};
use crate::conformance::scene::*;

pub async fn an_accepted_operation_releases_and_reacquires_its_permit(
    fixture: &mut impl BackendFixture,
) {
    let ports = fixture.ports();
    let ann = user("ann");
    let turns = open_some(ports, &ann, RUNNING).await;
    let asking = claim(ports, &turns[0]).await;
    let begun = begin(ports, &asking, new("a")).await;
    let OperationBegun::New { operation, due: false } = begun else {
        panic!("no permit is free: {begun:?}")
    };
    let operations_turn = operation.task_id.turn();
    assert_eq!(try_claim(ports, &operations_turn).await, JobClaimed::NotReady);
    let due = finish(ports, &asking, "under way").await;
    assert_eq!(due, std::slice::from_ref(&operations_turn), "it waits like other turns");
    let beside = claim(ports, &operations_turn).await;
    let waiting = open(ports, &ann).await.expect("there is room");
    assert_eq!(
        try_claim(ports, &waiting).await,
        JobClaimed::NotReady,
        "it counts as a running turn"
    );
    ports.operations.accepted(&beside, LONG).await.expect("accepted");
    let other = claim(ports, &waiting).await;

    let which = OperationKey::Operation(operation.id.clone());
    let completed = ports.operations.complete(&which, done("built")).await.expect("complete");
    let expected = OperationCompleted::Done { task_id: operation.task_id.clone(), due: false };
    assert_eq!(completed, expected, "no permit is free");
    assert_eq!(try_claim(ports, &operations_turn).await, JobClaimed::NotReady);
    assert_eq!(finish(ports, &other, "done").await, std::slice::from_ref(&operations_turn));
    claim(ports, &operations_turn).await;
}

pub async fn operations_do_not_count_as_in_flight_turns(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let ann = user("ann");
    let first = open_some(ports, &ann, 1).await;
    let asking = claim(ports, &first[0]).await;
    for call in ["a", "b"] {
        assert!(matches!(begin(ports, &asking, new(call)).await, OperationBegun::New { .. }));
    }
    open_some(ports, &ann, IN_FLIGHT - 1).await;
    assert_eq!(open(ports, &ann).await, None);
}

pub async fn a_turn_does_not_wait_for_the_operations_of_its_session(
    fixture: &mut impl BackendFixture,
) {
    let ports = fixture.ports();
    let ann = user("ann");
    let mine = session(ports, &ann).await;
    let asking = turn(ports, &ann, &mine.id, "build it").await;
    let asking = claim(ports, &asking.id).await;
    assert!(matches!(begin(ports, &asking, new("a")).await, OperationBegun::New { due: true, .. }));
    finish(ports, &asking, "under way").await;
    let elsewhere = open_some(ports, &ann, RUNNING - 1).await;
    let next = turn(ports, &ann, &mine.id, "meanwhile").await;
    assert!(!next.admitted, "all permits are in use, one by the operation");
    let other = claim(ports, &elsewhere[0]).await;
    assert_eq!(finish(ports, &other, "done").await, [next.id]);
}

pub async fn an_operation_that_waits_for_its_session_releases_its_permit(
    fixture: &mut impl BackendFixture,
) {
    let ports = fixture.ports();
    let ann = user("ann");
    let first = open_some(ports, &ann, 1).await;
    let asking = claim(ports, &first[0]).await;
    let begun = begin(ports, &asking, new("a")).await;
    let OperationBegun::New { operation, due: true } = begun else { panic!("{begun:?}") };
    let beside = claim(ports, &operation.task_id.turn()).await;
    let others = open_some(ports, &ann, RUNNING - 1).await;
    let waiting = &others[RUNNING - 2];
    assert_eq!(try_claim(ports, waiting).await, JobClaimed::NotReady);
    let which = OperationKey::Operation(operation.id.clone());
    ports.operations.complete(&which, done("built")).await.expect("complete");
    let lined_up = ports.operations.line_up(&beside).await.expect("line up");
    assert_eq!(lined_up, Fenced::Done(false), "the turn that asked comes before it");
    claim(ports, waiting).await;
}
