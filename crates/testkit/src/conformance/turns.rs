//! Laws of `Turns` for opening, claiming and finding turns; its other laws are in files of their own.

use std::collections::HashSet;

use futures::future::join_all;
use ports::Fenced;
use ports::store::{JournalEntry, JournalRecord, TurnOpened};
use ports::stream_log::{LogRead, SegmentAppended};
use protocol::message::{MessageRole, NewMessage};
use protocol::turn::TurnStatus;

use super::BackendFixture;
use super::scene::*;

#[macro_export]
macro_rules! turns_laws {
    ($fixture:ty) => {
        $crate::laws!($fixture, turns:
            one_message_id_makes_one_turn,
            a_reused_message_id_is_refused,
            a_message_id_belongs_to_its_session,
            sequences_are_dense_under_concurrency,
            a_new_turn_has_an_empty_log,
            a_stale_claim_changes_nothing,
            a_queued_message_comes_after_the_previous_response,
            a_cancel_marks_every_open_turn,
            the_current_turn_is_the_oldest_open_turn,
            open_turns_are_counted_by_status,
        );
    };
}

pub async fn one_message_id_makes_one_turn(fixture: &mut impl BackendFixture) {
    let ann = user("ann");
    let id = session(fixture.ports(), &ann).await.id;
    let ports = fixture.ports();
    let attempts = (0..50).map(|_| ports.turns.open(&ann, submission(&id, "hi", Some("m-1"))));
    let mut new = 0;
    let mut turns = HashSet::new();
    for opened in join_all(attempts).await {
        match opened.expect("open") {
            TurnOpened::New(turn) => {
                new += 1;
                turns.insert(turn.id);
            }
            TurnOpened::Joined(turn) => {
                turns.insert(turn.id);
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!((new, turns.len()), (1, 1));
    fixture.restart().await;
    let again = fixture.ports().turns.open(&ann, submission(&id, "hi", Some("m-1"))).await;
    let Ok(TurnOpened::Joined(turn)) = again else { panic!("{again:?}") };
    assert!(turns.contains(&turn.id));
    let rows = history(fixture.ports(), &ann, &id).await;
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0].id.as_str(), "m-1", "the client's id is the id of the row");
}

pub async fn a_reused_message_id_is_refused(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let ann = user("ann");
    let id = session(ports, &ann).await.id;
    let open = |text, client| ports.turns.open(&ann, submission(&id, text, Some(client)));
    let Ok(TurnOpened::New(turn)) = open("one", "m-1").await else { panic!("a new turn") };
    assert_eq!(open("two", "m-1").await.expect("open"), TurnOpened::Reused);
    let claim = claim(ports, &turn.id).await;
    finish(ports, &claim, "answer").await;
    assert_eq!(open("two", "m-1").await.expect("open"), TurnOpened::Reused);
    let rows = history(ports, &ann, &id).await;
    assert_eq!(texts(&rows), ["one", "answer"]);
    let answers_id = rows[1].id.as_str();
    assert_eq!(open("three", answers_id).await.expect("open"), TurnOpened::Reused);
}

pub async fn a_message_id_belongs_to_its_session(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    for name in ["ann", "ann", "bob"] {
        let owner = user(name);
        let id = session(ports, &owner).await.id;
        let opened = ports.turns.open(&owner, submission(&id, "hi", Some("m-1"))).await;
        assert!(matches!(opened, Ok(TurnOpened::New(_))), "{opened:?}");
    }
}

pub async fn sequences_are_dense_under_concurrency(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let (ann, mine, first) = first_turn(ports).await;
    let claim = claim(ports, &first.id).await;
    let questions = (0..40).map(|n| {
        let (ann, mine) = (&ann, &mine.id);
        async move { turn(ports, ann, mine, &format!("question {n}")).await.id }
    });
    let said = (0..40).map(|n| {
        let message = NewMessage::new(MessageRole::Assistant, format!("step {n}"));
        ports.turns.record(&claim, JournalRecord::new(vec![JournalEntry::Message(message)]))
    });
    let (_, recorded) = tokio::join!(join_all(questions), join_all(said));
    assert!(recorded.iter().all(|done| matches!(done, Ok(Fenced::Done(())))));
    finish(ports, &claim, "done").await;
    let rows = history(ports, &ann, &mine.id).await;
    let sequences: Vec<i64> = rows.iter().map(|message| message.sequence).collect();
    assert_eq!(sequences, (1..=82).collect::<Vec<_>>());
}

pub async fn a_new_turn_has_an_empty_log(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let (_, _, turn) = first_turn(ports).await;
    let empty = LogRead::Log { segments: Vec::new(), last: 0, sealed: false, missing_to: None };
    assert_eq!(ports.log.read(&turn.id.task(), 0, 1000).await.expect("read"), empty);
    assert_eq!(turn.status, TurnStatus::Queued);
    assert_eq!((turn.fence, turn.attempt, turn.cancel_requested), (0, 0, false));
}

pub async fn a_stale_claim_changes_nothing(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let (ann, mine, turn) = first_turn(ports).await;
    let old = claim_for(ports, &turn.id, SHORT).await;
    let new = claim_for(ports, &turn.id, LONG).await;
    let entry = JournalEntry::Message(NewMessage::new(MessageRole::Assistant, "late"));
    let recorded = ports.turns.record(&old, JournalRecord::new(vec![entry])).await.expect("record");
    assert_eq!(recorded, Fenced::Stale);
    assert!(matches!(ports.turns.progress(&old).await.expect("progress"), Fenced::Stale));
    let late = ending(TurnStatus::Failed, 0, vec![NewMessage::new(MessageRole::System, "late")]);
    assert_eq!(ports.turns.finish(&old, late).await.expect("finish"), Fenced::Stale);
    assert_eq!(ports.leases.hand_back(&(&old).into()).await.expect("hand back"), Fenced::Stale);
    let appended = ports.log.append(&turn.id.task(), old.fence, segment(0, &["late"])).await;
    assert_eq!(appended.expect("append"), SegmentAppended::Stale);
    finish(ports, &new, "in time").await;
    assert_eq!(texts(&history(ports, &ann, &mine.id).await), ["hello", "in time"]);
    assert_eq!(last(ports, &turn.id.task()).await, 1);
}

pub async fn a_queued_message_comes_after_the_previous_response(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let (ann, mine, first) = first_turn(ports).await;
    let first_claim = claim(ports, &first.id).await;
    let second = turn(ports, &ann, &mine.id, "and then?").await;
    let seen = progress(ports, &first_claim).await;
    assert_eq!(texts(&seen.messages), ["hello"], "later messages are not visible");
    finish(ports, &first_claim, "hi there").await;
    let claim = claim(ports, &second.id).await;
    let seen = progress(ports, &claim).await;
    assert_eq!(texts(&seen.messages), ["hello", "hi there", "and then?"]);
    assert_eq!((seen.session.id, seen.owner), (mine.id, ann));
}

pub async fn a_cancel_marks_every_open_turn(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let ann = user("ann");
    let id = session(ports, &ann).await.id;
    let done = whole_turn(ports, &ann, &id, "done").await;
    let running = turn(ports, &ann, &id, "running").await;
    claim(ports, &running.id).await;
    let queued = turn(ports, &ann, &id, "queued").await;
    let marked = ports.turns.request_cancel(&ann, &id).await.expect("cancel");
    let ids: Vec<_> = marked.iter().map(|turn| turn.id.clone()).collect();
    assert_eq!(ids, [running.id, queued.id]);
    assert!(marked.iter().all(|turn| turn.cancel_requested));
    let done = ports.turns.get(&ann, &done.id).await.expect("get").expect("it exists");
    assert!(!done.cancel_requested);
}

pub async fn the_current_turn_is_the_oldest_open_turn(fixture: &mut impl BackendFixture) {
    let ann = user("ann");
    let id = session(fixture.ports(), &ann).await.id;
    let ports = fixture.ports();
    assert_eq!(ports.turns.current(&ann, &id).await.expect("current"), None);
    let first = turn(ports, &ann, &id, "first").await;
    let second = turn(ports, &ann, &id, "second").await;
    let current =
        || async { ports.turns.current(&ann, &id).await.expect("current").expect("there is one") };
    assert_eq!(current().await.0.id, first.id);
    let first_claim = claim(ports, &first.id).await;
    finish(ports, &first_claim, "one").await;
    assert_eq!(current().await.0.id, second.id);
    let second_claim = claim(ports, &second.id).await;
    finish(ports, &second_claim, "two").await;
    let (ended, ago) = current().await;
    assert_eq!(ended.id, second.id);
    assert!(ago.expect("it ended in this process") < LAW);
    fixture.restart().await;
    let found = fixture.ports().turns.current(&ann, &id).await.expect("current");
    assert_eq!(found.expect("it stays").0.id, second.id);
}

pub async fn open_turns_are_counted_by_status(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let ann = user("ann");
    for n in 0..5 {
        let id = session(ports, &ann).await.id;
        let turn = turn(ports, &ann, &id, "one").await;
        if n > 0 {
            let claim = claim(ports, &turn.id).await;
            if n > 2 {
                finish(ports, &claim, "done").await;
            }
        }
    }
    let counts = ports.turns.count_open().await.expect("count");
    assert_eq!((counts.queued, counts.running), (1, 2));
}
