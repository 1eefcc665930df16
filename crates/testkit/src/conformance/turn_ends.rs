//! Laws of `Turns` for the end of a turn.

use futures::future::join_all;
use ports::Fenced;
use ports::store::TurnFinished;
use ports::stream_log::{LogRead, SegmentAppended};
use protocol::message::{MessageRole, NewMessage};
use protocol::turn::{FailureCode, TurnError, TurnStatus};

use super::BackendFixture;
use super::scene::*;

#[macro_export]
macro_rules! turn_ends_laws {
    ($fixture:ty) => {
        $crate::laws!($fixture, turn_ends:
            a_turn_ends_once,
            an_end_with_a_gap_in_the_log_changes_nothing,
            a_partly_stored_end_is_completed,
            the_end_of_a_turn_makes_the_next_one_due,
            a_failure_is_kept_with_its_reason,
        );
    };
}

pub async fn a_turn_ends_once(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let (ann, mine, turn) = first_turn(ports).await;
    let claim = claim(ports, &turn.id).await;
    let ends = [TurnStatus::Completed, TurnStatus::Failed, TurnStatus::Cancelled].map(|status| {
        let said = NewMessage::new(MessageRole::Assistant, status.as_str());
        ports.turns.finish(&claim, ending(status, 0, vec![said]))
    });
    let ended = join_all(ends).await;
    let won = ended.iter().filter(|end| matches!(end, Ok(Fenced::Done(_)))).count();
    assert_eq!(won, 1, "{ended:?}");
    let found = ports.turns.get(&ann, &turn.id).await.expect("get").expect("it exists");
    assert!(found.status.is_final() && found.ended_at.is_some());
    let rows = history(ports, &ann, &mine.id).await;
    assert_eq!(texts(&rows), ["hello", found.status.as_str()]);
    let read = ports.log.read(&turn.id.task(), 0, 1000).await.expect("read");
    let LogRead::Log { segments, last: 1, sealed: true, .. } = read else { panic!("{read:?}") };
    assert_eq!(segments, [segment(0, &["the end"])]);
    let more = ports.log.append(&turn.id.task(), claim.fence, segment(1, &["x"])).await;
    assert_eq!(more.expect("append"), SegmentAppended::Sealed);
}

pub async fn an_end_with_a_gap_in_the_log_changes_nothing(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let (ann, mine, turn) = first_turn(ports).await;
    let claim = claim(ports, &turn.id).await;
    let said = vec![NewMessage::new(MessageRole::Assistant, "too far ahead")];
    let refused = ports.turns.finish(&claim, ending(TurnStatus::Completed, 7, said)).await;
    assert!(matches!(refused, Err(ports::PortError::Broken(_))), "{refused:?}");
    let found = ports.turns.get(&ann, &turn.id).await.expect("get").expect("it exists");
    assert_eq!(found.status, TurnStatus::Running);
    finish(ports, &claim, "fits").await;
    assert_eq!(texts(&history(ports, &ann, &mine.id).await), ["hello", "fits"]);
}

pub async fn a_partly_stored_end_is_completed(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let (_, _, turn) = first_turn(ports).await;
    let claim = claim(ports, &turn.id).await;
    let task = turn.id.task();
    // An append whose reply was lost: the writer sends the same chunks again, with the end.
    let stored = ports.log.append(&task, claim.fence, segment(0, &["one", "two"])).await;
    assert_eq!(stored.expect("append"), SegmentAppended::Stored);
    let mut end = ending(TurnStatus::Completed, 0, Vec::new());
    end.last = segment(0, &["one", "two", "three"]);
    let ended = ports.turns.finish(&claim, end).await.expect("finish");
    assert_eq!(ended, Fenced::Done(TurnFinished::Ended(Vec::new())));
    let LogRead::Log { segments, last: 3, sealed: true, missing_to: None } =
        ports.log.read(&task, 0, 1_000_000).await.expect("read")
    else {
        panic!("a whole log")
    };
    let bytes: Vec<u8> = segments.iter().flat_map(|segment| segment.bytes.to_vec()).collect();
    assert_eq!(bytes, segment(0, &["one", "two", "three"]).bytes);
}

pub async fn the_end_of_a_turn_makes_the_next_one_due(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let (ann, mine, first) = first_turn(ports).await;
    let claim = claim(ports, &first.id).await;
    let second = turn(ports, &ann, &mine.id, "second").await;
    let third = turn(ports, &ann, &mine.id, "third").await;
    assert_eq!(due(ports).await, []);
    assert_eq!(finish(ports, &claim, "one").await, std::slice::from_ref(&second.id));
    assert_eq!(due(ports).await, std::slice::from_ref(&second.id));
    let claim = claim_for(ports, &second.id, LONG).await;
    assert_eq!(finish(ports, &claim, "two").await, std::slice::from_ref(&third.id));
    let claim = claim_for(ports, &third.id, LONG).await;
    assert_eq!(finish(ports, &claim, "three").await, []);
}

pub async fn a_failure_is_kept_with_its_reason(fixture: &mut impl BackendFixture) {
    let (ann, _, turn) = first_turn(fixture.ports()).await;
    let claim = claim(fixture.ports(), &turn.id).await;
    let error = TurnError::new(FailureCode::CrashLoop, "three workers crashed");
    let mut end = ending(TurnStatus::Failed, 0, Vec::new());
    end.error = Some(error.clone());
    fixture.ports().turns.finish(&claim, end).await.expect("finish");
    fixture.restart().await;
    let found = fixture.ports().turns.get(&ann, &turn.id).await.expect("get").expect("it exists");
    assert_eq!((found.status, found.error), (TurnStatus::Failed, Some(error)));
    assert!(found.started_at.is_some() && found.ended_at.is_some());
}
