//! Laws of the permits of turns that only wait for other work.

use futures::future::join_all;
use ports::leases::LeaseRenewal;
use ports::{Fenced, Ports};
use protocol::TurnId;
use protocol::session::Owner;
use protocol::turn::TurnClaim;

use super::{IN_FLIGHT, RUNNING, open_some};
use crate::conformance::BackendFixture;
use crate::conformance::scene::*;

async fn step_aside(ports: &Ports, claim: &TurnClaim) -> Vec<TurnId> {
    match ports.turns.step_aside(claim).await.expect("step aside") {
        Fenced::Done(due) => due,
        Fenced::Stale => panic!("the claim is current"),
    }
}

async fn step_back(ports: &Ports, claim: &TurnClaim) -> bool {
    match ports.turns.step_back(claim).await.expect("step back") {
        Fenced::Done(has_permit) => has_permit,
        Fenced::Stale => panic!("the claim is current"),
    }
}

/// Opens as many turns as may be in flight, and claims as many as may run.
async fn use_all_permits(ports: &Ports, owner: &Owner) -> (Vec<TurnClaim>, Vec<TurnId>) {
    let turns = open_some(ports, owner, IN_FLIGHT).await;
    let claims = join_all(turns[..RUNNING].iter().map(|turn| claim(ports, turn))).await;
    (claims, turns[RUNNING..].to_vec())
}

pub async fn a_yielded_permit_goes_to_the_next_turn(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let ann = user("ann");
    let (claims, waiting) = use_all_permits(ports, &ann).await;
    assert!(step_back(ports, &claims[0]).await, "a turn that has not yielded keeps its permit");
    assert_eq!(step_aside(ports, &claims[0]).await, waiting[..1]);
    assert_eq!(step_aside(ports, &claims[0]).await, [], "once");
    assert!(found(ports, &ann, &claims[0].turn_id).await.aside);
    assert_eq!(due(ports).await, waiting[..1]);
    let renewed = ports.leases.renew(&(&claims[0]).into(), LONG).await.expect("renew");
    let held = LeaseRenewal::Held { stop_requested: false };
    assert_eq!(renewed, held, "the worker keeps its lease");
    assert_eq!(finish(ports, &claims[0], "done").await, [], "it had no permit to pass on");
    assert_eq!(finish(ports, &claims[1], "done").await, waiting[1..2]);
    let late = ports.turns.step_aside(&claims[1]).await.expect("step aside");
    assert_eq!(late, Fenced::Stale);
    assert_eq!(ports.turns.step_back(&claims[1]).await.expect("step back"), Fenced::Stale);
}

pub async fn turns_reacquiring_a_permit_come_before_new_turns(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let (claims, waiting) = use_all_permits(ports, &user("ann")).await;
    for claim in &claims[..2] {
        step_aside(ports, claim).await;
    }
    let next = claim(ports, &waiting[0]).await;
    assert!(!step_back(ports, &claims[1]).await);
    assert!(!step_back(ports, &claims[0]).await);
    assert_eq!(
        finish(ports, &claims[2], "done").await,
        [],
        "the permit goes to a turn that reacquires one"
    );
    assert!(step_back(ports, &claims[0]).await, "to the oldest such turn");
    assert!(!step_back(ports, &claims[1]).await);
    finish(ports, &next, "done").await;
    assert!(step_back(ports, &claims[1]).await);
    assert!(!due(ports).await.contains(&waiting[2]));
    let due = finish(ports, &claims[0], "done").await;
    assert_eq!(due, waiting[2..], "then the new turns");
}

pub async fn reacquiring_permits_never_exceeds_the_limit(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let ann = user("ann");
    let (mut claims, waiting) = use_all_permits(ports, &ann).await;
    for claim in &claims {
        step_aside(ports, claim).await;
    }
    for turn in &waiting {
        let claim = claim(ports, turn).await;
        step_aside(ports, &claim).await;
        claims.push(claim);
    }
    let mut yielded: Vec<TurnClaim> = claims;
    while !yielded.is_empty() {
        let backs = join_all(yielded.iter().map(|claim| step_back(ports, claim))).await;
        let (back, still): (Vec<_>, Vec<_>) =
            yielded.into_iter().zip(backs).partition(|(_, has_permit)| *has_permit);
        assert_eq!(back.len(), RUNNING.min(back.len() + still.len()), "up to the limit");
        for (claim, _) in &back {
            assert!(!found(ports, &ann, &claim.turn_id).await.aside);
            finish(ports, claim, "done").await;
        }
        yielded = still.into_iter().map(|(claim, _)| claim).collect();
    }
}

pub async fn a_claim_does_not_reacquire_a_yielded_permit(fixture: &mut impl BackendFixture) {
    let ann = user("ann");
    let turns = open_some(fixture.ports(), &ann, RUNNING + 1).await;
    let first = claim_for(fixture.ports(), &turns[0], LONG).await;
    step_aside(fixture.ports(), &first).await;
    fixture.ports().leases.hand_back(&(&first).into()).await.expect("hand back");
    let again = claim_for(fixture.ports(), &turns[0], SHORT).await;
    assert!(found(fixture.ports(), &ann, &turns[0]).await.aside);
    fixture.restart().await;
    let ports = fixture.ports();
    let taken = claim(ports, &turns[0]).await;
    assert!(taken.fence > again.fence);
    assert!(found(ports, &ann, &turns[0]).await.aside, "a restart does not reacquire it, either");
    assert!(!step_back(ports, &taken).await, "the other turns use all permits");
    let other = claim(ports, &turns[1]).await;
    finish(ports, &other, "done").await;
    assert!(step_back(ports, &taken).await);
}
