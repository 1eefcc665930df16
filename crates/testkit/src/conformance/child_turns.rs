//! Laws of `Turns` for turns started by calls of other turns.

use futures::future::join_all;
use ports::Ports;
use ports::store::{NewSession, NewTurn, TurnOpened};
use protocol::TurnId;
use protocol::session::{Owner, Session};
use protocol::turn::{Turn, TurnStatus};

use super::BackendFixture;
use super::scene::*;

#[macro_export]
macro_rules! child_turns_laws {
    ($fixture:ty) => {
        $crate::laws!($fixture, child_turns:
            a_child_turn_stores_its_parent,
            an_ended_or_cancelled_parent_starts_no_turn,
            running_children_are_limited_by_the_fan_out,
            a_repeated_child_request_joins_the_child,
            a_cancel_reaches_the_whole_tree,
            a_cancel_reaches_the_children_of_an_ended_turn,
            a_child_survives_deletion_of_its_parent_session,
        );
    };
}

const FAN_OUT: u32 = 3;

async fn sub_session(ports: &Ports, owner: &Owner, parent: &Session) -> Session {
    let new = NewSession {
        parent_session_id: Some(parent.id.clone()),
        depth: parent.depth + 1,
        ..NewSession::default()
    };
    ports.sessions.create(owner, new).await.expect("a session is created")
}

fn child(session: &Session, parent: &TurnId, client_id: Option<&str>) -> NewTurn {
    started_by(parent, FAN_OUT, submission(&session.id, "do this", client_id))
}

/// A turn in a new sub-session, started by a call of `parent`.
async fn delegate(
    ports: &Ports,
    owner: &Owner,
    session: &Session,
    parent: &TurnId,
) -> (Session, Turn) {
    let below = sub_session(ports, owner, session).await;
    match ports.turns.open(owner, child(&below, parent, None)).await.expect("open") {
        TurnOpened::New(turn) => (below, *turn),
        other => panic!("a new turn was expected, not {other:?}"),
    }
}

pub async fn a_child_turn_stores_its_parent(fixture: &mut impl BackendFixture) {
    let (ann, mine, top) = first_turn(fixture.ports()).await;
    claim(fixture.ports(), &top.id).await;
    let (below, delegated) = delegate(fixture.ports(), &ann, &mine, &top.id).await;
    fixture.restart().await;
    let ports = fixture.ports();
    assert_eq!((top.parent, mine.depth), (None, 0));
    assert_eq!(found(ports, &ann, &delegated.id).await.parent, Some(top.id));
    let below = ports.sessions.get(&ann, &below.id).await.expect("get").expect("it exists");
    assert_eq!((below.depth, below.parent_session_id), (1, Some(mine.id)));
}

pub async fn an_ended_or_cancelled_parent_starts_no_turn(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let (ann, mine, ended) = first_turn(ports).await;
    let claim = claim(ports, &ended.id).await;
    finish(ports, &claim, "done").await;
    let cancelled = turn(ports, &ann, &mine.id, "again").await;
    ports.turns.request_cancel(&ann, &mine.id).await.expect("cancel");
    let below = sub_session(ports, &ann, &mine).await;
    for parent in [ended.id, cancelled.id, TurnId::from("no such turn")] {
        let opened = ports.turns.open(&ann, child(&below, &parent, None)).await.expect("open");
        assert_eq!(opened, TurnOpened::ParentEnded);
    }
    assert_eq!(history(ports, &ann, &below.id).await, []);
    assert_eq!(ports.turns.current(&ann, &below.id).await.expect("current"), None);
}

pub async fn running_children_are_limited_by_the_fan_out(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let (ann, mine, top) = first_turn(ports).await;
    claim(ports, &top.id).await;
    let open = || async {
        let below = sub_session(ports, &ann, &mine).await;
        ports.turns.open(&ann, child(&below, &top.id, None)).await.expect("open")
    };
    let mut children = Vec::new();
    for opened in join_all((0..10).map(|_| open())).await {
        match opened {
            TurnOpened::New(turn) => children.push(turn.id),
            TurnOpened::TooManyChildren => {}
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(children.len(), FAN_OUT as usize, "exactly, under concurrency");
    let claim = claim_for(ports, &children[0], LONG).await;
    finish(ports, &claim, "done").await;
    assert!(matches!(open().await, TurnOpened::New(_)), "an ended child makes room");
    assert_eq!(open().await, TurnOpened::TooManyChildren);
}

pub async fn a_repeated_child_request_joins_the_child(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let (ann, mine, top) = first_turn(ports).await;
    let below = sub_session(ports, &ann, &mine).await;
    let ask = || ports.turns.open(&ann, child(&below, &top.id, Some("call-1")));
    let Ok(TurnOpened::New(first)) = ask().await else { panic!("a new turn") };
    for _ in 0..2 {
        let Ok(TurnOpened::Joined(again)) = ask().await else { panic!("the same turn") };
        assert_eq!(again.id, first.id);
        // Also when the parent may no longer start turns.
        ports.turns.request_cancel(&ann, &mine.id).await.expect("cancel");
    }
}

pub async fn a_cancel_reaches_the_whole_tree(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let (ann, mine, top) = first_turn(ports).await;
    claim(ports, &top.id).await;
    let behind = turn(ports, &ann, &mine.id, "waits behind it").await;
    let (left, left_turn) = delegate(ports, &ann, &mine, &top.id).await;
    let (_, right_turn) = delegate(ports, &ann, &mine, &top.id).await;
    let (_, leaf_turn) = delegate(ports, &ann, &left, &left_turn.id).await;
    let (_, _, elsewhere) = first_turn(ports).await;

    let marked = ports.turns.request_cancel(&ann, &mine.id).await.expect("cancel");
    assert!(marked.iter().all(|turn| turn.cancel_requested));
    let ids: Vec<TurnId> = marked.into_iter().map(|turn| turn.id).collect();
    let expected = [top.id, behind.id, left_turn.id, right_turn.id, leaf_turn.id];
    assert_eq!(ids, expected, "the session first, then level by level");
    for turn in &expected {
        assert!(found(ports, &ann, turn).await.cancel_requested);
    }
    assert!(!found(ports, &ann, &elsewhere.id).await.cancel_requested);
}

pub async fn a_cancel_reaches_the_children_of_an_ended_turn(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let (ann, mine, top) = first_turn(ports).await;
    let top_claim = claim(ports, &top.id).await;
    let (below, middle) = delegate(ports, &ann, &mine, &top.id).await;
    let middle_claim = claim(ports, &middle.id).await;
    let (_, leaf) = delegate(ports, &ann, &below, &middle.id).await;
    end(ports, &middle_claim, TurnStatus::Completed).await;
    end(ports, &top_claim, TurnStatus::Completed).await;
    let marked = ports.turns.request_cancel(&ann, &mine.id).await.expect("cancel");
    let ids: Vec<TurnId> = marked.into_iter().map(|turn| turn.id).collect();
    assert_eq!(ids, [leaf.id], "through the two ended turns");
}

pub async fn a_child_survives_deletion_of_its_parent_session(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let (ann, mine, top) = first_turn(ports).await;
    let (_, delegated) = delegate(ports, &ann, &mine, &top.id).await;
    assert!(ports.sessions.delete(&ann, &mine.id).await.expect("delete"));
    assert_eq!(found(ports, &ann, &delegated.id).await.parent, None);
    let claim = claim(ports, &delegated.id).await;
    finish(ports, &claim, "done all the same").await;
}
