//! Laws of `Turns` for background calls.

use ports::Fenced;
use ports::store::{BackgroundEnd, BackgroundRecord, JournalEntry, JournalRecord};
use protocol::message::ToolOutcome;
use protocol::tool::ToolEffect;
use protocol::turn::{TurnClaim, TurnStatus};

use super::BackendFixture;
use super::scene::*;

#[macro_export]
macro_rules! background_calls_laws {
    ($fixture:ty) => {
        $crate::laws!($fixture, background_calls:
            a_background_call_stays_in_the_journal,
            a_background_call_ends_once,
            only_a_journaled_call_can_run_in_the_background,
            open_background_calls_end_with_their_turn,
        );
    };
}

fn intent(call: &str) -> JournalEntry {
    JournalEntry::Intent { call_id: call.into(), effect: ToolEffect::Once }
}

fn move_to_background(call: &str) -> JournalEntry {
    JournalEntry::MovedToBackground {
        call_id: call.into(),
        id: format!("bg-{call}").as_str().into(),
    }
}

fn said(output: &str) -> BackgroundEnd {
    BackgroundEnd { outcome: ToolOutcome::Error, output: output.into() }
}

fn ended(call: &str, output: &str) -> JournalEntry {
    JournalEntry::BackgroundEnded { call_id: call.into(), end: said(output) }
}

/// The turn's calls in the journal.
async fn journal(
    fixture: &impl BackendFixture,
    claim: &TurnClaim,
) -> Vec<(String, Option<BackgroundRecord>)> {
    let calls = progress(fixture.ports(), claim).await.calls;
    calls.into_iter().map(|call| (call.call_id.0, call.background)).collect()
}

fn background(call: &str, end: Option<BackgroundEnd>, taken: bool) -> Option<BackgroundRecord> {
    Some(BackgroundRecord { id: format!("bg-{call}").as_str().into(), end, taken })
}

pub async fn a_background_call_stays_in_the_journal(fixture: &mut impl BackendFixture) {
    let (_, _, turn) = first_turn(fixture.ports()).await;
    let first = claim_for(fixture.ports(), &turn.id, SHORT).await;
    let begun = vec![JournalEntry::Message(calls(&["a", "b"])), intent("a"), intent("b")];
    record(fixture.ports(), &first, begun).await;
    let gone_on = vec![
        move_to_background("a"),
        JournalEntry::Result(result("a")),
        JournalEntry::Result(result("b")),
    ];
    record(fixture.ports(), &first, gone_on).await;
    fixture.restart().await;

    let second = claim(fixture.ports(), &turn.id).await;
    let expected = [("a".to_owned(), background("a", None, false)), ("b".to_owned(), None)];
    assert_eq!(journal(fixture, &second).await, expected);
    // A second start keeps it the same background call.
    record(fixture.ports(), &second, vec![intent("a"), ended("a", "late")]).await;
    let expected = background("a", Some(said("late")), false);
    assert_eq!(journal(fixture, &second).await[0].1, expected);
    let given = vec![
        JournalEntry::Message(calls(&["c"])),
        JournalEntry::BackgroundTaken { call_id: "a".into() },
        JournalEntry::Result(result("c")),
    ];
    record(fixture.ports(), &second, given).await;
    let expected = background("a", Some(said("late")), true);
    assert_eq!(journal(fixture, &second).await[0].1, expected);
}

pub async fn a_background_call_ends_once(fixture: &mut impl BackendFixture) {
    let (_, _, turn) = first_turn(fixture.ports()).await;
    let claim = claim(fixture.ports(), &turn.id).await;
    record(fixture.ports(), &claim, vec![intent("a"), move_to_background("a")]).await;
    for output in ["first", "second"] {
        record(fixture.ports(), &claim, vec![ended("a", output)]).await;
    }
    let expected = background("a", Some(said("first")), false);
    assert_eq!(journal(fixture, &claim).await[0].1, expected);
}

pub async fn only_a_journaled_call_can_run_in_the_background(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let (_, _, turn) = first_turn(ports).await;
    let claim = claim(ports, &turn.id).await;
    record(ports, &claim, vec![intent("a")]).await;
    for entry in
        [move_to_background("z"), ended("a", "not in the background"), ended("z", "not started")]
    {
        let refused = ports.turns.record(&claim, JournalRecord::new(vec![entry])).await;
        assert!(matches!(refused, Err(ports::PortError::Broken(_))), "{refused:?}");
    }
    assert_eq!(journal(fixture, &claim).await, [("a".to_owned(), None)]);
}

pub async fn open_background_calls_end_with_their_turn(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    for status in [TurnStatus::Completed, TurnStatus::Failed, TurnStatus::Cancelled] {
        let (_, _, turn) = first_turn(ports).await;
        let claim = claim(ports, &turn.id).await;
        record(ports, &claim, vec![intent("a"), move_to_background("a")]).await;
        end(ports, &claim, status).await;
        // From now on no record about it is accepted.
        let late = ports.turns.record(&claim, JournalRecord::new(vec![ended("a", "late")])).await;
        assert_eq!(late.expect("record"), Fenced::Stale);
        assert!(matches!(ports.turns.progress(&claim).await, Ok(Fenced::Stale)));
    }
}
