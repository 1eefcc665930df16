//! Laws of `Leases`.

use futures::future::join_all;
use ports::Fenced;
use ports::leases::{LeaseRenewal, TurnClaimed};
use protocol::turn::TurnStatus;

use super::BackendFixture;
use super::scene::*;

#[macro_export]
macro_rules! leases_laws {
    ($fixture:ty) => {
        $crate::laws!($fixture, leases:
            a_turn_has_one_holder,
            a_claim_repeated_by_its_worker_is_the_same_claim,
            every_claim_raises_the_fence,
            a_renewal_after_a_new_claim_fails,
            a_renewed_lease_stays_valid,
            a_session_runs_one_turn_at_a_time,
            a_handed_back_turn_does_not_count_as_crashed,
            a_renewal_reports_a_cancel,
            an_ended_turn_cannot_be_claimed,
            a_turn_of_a_dead_process_can_be_claimed_at_once,
        );
    };
}

pub async fn a_turn_has_one_holder(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let (ann, _, turn) = first_turn(ports).await;
    let workers: Vec<_> = (0..20).map(|_| worker()).collect();
    let claims = workers.iter().map(|worker| ports.leases.claim(&turn.id, worker, LONG));
    let claimed = join_all(claims).await;
    let won: Vec<_> = claimed
        .iter()
        .filter_map(|claimed| match claimed.as_ref().expect("claim") {
            TurnClaimed::Granted { claim, turn, .. } => Some((claim, turn)),
            TurnClaimed::Held => None,
            other => panic!("{other:?}"),
        })
        .collect();
    let [(claim, turn)] = won.as_slice() else { panic!("one holder, not {won:?}") };
    assert_eq!((turn.status, turn.attempt, turn.fence), (TurnStatus::Running, 1, claim.fence));
    let stored = ports.turns.get(&ann, &turn.id).await.expect("get").expect("it exists");
    assert_eq!(stored, ***turn);
}

pub async fn a_claim_repeated_by_its_worker_is_the_same_claim(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let (_, _, turn) = first_turn(ports).await;
    let me = worker();
    let first = ports.leases.claim(&turn.id, &me, LONG).await.expect("claim");
    assert!(matches!(first, TurnClaimed::Granted { .. }));
    assert_eq!(ports.leases.claim(&turn.id, &me, LONG).await.expect("claim"), first);
    let other = ports.leases.claim(&turn.id, &worker(), LONG).await.expect("claim");
    assert_eq!(other, TurnClaimed::Held);
}

pub async fn every_claim_raises_the_fence(fixture: &mut impl BackendFixture) {
    let (ann, _, turn) = first_turn(fixture.ports()).await;
    let mut before = 0;
    for attempt in 1..=4 {
        let claim = claim_for(fixture.ports(), &turn.id, SHORT).await;
        assert!(claim.fence > before);
        before = claim.fence;
        let found =
            fixture.ports().turns.get(&ann, &turn.id).await.expect("get").expect("it exists");
        assert_eq!((found.attempt, found.fence), (attempt, claim.fence));
        if attempt == 2 {
            fixture.restart().await;
        }
    }
}

pub async fn a_renewal_after_a_new_claim_fails(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let (_, _, turn) = first_turn(ports).await;
    let old = claim_for(ports, &turn.id, SHORT).await;
    let new = claim_for(ports, &turn.id, LONG).await;
    assert_eq!(ports.leases.renew(&old, LONG).await.expect("renew"), LeaseRenewal::Lost);
    let held = LeaseRenewal::Held { cancel_requested: false };
    assert_eq!(ports.leases.renew(&new, LONG).await.expect("renew"), held);
    finish(ports, &new, "done").await;
    assert_eq!(ports.leases.renew(&new, LONG).await.expect("renew"), LeaseRenewal::Lost);
}

pub async fn a_renewed_lease_stays_valid(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let (_, _, turn) = first_turn(ports).await;
    let claim = claim_for(ports, &turn.id, SHORT).await;
    assert_eq!(
        ports.leases.renew(&claim, LONG).await.expect("renew"),
        LeaseRenewal::Held { cancel_requested: false }
    );
    tokio::time::sleep(2 * SHORT).await;
    let second = ports.leases.claim(&turn.id, &worker(), LONG).await.expect("claim");
    assert_eq!(second, TurnClaimed::Held);
    assert_eq!(due(ports).await, []);
}

pub async fn a_session_runs_one_turn_at_a_time(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let (ann, mine, first) = first_turn(ports).await;
    let second = turn(ports, &ann, &mine.id, "second").await;
    let claim_second =
        || async { ports.leases.claim(&second.id, &worker(), LONG).await.expect("claim") };
    assert_eq!(
        claim_second().await,
        TurnClaimed::NotAdmitted,
        "the first turn was accepted earlier"
    );
    let first_claim = claim_for(ports, &first.id, SHORT).await;
    assert_eq!(claim_second().await, TurnClaimed::NotAdmitted);
    tokio::time::sleep(2 * SHORT).await;
    assert_eq!(
        claim_second().await,
        TurnClaimed::NotAdmitted,
        "an expired lease does not end a turn"
    );
    assert_eq!(ports.leases.hand_back(&first_claim).await.expect("back"), Fenced::Done(()));
    assert_eq!(claim_second().await, TurnClaimed::NotAdmitted, "nor does handing it back");
    let first_claim = claim(ports, &first.id).await;
    finish(ports, &first_claim, "one").await;
    assert!(matches!(claim_second().await, TurnClaimed::Granted { .. }));
    let (_, _, elsewhere) = first_turn(ports).await;
    claim(ports, &elsewhere.id).await;
}

pub async fn a_handed_back_turn_does_not_count_as_crashed(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let (ann, _, turn) = first_turn(ports).await;
    let mut fence = 0;
    for _ in 0..5 {
        let claim = claim(ports, &turn.id).await;
        assert!(claim.fence > fence);
        fence = claim.fence;
        assert_eq!(ports.leases.hand_back(&claim).await.expect("back"), Fenced::Done(()));
        assert_eq!(ports.leases.hand_back(&claim).await.expect("back"), Fenced::Stale);
        assert_eq!(due(ports).await, std::slice::from_ref(&turn.id));
        let found = ports.turns.get(&ann, &turn.id).await.expect("get").expect("it exists");
        assert_eq!((found.status, found.attempt), (TurnStatus::Queued, 0));
        assert_eq!(ports.leases.renew(&claim, LONG).await.expect("renew"), LeaseRenewal::Lost);
    }
}

pub async fn a_renewal_reports_a_cancel(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let (ann, mine, turn) = first_turn(ports).await;
    let claim = claim(ports, &turn.id).await;
    ports.turns.request_cancel(&ann, &mine.id).await.expect("cancel");
    let renewal = ports.leases.renew(&claim, LONG).await.expect("renew");
    assert_eq!(renewal, LeaseRenewal::Held { cancel_requested: true });
}

pub async fn an_ended_turn_cannot_be_claimed(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let (_, _, turn) = first_turn(ports).await;
    let claim = claim(ports, &turn.id).await;
    finish(ports, &claim, "done").await;
    for gone in [turn.id, "no such turn".into()] {
        let claimed = ports.leases.claim(&gone, &worker(), LONG).await.expect("claim");
        assert_eq!(claimed, TurnClaimed::Ended);
    }
}

pub async fn a_turn_of_a_dead_process_can_be_claimed_at_once(fixture: &mut impl BackendFixture) {
    let (_, _, turn) = first_turn(fixture.ports()).await;
    let old = claim_for(fixture.ports(), &turn.id, SHORT).await;
    fixture.restart().await;
    let new = claim(fixture.ports(), &turn.id).await;
    assert!(new.fence > old.fence);
    let late = fixture.ports().leases.renew(&old, LONG).await.expect("renew");
    assert_eq!(late, LeaseRenewal::Lost);
}
