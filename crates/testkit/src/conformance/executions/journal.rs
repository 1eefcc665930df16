//! Laws of `Executions`: the journal of node executions, and the end of an execution.

use bytes::Bytes;
use futures::future::join_all;
use ports::store::{AfterAdvance, ExecutionAdvance, ExecutionAdvanced, JournalBatch};
use ports::{Fenced, PortError, Ports};
use protocol::ExecutionId;
use protocol::credit::{CreditCharge, TransactionKind};
use protocol::execution::{ExecutionError, ExecutionStats, ExecutionStatus};

use crate::conformance::BackendFixture;
use crate::conformance::agent_scene::*;

const DONE: Fenced<ExecutionAdvanced> = Fenced::Done(ExecutionAdvanced::Done);

async fn journal(ports: &Ports, run: &ExecutionId, after: u64, bytes: usize) -> Vec<JournalBatch> {
    ports.executions.journal(&ann(), run, after, bytes).await.expect("the journal is read")
}

fn places(batches: &[JournalBatch]) -> Vec<(u64, u64)> {
    batches.iter().map(|batch| (batch.first, batch.count)).collect()
}

pub async fn the_journal_is_dense(fixture: &mut impl BackendFixture) {
    let run = queued_execution(fixture.ports()).await;
    let held = claim(fixture.ports(), &run.id).await;
    let ports = fixture.ports();
    assert_eq!(journal(ports, &run.id, 0, 1000).await, []);
    for (after, count) in [(0, 3), (3, 1), (4, 0), (4, 2)] {
        assert_eq!(advance(ports, &held, batch(after, count)).await, DONE);
    }
    for after in [0, 4, 5, 7] {
        let elsewhere = ports.executions.advance(&held, batch(after, 1)).await;
        assert!(matches!(elsewhere, Err(PortError::Broken(_))), "at {after}: {elsewhere:?}");
    }
    let before = found(ports, &run.id).await;
    assert_eq!((before.events, before.stats.node_count), (6, 6));
    fixture.restart().await;
    let read = journal(fixture.ports(), &run.id, 0, 100_000).await;
    assert_eq!(places(&read), [(0, 3), (3, 1), (4, 2)]);
    assert_eq!(read[0].events, batch(0, 3).events, "byte for byte");
    assert_eq!(found(fixture.ports(), &run.id).await, before);
}

pub async fn the_journal_is_read_in_whole_batches(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let (run, other) = (
        queued_execution(ports).await,
        crate::conformance::agent_scene::queued_execution(ports).await,
    );
    let (held, elsewhere) = (claim(ports, &run.id).await, claim(ports, &other.id).await);
    for after in (0..20).step_by(4) {
        advance(ports, &held, batch(after, 4)).await;
        advance(ports, &elsewhere, batch(after, 4)).await;
    }
    let all = journal(ports, &run.id, 0, 1_000_000).await;
    assert_eq!(places(&all), [(0, 4), (4, 4), (8, 4), (12, 4), (16, 4)]);
    assert_eq!(journal(ports, &run.id, 0, 1).await, all[..1], "at least one");
    let two = all[1].events.len() + 1;
    assert_eq!(journal(ports, &run.id, 4, two).await, all[1..3], "about that many bytes");
    assert_eq!(
        journal(ports, &run.id, 9, 1_000_000).await,
        all[2..],
        "the whole batch that contains it"
    );
    assert_eq!(journal(ports, &run.id, 20, 1_000_000).await, []);
    assert_eq!(journal(ports, &"no such execution".into(), 0, 1).await, []);
}

pub async fn a_repeated_batch_is_written_once(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let run = queued_execution(ports).await;
    let held = claim(ports, &run.id).await;
    let charge = CreditCharge { key: "k".into(), amount: 5, what: "a node".into() };
    let first = ExecutionAdvance { charges: vec![charge], ..batch(0, 2) };
    for _ in 0..3 {
        assert_eq!(advance(ports, &held, first.clone()).await, DONE);
    }
    assert_eq!(places(&journal(ports, &run.id, 0, 1000).await), [(0, 2)]);
    assert_eq!(ports.credits.balance(&ann()).await.expect("balance"), -5);
    let mut differs = batch(0, 2);
    differs.events = Bytes::from_static(b"[1, 2]");
    let differs = ports.executions.advance(&held, differs).await;
    assert!(
        matches!(differs, Err(PortError::Broken(_))),
        "another batch at the same position: {differs:?}"
    );

    // Also for batches that release the claim.
    let rest = ExecutionAdvance { reviews: vec![question(&run.id, "r", "n")], ..batch(2, 1) };
    let rest = ExecutionAdvance { then: AfterAdvance::AwaitReviews, ..rest };
    for _ in 0..2 {
        assert_eq!(advance(ports, &held, rest.clone()).await, DONE);
    }
    assert_eq!(advance(ports, &held, batch(3, 1)).await, Fenced::Stale);
    assert_eq!(places(&journal(ports, &run.id, 0, 1000).await), [(0, 2), (2, 1)]);
}

pub async fn a_batch_is_written_with_its_charges_and_reviews(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let run = queued_execution(ports).await;
    let held = claim(ports, &run.id).await;
    let asked = question(&run.id, "r", "n");
    let charge =
        |n: u32| CreditCharge { key: format!("k{n}"), amount: 7, what: format!("node {n}") };
    let full = ExecutionAdvance {
        charges: vec![charge(1), charge(2)],
        reviews: vec![asked.clone()],
        ..batch(0, 2)
    };
    let refused =
        ports.executions.advance(&held, ExecutionAdvance { after: 1, ..full.clone() }).await;
    assert!(matches!(refused, Err(PortError::Broken(_))), "{refused:?}");
    assert_eq!(ports.credits.balance(&ann()).await.expect("balance"), 0, "all or nothing");
    assert_eq!(ports.reviews.get(&ann(), &asked.id).await.expect("get"), None);

    assert_eq!(advance(ports, &held, full.clone()).await, DONE);
    assert_eq!(ports.reviews.get(&ann(), &asked.id).await.expect("get"), Some(asked.clone()));
    // Existing charges and reviews are not changed.
    let mut again = batch(2, 1);
    again.charges = vec![charge(2), charge(3)];
    again.reviews = vec![protocol::review::Review { instructions: "else".into(), ..asked.clone() }];
    assert_eq!(advance(ports, &held, again).await, DONE);
    assert_eq!(ports.reviews.get(&ann(), &asked.id).await.expect("get"), Some(asked));
    assert_eq!(ports.credits.balance(&ann()).await.expect("balance"), -21);
    let ledger = ports.credits.transactions(&ann(), 10, 0).await.expect("transactions");
    let last = &ledger[0];
    assert_eq!((last.transaction_key.as_str(), last.amount), ("k3", -7));
    assert_eq!((last.transaction_type, last.running_balance), (TransactionKind::Usage, -21));
    assert_eq!((last.description.as_str(), ledger.len()), ("node 3", 3));
}

pub async fn many_executions_advance_at_once(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let mut runs = Vec::new();
    for _ in 0..10 {
        let run = queued_execution(ports).await;
        runs.push((claim(ports, &run.id).await, run));
    }
    let advances = runs.iter().map(|(held, _)| async move {
        for n in 0..20 {
            let charge = CreditCharge {
                key: format!("{}:{n}", held.execution_id),
                amount: 1,
                what: "n".into(),
            };
            let next = ExecutionAdvance { charges: vec![charge], ..batch(3 * n, 3) };
            assert_eq!(advance(ports, held, next).await, DONE);
        }
    });
    join_all(advances).await;
    for (_, run) in &runs {
        assert_eq!(found(ports, &run.id).await.events, 60);
        let places = places(&journal(ports, &run.id, 0, 1_000_000).await);
        assert_eq!(places, (0..20).map(|n| (3 * n, 3)).collect::<Vec<_>>());
    }
    assert_eq!(ports.credits.balance(&ann()).await.expect("balance"), -200);
}

pub async fn an_execution_ends_once(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let run = queued_execution(ports).await;
    let held = claim(ports, &run.id).await;
    let goes_on = AfterAdvance::End { status: ExecutionStatus::Review, error: None };
    let no_end =
        ports.executions.advance(&held, ExecutionAdvance { then: goes_on, ..batch(0, 0) }).await;
    assert!(matches!(no_end, Err(PortError::Broken(_))), "{no_end:?}");
    let error = ExecutionError { code: "no_funds".into(), message: "no credits are left".into() };
    let failed = AfterAdvance::End { status: ExecutionStatus::Failed, error: Some(error.clone()) };
    let stats = ExecutionStats {
        cost: 3,
        duration: 2.25,
        node_count: 1,
        node_error_count: 1,
        is_dry_run: true,
    };
    let last = ExecutionAdvance { then: failed, stats: stats.clone(), ..batch(0, 1) };
    for _ in 0..2 {
        assert_eq!(advance(ports, &held, last.clone()).await, DONE, "also when it is repeated");
    }
    let ended = found(ports, &run.id).await;
    assert_eq!((ended.status, ended.error.clone()), (ExecutionStatus::Failed, Some(error)));
    assert_eq!((ended.stats.clone(), ended.events), (stats, 1));
    assert!(ended.ended_at.is_some());
    let other = AfterAdvance::End { status: ExecutionStatus::Completed, error: None };
    for late in [batch(1, 1), ExecutionAdvance { then: other, ..batch(1, 0) }] {
        assert_eq!(advance(ports, &held, late).await, Fenced::Stale);
    }
    let stopped = ports.executions.request_stop(&ann(), &run.id).await.expect("stop");
    assert_eq!(stopped, Some(vec![ended.clone()]), "a stop changes nothing");
    assert_eq!(found(ports, &run.id).await, ended);
    assert_eq!(due(ports).await, []);
}
