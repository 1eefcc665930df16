//! Unfinished work of an embedded store continues on the servers.

use std::time::Duration;

use ports::leases::JobClaimed;
use ports::store::{
    BackgroundRecord, JournalEntry, JournalRecord, NewFollowUp, NewOperation, OperationBegun,
    OperationCompleted, OperationKey,
};
use ports::{Fenced, Ports};
use protocol::message::{MessageRole, NewMessage, ToolCall, ToolOutcome};
use protocol::operation::{OperationResult, OperationState};
use protocol::tool::ToolEffect;
use protocol::turn::{TurnClaim, TurnRequest};
use protocol::{OperationId, TurnId};
use testkit::conformance::scene;

use super::{TransferError, transfer};
use crate::postgres::tests::database::Database;
use crate::rabbitmq::tests::scratch::Scratch;
use crate::redis::tests::server::PrivateRedis;
use crate::{BackendOptions, ConnectOptions, ConnectedBackend, DistributedOptions, connect};

pub(crate) struct Servers {
    database: Database,
    redis: PrivateRedis,
    broker: Scratch,
    folder: tempfile::TempDir,
}

impl Servers {
    pub(crate) async fn start() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let (database, redis) = (Database::create().await, PrivateRedis::start().await);
        Self { database, redis, broker: Scratch::new(), folder }
    }

    pub(crate) fn options(&self) -> ConnectOptions {
        let servers = DistributedOptions {
            data: self.folder.path().to_owned(),
            postgres_url: self.database.url().into(),
            postgres_connections: 4,
            redis_url: self.redis.url().into(),
            rabbitmq_url: self.broker.url.clone().into(),
            rabbitmq_prefix: self.broker.prefix.clone(),
            stream_ttl: Duration::from_secs(60),
        };
        let backend = BackendOptions::Distributed(Box::new(servers));
        ConnectOptions { backend, ..ConnectOptions::embedded("") }
    }

    pub(crate) async fn open(&self) -> ConnectedBackend {
        connect(&self.options()).await.expect("it opens")
    }
}

pub(crate) async fn close(open: ConnectedBackend) {
    open.backend.close().await.expect("it closes");
}

fn operation() -> NewOperation {
    NewOperation {
        id: OperationId::fresh(),
        turn_id: TurnId::fresh(),
        call: ToolCall { id: "built".into(), name: "build".into(), arguments: "{}".into() },
        pending: scene::result("built"),
        request: TurnRequest::default(),
        push_grace: Duration::ZERO,
    }
}

/// A running turn with an accepted operation, a background call and a follow-up.
async fn work(ports: &Ports) -> (TurnClaim, OperationId) {
    let (ann, session, turn) = scene::first_turn(ports).await;
    let claim = scene::claim(ports, &turn.id).await;
    let entries = vec![
        JournalEntry::Message(scene::calls(&["built", "slow"])),
        JournalEntry::Intent { call_id: "slow".into(), effect: ToolEffect::Idempotent },
        JournalEntry::MovedToBackground { call_id: "slow".into(), id: "bg-1".into() },
    ];
    ports.turns.record(&claim, JournalRecord::new(entries)).await.expect("record");
    let begun = ports.operations.begin(&claim, operation()).await.expect("begin");
    let Fenced::Done(OperationBegun::New { operation, .. }) = begun else { panic!("{begun:?}") };
    let carrying = scene::claim(ports, &operation.task_id.turn()).await;
    ports.operations.accepted(&carrying, scene::LONG).await.expect("accepted");
    let message = NewMessage::new(MessageRole::User, "and hurry");
    let new = NewFollowUp { message, client_id: None, fingerprint: "f".into() };
    ports.follow_ups.push(&ann, &session.id, new).await.expect("push");
    ports.turns.step_aside(&claim).await.expect("step aside");
    (claim, operation.id)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn unfinished_work_continues_after_the_transfer() {
    let embedded = tempfile::tempdir().expect("a folder");
    let source = connect(&ConnectOptions::embedded(embedded.path())).await.expect("it opens");
    let (before, id) = work(&source.ports).await;
    close(source).await;
    let servers = Servers::start().await;
    close(servers.open().await).await;
    let moved = transfer(&servers.options(), embedded.path()).await.expect("it moves");
    assert_eq!(moved.open_turns, 2);

    let open = servers.open().await;
    let ports = &open.ports;
    let ann = scene::user("ann");
    let which = OperationKey::Operation(id);
    let operation = ports.operations.get(&ann, &which).await.expect("get").expect("there");
    assert_eq!(operation.state, OperationState::Accepted);
    let carrying = operation.task_id.turn();
    let claimed = scene::try_claim(ports, &carrying).await;
    assert_eq!(claimed, JobClaimed::NotReady, "it still rests");
    assert_eq!(scene::due(ports).await, std::slice::from_ref(&before.turn_id));
    let claim = scene::claim(ports, &before.turn_id).await;
    let Fenced::Done(progress) = ports.turns.progress(&claim).await.expect("progress") else {
        panic!("the claim is good")
    };
    let background = Some(BackgroundRecord { id: "bg-1".into(), end: None, taken: false });
    assert_eq!(progress.calls[0].background, background);
    let drained = ports.follow_ups.drain(&claim, 1).await.expect("drain");
    let Fenced::Done(drained) = drained else { panic!("the claim is good") };
    assert_eq!(drained[0].text, "and hurry");
    let result = OperationResult { output: "it is done".into(), outcome: ToolOutcome::Ok };
    let completed = ports.operations.complete(&which, result).await.expect("complete");
    let task_id = operation.task_id;
    assert_eq!(completed, OperationCompleted::Done { task_id, due: true });
    scene::claim(ports, &carrying).await;
    close(open).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn unprocessed_completions_prevent_the_transfer() {
    let embedded = tempfile::tempdir().expect("a folder");
    let source = connect(&ConnectOptions::embedded(embedded.path())).await.expect("it opens");
    source.ports.completions.send("{}".to_owned()).await.expect("send");
    close(source).await;
    let servers = Servers::start().await;
    let refused = transfer(&servers.options(), embedded.path()).await;
    assert_eq!(refused, Err(TransferError::Untaken(1)));
}
