//! Laws of `Operations`: starting one, and running concurrently with the session.

use ports::Fenced;
use ports::store::{JournalEntry, OperationBegun, OperationCompleted, OperationKey};
use protocol::limits::OPERATIONS;
use protocol::operation::OperationState;
use protocol::session::{ChatStatus, Owner};
use protocol::turn::{OperationRef, TurnStatus};

use super::asked_operation::{AskedOperation, asked, begin, done, new};
use crate::conformance::BackendFixture;
use crate::conformance::scene::*;

pub async fn an_operation_is_started_once_per_call(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let (ann, mine, asking) = first_turn(ports).await;
    let old = claim_for(ports, &asking.id, SHORT).await;
    let claim = claim_for(ports, &asking.id, LONG).await;
    record(ports, &claim, vec![JournalEntry::Message(calls(&["a", "b"]))]).await;
    assert_eq!(ports.operations.begin(&old, new("a")).await.expect("begin"), Fenced::Stale);
    let first = new("a");
    let begun = begin(ports, &claim, first.clone()).await;
    let OperationBegun::New { operation, due: true } = begun else { panic!("{begun:?}") };
    assert_eq!((&operation.id, &operation.task_id), (&first.id, &first.turn_id.task()));
    assert_eq!((&operation.session_id, &operation.asked_by), (&mine.id, &asking.id));
    assert_eq!((&operation.call, operation.state), (&first.call, OperationState::Running));
    assert_eq!(operation.result, None);
    for again in [first, new("a")] {
        assert_eq!(begin(ports, &claim, again).await, OperationBegun::Exists(operation.clone()));
    }
    let seen = progress(ports, &claim).await.messages;
    assert_eq!(texts(&seen), ["hello", "", "a is pending"]);
    assert!(matches!(begin(ports, &claim, new("b")).await, OperationBegun::New { .. }));

    let turn = found(ports, &ann, &operation.task_id.turn()).await;
    let known = OperationRef {
        id: operation.id.clone(),
        call_id: operation.call.id.clone(),
        tool_name: operation.call.name.clone(),
    };
    assert_eq!((turn.operation, turn.parent), (Some(known), Some(asking.id)));
    assert_eq!((turn.status, turn.session_id), (TurnStatus::Queued, mine.id.clone()));
    fixture.restart().await;
    for which in [
        OperationKey::Operation(operation.id.clone()),
        OperationKey::Task(operation.task_id.clone()),
    ] {
        let kept = fixture.ports().operations.get(&ann, &which).await.expect("get");
        assert_eq!(kept.as_ref(), Some(&*operation));
    }
}

pub async fn open_operations_are_limited_per_session(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let (ann, mine, asking) = first_turn(ports).await;
    let claim = claim(ports, &asking.id).await;
    let mut begun = Vec::new();
    for n in 0..OPERATIONS {
        match begin(ports, &claim, new(&format!("call-{n}"))).await {
            OperationBegun::New { operation, .. } => begun.push(operation),
            other => panic!("{other:?}"),
        }
    }
    let rows = progress(ports, &claim).await.messages.len();
    assert_eq!(begin(ports, &claim, new("one more")).await, OperationBegun::TooMany);
    assert_eq!(progress(ports, &claim).await.messages.len(), rows, "nothing was stored");
    let which = OperationKey::Operation(begun[0].id.clone());
    ports.operations.complete(&which, done("x")).await.expect("complete");
    assert!(matches!(begin(ports, &claim, new("one more")).await, OperationBegun::New { .. }));
    assert!(ports.sessions.delete(&ann, &mine.id).await.expect("delete"));
    let gone =
        ports.operations.complete(&OperationKey::Operation(begun[1].id.clone()), done("x")).await;
    assert_eq!(gone.expect("complete"), OperationCompleted::Unknown);
}

pub async fn an_operation_runs_concurrently_with_its_session(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let asked = asked(ports).await;
    let AskedOperation { ann, mine, .. } = &asked;
    assert_eq!(due(ports).await, std::slice::from_ref(&asked.turn));
    let beside = claim(ports, &asked.turn).await;
    let seen = progress(ports, &beside).await;
    assert_eq!((seen.messages, seen.operation), (Vec::new(), Some(asked.operation.clone())));
    let (current, _) = ports.turns.current(ann, &mine.id).await.expect("current").expect("one");
    assert_eq!(current.id, asked.claim.turn_id);
    finish(ports, &asked.claim, "it is under way").await;

    let status = || async {
        ports.sessions.get(ann, &mine.id).await.expect("get").expect("it exists").chat_status
    };
    assert_eq!(status().await, ChatStatus::Idle, "the session is free");
    let counted = ports.turns.count_open().await.expect("count");
    assert_eq!((counted.queued, counted.running), (0, 0));
    let (current, ago) = ports.turns.current(ann, &mine.id).await.expect("current").expect("one");
    assert!(current.id == asked.claim.turn_id && ago.is_some());
    let next = turn(ports, ann, &mine.id, "meanwhile").await;
    assert!(next.admitted);
    let next = claim(ports, &next.id).await;
    finish(ports, &next, "of course").await;
    let rows = history(ports, ann, &mine.id).await;
    let expected = ["hello", "", "a is pending", "it is under way", "meanwhile", "of course"];
    assert_eq!(texts(&rows), expected);
}

pub async fn an_operation_is_seen_by_its_owner_only(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let asked = asked(ports).await;
    for which in [asked.which(), OperationKey::Task(asked.operation.task_id.clone())] {
        for stranger in [user("bob"), Owner::Anonymous] {
            assert_eq!(ports.operations.get(&stranger, &which).await.expect("get"), None);
        }
        assert!(ports.operations.get(&asked.ann, &which).await.expect("get").is_some());
        let found = ports.operations.find(&which).await.expect("find");
        assert_eq!(found, Some((asked.ann.clone(), asked.operation.clone())));
    }
    let unknown = OperationKey::Operation("nobody's".into());
    assert_eq!(ports.operations.find(&unknown).await.expect("find"), None);
    let of_the_asking_turn = OperationKey::Task(asked.claim.turn_id.task());
    assert_eq!(ports.operations.get(&asked.ann, &of_the_asking_turn).await.expect("get"), None);
}
