//! Laws of `Outbox`.

use std::time::Duration;

use protocol::TurnId;

use super::Fixture;
use super::scene::*;

#[macro_export]
macro_rules! outbox_laws {
    ($fixture:ty) => {
        $crate::laws!($fixture, outbox:
            a_new_turn_is_due_after_its_grace,
            a_lost_push_is_found,
            a_claim_takes_a_turn_out,
            a_turn_left_by_a_dead_worker_is_due,
            a_turn_that_waits_for_another_is_not_due,
            what_is_open_is_due_after_a_restart,
            the_lag_is_that_of_the_oldest,
        );
    };
}

/// Long enough to look once before it has passed, on any machine.
const NOT_YET: Duration = Duration::from_secs(1);

async fn until_due(ports: &ports::Ports, turn: &TurnId) {
    eventually("the turn is due", || async { due(ports).await.contains(turn).then_some(()) }).await;
}

pub async fn a_new_turn_is_due_after_its_grace(fixture: &mut impl Fixture) {
    let ports = fixture.ports();
    let ann = user("ann");
    let id = session(ports, &ann).await.id;
    let mut new = submission(&id, "hello", None);
    new.push_grace = NOT_YET;
    ports.turns.open(&ann, new).await.expect("open");
    assert_eq!(due(ports).await, []);
    eventually("it is due", || async { (due(ports).await.len() == 1).then_some(()) }).await;
}

pub async fn a_lost_push_is_found(fixture: &mut impl Fixture) {
    let ports = fixture.ports();
    let (_, _, turn) = first_turn(ports).await;
    let pushed = std::slice::from_ref(&turn.id);
    assert_eq!(due(ports).await, pushed);
    ports.outbox.pushed(pushed, NOT_YET).await.expect("pushed");
    assert_eq!(due(ports).await, []);
    // Nobody comes for it, so it is due again.
    until_due(ports, &turn.id).await;
}

pub async fn a_claim_takes_a_turn_out(fixture: &mut impl Fixture) {
    let ports = fixture.ports();
    let (_, _, turn) = first_turn(ports).await;
    let claim = claim(ports, &turn.id).await;
    assert_eq!(due(ports).await, []);
    // A push that is reported late must not put it back.
    let pushed = std::slice::from_ref(&turn.id);
    ports.outbox.pushed(pushed, Duration::ZERO).await.expect("pushed");
    assert_eq!(due(ports).await, []);
    finish(ports, &claim, "done").await;
    ports.outbox.pushed(pushed, Duration::ZERO).await.expect("pushed");
    assert_eq!(due(ports).await, []);
}

pub async fn a_turn_left_by_a_dead_worker_is_due(fixture: &mut impl Fixture) {
    let ports = fixture.ports();
    let (_, _, turn) = first_turn(ports).await;
    claim_for(ports, &turn.id, SHORT).await;
    until_due(ports, &turn.id).await;
    let pushed = std::slice::from_ref(&turn.id);
    ports.outbox.pushed(pushed, NOT_YET).await.expect("pushed");
    assert_eq!(due(ports).await, []);
    until_due(ports, &turn.id).await;
}

pub async fn a_turn_that_waits_for_another_is_not_due(fixture: &mut impl Fixture) {
    let ports = fixture.ports();
    let (ann, mine, first) = first_turn(ports).await;
    let second = turn(ports, &ann, &mine.id, "second").await;
    assert_eq!(due(ports).await, [first.id]);
    let pushed = std::slice::from_ref(&second.id);
    ports.outbox.pushed(pushed, Duration::ZERO).await.expect("pushed");
    assert!(!due(ports).await.contains(&second.id));
}

pub async fn what_is_open_is_due_after_a_restart(fixture: &mut impl Fixture) {
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

pub async fn the_lag_is_that_of_the_oldest(fixture: &mut impl Fixture) {
    let ports = fixture.ports();
    assert_eq!(ports.outbox.lag().await.expect("lag"), (0, Duration::ZERO));
    let (_, _, first) = first_turn(ports).await;
    first_turn(ports).await;
    let waited = Duration::from_millis(50);
    eventually("they have waited", || async {
        let (count, oldest) = ports.outbox.lag().await.expect("lag");
        assert_eq!(count, 2);
        (oldest >= waited).then_some(())
    })
    .await;
    assert_eq!(
        ports.outbox.due(1, Duration::ZERO).await.expect("due"),
        [first.id],
        "the oldest comes first"
    );
}
