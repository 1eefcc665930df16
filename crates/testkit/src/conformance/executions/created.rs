//! Laws of `Executions`: creation and visibility.

use std::time::Duration;

use futures::future::join_all;
use ports::PortError;
use ports::store::{ExecutionCreated, ListExecutions, NewExecution};
use protocol::execution::ExecutionStatus;
use protocol::limits::EXECUTION_DEPTH;
use protocol::{ExecutionId, Job};

use crate::conformance::BackendFixture;
use crate::conformance::agent_scene::*;
use crate::conformance::scene::eventually;

pub async fn an_execution_is_created_once(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let (graph, entry) = created(ports, &ann(), "a").await;
    let (_, other) = created(ports, &ann(), "b").await;
    let new = NewExecution { graph_id: graph.id.clone(), ..new_execution(&ann()) };
    let all = join_all((0..10).map(|_| ports.executions.create(new.clone()))).await;
    let (mut made, mut joined) = (Vec::new(), Vec::new());
    for one in all {
        match one.expect("create") {
            ExecutionCreated::New(run) => made.push(*run),
            ExecutionCreated::Exists(run) => joined.push(*run),
            refused => panic!("{refused:?}"),
        }
    }
    let [run] = made.as_slice() else { panic!("one execution, not {made:?}") };
    assert!(joined.iter().all(|same| same == run), "{joined:?}");
    assert_eq!((&run.id, &run.user_id, &run.graph_id), (&new.id, &ann(), &graph.id));
    assert_eq!((run.status, run.request.clone()), (ExecutionStatus::Queued, new.request.clone()));
    assert_eq!((run.depth, run.fence, run.attempt, run.events), (0, 0, 0, 0));
    assert_eq!((run.started_at, run.ended_at, &run.error), (None, None, &None));
    assert_eq!(&found(ports, &run.id).await, run);
    let now = ports.library.get(&ann(), &entry.id).await.expect("get").expect("it exists");
    assert!(now.last_run_at.is_some(), "the entry stores the time of the run");
    assert_eq!(ports.library.get(&ann(), &other.id).await.expect("get"), Some(other));
    let taken = ports.executions.create(NewExecution { user_id: bob(), ..new }).await;
    assert!(matches!(taken, Err(PortError::Broken(_))), "{taken:?}");
}

pub async fn a_new_execution_is_due(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let grace = Duration::from_secs(1);
    let later = create(ports, NewExecution { push_grace: grace, ..new_execution(&ann()) }).await;
    let first = queued_execution(ports).await;
    let second = queued_execution(ports).await;
    assert_eq!(due(ports).await, [first.id.clone(), second.id.clone()], "oldest first");
    let held = ports.outbox.due(1, grace).await.expect("due");
    assert_eq!(held, [Job::from(&first.id)]);
    assert!(!due(ports).await.contains(&first.id), "it is held for one caller");
    ports.outbox.pushed(&[second.id.into()], Duration::from_secs(600)).await.expect("pushed");
    eventually("the two others are due", || async {
        let due = due(ports).await;
        (due.len() == 2 && due.contains(&later.id) && due.contains(&first.id)).then_some(())
    })
    .await;
}

pub async fn an_execution_is_seen_by_its_user_only(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let run = queued_execution(ports).await;
    let held = claim(ports, &run.id).await;
    advance(ports, &held, batch(0, 3)).await;
    let all = ListExecutions { limit: 10, ..ListExecutions::default() };
    let executions = &ports.executions;
    assert_eq!(executions.get(&bob(), &run.id).await.expect("get"), None);
    assert_eq!(executions.list(&bob(), &all).await.expect("list"), (Vec::new(), 0));
    assert_eq!(executions.journal(&bob(), &run.id, 0, 1000).await.expect("journal"), []);
    assert_eq!(executions.request_stop(&bob(), &run.id).await.expect("stop"), None);
    end(ports, &held, ExecutionStatus::Completed).await;
    let deleted = executions.delete(&bob(), &run.id).await.expect("delete");
    assert_eq!(deleted, ports::store::ExecutionDeleted::Missing);
    assert!(!found(ports, &run.id).await.stop_requested);
    let below = NewExecution { parent: Some(run.id), ..new_execution(&bob()) };
    assert_eq!(executions.create(below).await.expect("create"), ExecutionCreated::ParentEnded);
}

pub async fn an_ended_parent_starts_no_execution(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let (ended, stopped) = (queued_execution(ports).await, queued_execution(ports).await);
    let ended_claim = claim(ports, &ended.id).await;
    let joined = NewExecution { parent: Some(ended.id.clone()), ..new_execution(&ann()) };
    let known = create(ports, joined.clone()).await;
    assert_eq!((known.parent.as_ref(), known.depth), (Some(&ended.id), 1));
    end(ports, &ended_claim, ExecutionStatus::Completed).await;
    claim(ports, &stopped.id).await;
    ports.executions.request_stop(&ann(), &stopped.id).await.expect("stop");
    for parent in [ended.id, stopped.id, "no such execution".into()] {
        let new = NewExecution { parent: Some(parent), ..new_execution(&ann()) };
        let id = new.id.clone();
        let made = ports.executions.create(new).await.expect("create");
        assert_eq!(made, ExecutionCreated::ParentEnded);
        assert_eq!(ports.executions.get(&ann(), &id).await.expect("get"), None);
    }
    let again = ports.executions.create(joined).await.expect("create");
    assert_eq!(
        again,
        ExecutionCreated::Exists(Box::new(known)),
        "an existing execution is returned"
    );
}

pub async fn execution_depth_is_limited(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let mut lowest = queued_execution(ports).await;
    for depth in 1..=EXECUTION_DEPTH {
        lowest = child(ports, &lowest.id).await;
        assert_eq!(lowest.depth, depth);
    }
    let deeper = NewExecution { parent: Some(lowest.id), ..new_execution(&ann()) };
    let made = ports.executions.create(deeper).await.expect("create");
    assert_eq!(made, ExecutionCreated::TooDeep);
}

pub async fn executions_are_listed_newest_first(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    let mut runs = Vec::new();
    for _ in 0..4 {
        runs.push(queued_execution(ports).await);
    }
    let below = child(ports, &runs[0].id).await;
    create(ports, new_execution(&bob())).await;
    let held = claim(ports, &runs[1].id).await;
    end(ports, &held, ExecutionStatus::Failed).await;
    claim(ports, &runs[2].id).await;
    let list = |wanted: ListExecutions| async move {
        let (runs, total) = ports.executions.list(&ann(), &wanted).await.expect("list");
        (runs.into_iter().map(|run| run.id).collect::<Vec<_>>(), total)
    };
    let ids: Vec<ExecutionId> = runs.iter().map(|run| run.id.clone()).collect();
    let [a, b, c, d] = ids.as_slice() else { panic!("four executions") };
    let all = ListExecutions { limit: 10, ..ListExecutions::default() };
    let newest = [&below.id, d, c, b, a].map(Clone::clone).to_vec();
    assert_eq!(list(all.clone()).await, (newest, 5));
    let page = ListExecutions { limit: 2, offset: 1, ..all.clone() };
    assert_eq!(list(page).await, (vec![d.clone(), c.clone()], 5));
    let top = ListExecutions { top_level: true, ..all.clone() };
    assert_eq!(list(top).await.1, 4);
    let statuses = vec![ExecutionStatus::Failed, ExecutionStatus::Running];
    let some = ListExecutions { statuses, ..all.clone() };
    assert_eq!(list(some).await, (vec![c.clone(), b.clone()], 2));
    let one = ListExecutions { graph: Some(runs[3].graph_id.clone()), ..all.clone() };
    assert_eq!(list(one).await, (vec![d.clone()], 1));
    let since = ListExecutions { from: Some(runs[2].created_at), ..all.clone() };
    let before = ListExecutions { until: Some(runs[2].created_at), ..all };
    let (since, before) = (list(since).await, list(before).await);
    assert!(
        since.0.contains(c) && !before.0.contains(c),
        "`from` is inclusive, `until` is exclusive"
    );
    assert_eq!(since.1 + before.1, 5);
}

pub async fn open_executions_are_counted(fixture: &mut impl BackendFixture) {
    let ports = fixture.ports();
    assert_eq!(ports.executions.count_open().await.expect("count"), (0, 0));
    let (first, second) = (queued_execution(ports).await, queued_execution(ports).await);
    queued_execution(ports).await;
    let held = claim(ports, &first.id).await;
    claim(ports, &second.id).await;
    assert_eq!(ports.executions.count_open().await.expect("count"), (1, 2));
    end(ports, &held, ExecutionStatus::Completed).await;
    assert_eq!(ports.executions.count_open().await.expect("count"), (1, 1));
}
