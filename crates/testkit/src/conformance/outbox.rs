//! Laws of `Outbox`.

use std::time::Duration;

use protocol::TurnId;

use super::BackendFixture;
use super::scene::*;

#[macro_export]
macro_rules! outbox_laws {
    ($fixture:ty) => {
        $crate::laws!($fixture, outbox:
            a_new_turn_is_due_after_its_grace,
            a_lost_push_is_due_again,
            a_claimed_turn_is_not_due,
            a_turn_with_an_expired_lease_is_due,
            a_turn_that_waits_for_another_is_not_due,
            open_turns_are_due_after_a_restart,
            the_lag_is_the_age_of_the_oldest_due_turn,
        );
    };
}

/// Long enough for one read before it has passed, even on a slow machine.
const NOT_YET: Duration = Duration::from_secs(1);

async fn until_due(ports: &ports::Ports, turn: &TurnId) {
    eventually("the turn is due", || async { due(ports).await.contains(turn).then_some(()) }).await;
}

pub async fn a_new_turn_is_due_after_its_grace(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let ann = user("ann");
    let id = session(ports, &ann).await.id;
    let mut new = submission(&id, "hello", None);
    new.push_grace = NOT_YET;
    ports.turns.open(&ann, new).await.expect("open");
    assert_eq!(due(ports).await, []);
    eventually("it is due", || async { (due(ports).await.len() == 1).then_some(()) }).await;
}

pub async fn a_lost_push_is_due_again(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let (_, _, turn) = first_turn(ports).await;
    let pushed = std::slice::from_ref(&turn.id);
    assert_eq!(due(ports).await, pushed);
    ports.outbox.pushed(pushed, NOT_YET).await.expect("pushed");
    assert_eq!(due(ports).await, []);
    // No worker claims it, so it is due again.
    until_due(ports, &turn.id).await;
}

pub async fn a_claimed_turn_is_not_due(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let (_, _, turn) = first_turn(ports).await;
    let claim = claim(ports, &turn.id).await;
    assert_eq!(due(ports).await, []);
    // A push reported late must not make it due again.
    let pushed = std::slice::from_ref(&turn.id);
    ports.outbox.pushed(pushed, Duration::ZERO).await.expect("pushed");
    assert_eq!(due(ports).await, []);
    finish(ports, &claim, "done").await;
    ports.outbox.pushed(pushed, Duration::ZERO).await.expect("pushed");
    assert_eq!(due(ports).await, []);
}

pub async fn a_turn_with_an_expired_lease_is_due(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let (_, _, turn) = first_turn(ports).await;
    claim_for(ports, &turn.id, SHORT).await;
    until_due(ports, &turn.id).await;
    let pushed = std::slice::from_ref(&turn.id);
    ports.outbox.pushed(pushed, NOT_YET).await.expect("pushed");
    assert_eq!(due(ports).await, []);
    until_due(ports, &turn.id).await;
}

pub async fn a_turn_that_waits_for_another_is_not_due(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let (ann, mine, first) = first_turn(ports).await;
    let second = turn(ports, &ann, &mine.id, "second").await;
    assert_eq!(due(ports).await, [first.id]);
    let pushed = std::slice::from_ref(&second.id);
    ports.outbox.pushed(pushed, Duration::ZERO).await.expect("pushed");
    assert!(!due(ports).await.contains(&second.id));
}

pub async fn open_turns_are_due_after_a_restart(fixture: &mut impl BackendFixture) {
    let (ann, mine, queued) = first_turn(fixture.ports()).await;
    turn(fixture.ports(), &ann, &mine.id, "waits").await;
    let (_, _, running) = first_turn(fixture.ports()).await;
    claim_for(fixture.ports(), &running.id, SHORT).await;
    let (_, _, ended) = first_turn(fixture.ports()).await;
    let claim = claim(fixture.ports(), &ended.id).await;
    finish(fixture.ports(), &claim, "done").await;
    let pushed = std::slice::from_ref(&queued.id);
    fixture.ports().outbox.pushed(pushed, SHORT).await.expect("pushed");
    fixture.restart().await;
    until_due(fixture.ports(), &queued.id).await;
    until_due(fixture.ports(), &running.id).await;
    assert_eq!(due(fixture.ports()).await.len(), 2);
}

pub async fn the_lag_is_the_age_of_the_oldest_due_turn(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    assert_eq!(ports.outbox.lag().await.expect("lag"), (0, Duration::ZERO));
    let (_, _, first) = first_turn(ports).await;
    first_turn(ports).await;
    let waited = Duration::from_millis(50);
    eventually("both turns have waited", || async {
        let (count, oldest) = ports.outbox.lag().await.expect("lag");
        assert_eq!(count, 2);
        (oldest >= waited).then_some(())
    })
    .await;
    assert_eq!(ports.outbox.due(1, Duration::ZERO).await.expect("due"), [first.id], "oldest first");
}
