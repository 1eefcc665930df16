//! Laws of `Executions`: deletion.

use ports::store::{ExecutionAdvance, ExecutionDeleted, ReviewVerdict};
use ports::{Fenced, Ports};
use protocol::ExecutionId;
use protocol::credit::CreditCharge;
use protocol::execution::ExecutionStatus;

use crate::conformance::BackendFixture;
use crate::conformance::agent_scene::*;

async fn delete(ports: &Ports, run: &ExecutionId) -> ExecutionDeleted {
    ports.executions.delete(&ann(), run).await.expect("deleting succeeds")
}

pub async fn an_ended_execution_can_be_deleted(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let (kept, run) = (queued_execution(ports).await, queued_execution(ports).await);
    let kept_claim = claim(ports, &kept.id).await;
    assert_ne!(advance(ports, &kept_claim, batch(0, 2)).await, Fenced::Stale);
    assert_eq!(delete(ports, &run.id).await, ExecutionDeleted::Open);
    let held = claim(ports, &run.id).await;
    let next = ExecutionAdvance {
        charges: vec![CreditCharge { key: "k".into(), amount: 4, what: "a node".into() }],
        reviews: vec![question(&run.id, "r", "n")],
        ..batch(0, 3)
    };
    assert_ne!(advance(ports, &held, next).await, Fenced::Stale);
    let verdict = ReviewVerdict {
        id: "r".into(),
        approved: true,
        message: None,
        data: None,
        for_the_rest: true,
    };
    ports.reviews.decide(&ann(), &[verdict]).await.expect("decide");
    assert_eq!(delete(ports, &run.id).await, ExecutionDeleted::Open);
    end(ports, &held, ExecutionStatus::Completed).await;

    assert_eq!(delete(ports, &run.id).await, ExecutionDeleted::Deleted);
    assert_eq!(delete(ports, &run.id).await, ExecutionDeleted::Missing);
    assert_eq!(ports.executions.get(&ann(), &run.id).await.expect("get"), None);
    assert_eq!(ports.executions.journal(&ann(), &run.id, 0, 1000).await.expect("journal"), []);
    assert_eq!(ports.reviews.of_execution(&ann(), &run.id).await.expect("reviews"), []);
    let approved = ports.reviews.approved_for_the_rest(&ann(), &run.id, &"n".into()).await;
    assert!(!approved.expect("approved"));
    assert_eq!(ports.credits.balance(&ann()).await.expect("balance"), -4, "charges are kept");
    assert_eq!(found(ports, &kept.id).await.events, 2);
    let journal = ports.executions.journal(&ann(), &kept.id, 0, 1000).await.expect("journal");
    assert_eq!(journal.len(), 1);
    assert_eq!(advance(ports, &held, batch(3, 1)).await, Fenced::Stale);
}

pub async fn a_deleted_execution_deletes_its_children(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let top = queued_execution(ports).await;
    let held = claim(ports, &top.id).await;
    let below = child(ports, &top.id).await;
    let leaf = child(ports, &below.id).await;
    let below_held = claim(ports, &below.id).await;
    end(ports, &below_held, ExecutionStatus::Completed).await;
    end(ports, &held, ExecutionStatus::Completed).await;
    assert_eq!(delete(ports, &top.id).await, ExecutionDeleted::Open, "a child is open");
    let leaf_held = claim(ports, &leaf.id).await;
    end(ports, &leaf_held, ExecutionStatus::Completed).await;
    assert_eq!(delete(ports, &top.id).await, ExecutionDeleted::Deleted);
    for gone in [top.id, below.id, leaf.id] {
        assert_eq!(ports.executions.get(&ann(), &gone).await.expect("get"), None);
    }
}
