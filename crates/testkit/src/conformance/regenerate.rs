//! Laws of `Turns` for regenerating a response.

use ports::Fenced;
use ports::store::TurnOpened;
use protocol::MessageId;

use super::BackendFixture;
use super::scene::*;

#[macro_export]
macro_rules! regenerate_laws {
    ($fixture:ty) => {
        $crate::laws!($fixture, regenerate:
            the_last_message_is_regenerated,
            regenerating_an_earlier_message_removes_later_messages,
            a_regeneration_is_joined_or_refused_while_a_turn_is_open,
            a_regenerated_message_keeps_its_id,
            a_session_without_messages_has_nothing_to_regenerate,
        );
    };
}

pub async fn the_last_message_is_regenerated(fixture: &mut impl BackendFixture) {
    let ann = user("ann");
    let id = session(fixture.ports(), &ann).await.id;
    let ports = fixture.ports();
    whole_turn(ports, &ann, &id, "one").await;
    let old = whole_turn(ports, &ann, &id, "two").await;
    let Ok(TurnOpened::New(new)) = ports.turns.open(&ann, regeneration(&id, None)).await else {
        panic!("a new turn")
    };
    assert!(new.id != old.id && new.message_id != old.message_id);
    let rows = history(ports, &ann, &id).await;
    assert_eq!(texts(&rows), ["one", "answer to one", "two"]);
    let claim = claim(ports, &new.id).await;
    let Ok(Fenced::Done(progress)) = ports.turns.progress(&claim).await else {
        panic!("the claim is current")
    };
    assert_eq!(texts(&progress.messages), ["one", "answer to one", "two"]);
    finish(ports, &claim, "better").await;
    fixture.restart().await;
    let rows = history(fixture.ports(), &ann, &id).await;
    assert_eq!(texts(&rows), ["one", "answer to one", "two", "better"]);
    assert!(rows.windows(2).all(|pair| pair[0].sequence < pair[1].sequence));
    let log = fixture.ports().log.read(&old.id.task(), 0, 1000).await.expect("read");
    assert!(
        !matches!(log, ports::stream_log::LogRead::Missing),
        "the old stream log stays readable"
    );
}

pub async fn regenerating_an_earlier_message_removes_later_messages(
    fixture: &mut impl BackendFixture,
) {
    let ports = fixture.ports();
    let ann = user("ann");
    let id = session(ports, &ann).await.id;
    let first = whole_turn(ports, &ann, &id, "one").await;
    whole_turn(ports, &ann, &id, "two").await;
    whole_turn(ports, &ann, &id, "three").await;
    let from = regeneration(&id, Some(first.message_id));
    let Ok(TurnOpened::New(new)) = ports.turns.open(&ann, from).await else { panic!("a new turn") };
    let claim = claim(ports, &new.id).await;
    finish(ports, &claim, "better").await;
    let rows = history(ports, &ann, &id).await;
    assert_eq!(texts(&rows), ["one", "better"]);
    // The id of a message row identifies the response as well as its stream id, and a regenerated message can be
    // regenerated again.
    let from = regeneration(&id, Some(rows[1].id.clone()));
    let Ok(TurnOpened::New(again)) = ports.turns.open(&ann, from).await else {
        panic!("a new turn")
    };
    let claim = claim_for(ports, &again.id, LONG).await;
    finish(ports, &claim, "best").await;
    assert_eq!(texts(&history(ports, &ann, &id).await), ["one", "best"]);
    whole_turn(ports, &ann, &id, "four").await;
    assert_eq!(texts(&history(ports, &ann, &id).await), ["one", "best", "four", "answer to four"]);
}

pub async fn a_regeneration_is_joined_or_refused_while_a_turn_is_open(
    fixture: &mut impl BackendFixture,
) {
    let ports = fixture.ports();
    let ann = user("ann");
    let id = session(ports, &ann).await.id;
    let first = whole_turn(ports, &ann, &id, "one").await;
    let second = whole_turn(ports, &ann, &id, "two").await;
    let open = |from: Option<MessageId>| ports.turns.open(&ann, regeneration(&id, from));
    let Ok(TurnOpened::New(new)) = open(Some(second.message_id.clone())).await else {
        panic!("a new turn")
    };
    for same in [Some(second.message_id.clone()), None] {
        let Ok(TurnOpened::Joined(joined)) = open(same).await else { panic!("the same turn") };
        assert_eq!(joined.id, new.id);
    }
    let other = open(Some(first.message_id.clone())).await.expect("open");
    assert_eq!(other, TurnOpened::Busy);
    let claim = claim(ports, &new.id).await;
    finish(ports, &claim, "better").await;
    turn(ports, &ann, &id, "three").await;
    assert_eq!(open(None).await.expect("open"), TurnOpened::Busy);
}

pub async fn a_regenerated_message_keeps_its_id(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let ann = user("ann");
    let id = session(ports, &ann).await.id;
    let submit = || ports.turns.open(&ann, submission(&id, "one", Some("m-1")));
    let Ok(TurnOpened::New(old)) = submit().await else { panic!("a new turn") };
    let claim = claim(ports, &old.id).await;
    finish(ports, &claim, "answer").await;
    let again = ports.turns.open(&ann, regeneration(&id, None)).await;
    let Ok(TurnOpened::New(new)) = again else { panic!("a new turn") };
    let Ok(TurnOpened::Joined(joined)) = submit().await else { panic!("the message is known") };
    assert_eq!(joined.id, new.id);
    let other = ports.turns.open(&ann, submission(&id, "other", Some("m-1"))).await;
    assert_eq!(other.expect("open"), TurnOpened::Reused);
    let rows = history(ports, &ann, &id).await;
    assert_eq!((rows.len(), rows[0].id.as_str(), &rows[0].turn_id), (1, "m-1", &new.id));
}

pub async fn a_session_without_messages_has_nothing_to_regenerate(
    fixture: &mut impl BackendFixture,
) {
    let ports = fixture.ports();
    let ann = user("ann");
    let id = session(ports, &ann).await.id;
    let open = |from: Option<MessageId>| ports.turns.open(&ann, regeneration(&id, from));
    assert_eq!(open(None).await.expect("open"), TurnOpened::NothingToRegenerate);
    whole_turn(ports, &ann, &id, "one").await;
    let unknown = open(Some("no such message".into())).await.expect("open");
    assert_eq!(unknown, TurnOpened::NothingToRegenerate);
}
