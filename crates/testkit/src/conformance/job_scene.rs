//! Shared setup for the laws that hold for every kind of job.

use std::time::Duration;

use jiff::Timestamp;
use ports::Ports;
use ports::leases::JobClaimed;
use ports::store::NewExecution;
use protocol::execution::ExecutionStatus;
use protocol::turn::TurnStatus;
use protocol::{Job, WorkerId};

use super::scene::{LONG, eventually, worker};
use super::{agent_scene, scene};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobKind {
    Turn,
    Execution,
}

impl JobKind {
    pub const ALL: [Self; 2] = [Self::Turn, Self::Execution];

    /// Creates a queued job of `ann`. Turns get a session of their own.
    pub async fn queued(self, ports: &Ports) -> Job {
        self.queued_with_grace(ports, Duration::ZERO).await
    }

    pub async fn queued_with_grace(self, ports: &Ports, push_grace: Duration) -> Job {
        match self {
            Self::Turn => {
                let ann = scene::user("ann");
                let session = scene::session(ports, &ann).await;
                let mut new = scene::submission(&session.id, "hello", None);
                new.push_grace = push_grace;
                match ports.turns.open(&ann, new).await {
                    Ok(ports::store::TurnOpened::New(turn)) => turn.id.into(),
                    other => panic!("a new turn was expected, not {other:?}"),
                }
            }
            Self::Execution => {
                let new = agent_scene::new_execution(&agent_scene::ann());
                agent_scene::create(ports, NewExecution { push_grace, ..new }).await.id.into()
            }
        }
    }

    /// A job that does not exist.
    pub fn missing(self) -> Job {
        match self {
            Self::Turn => Job::Turn("no such turn".into()),
            Self::Execution => Job::Execution("no such execution".into()),
        }
    }
}

/// The row of a job, as far as leases are concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JobRow {
    pub is_queued: bool,
    pub is_running: bool,
    pub attempt: u32,
    pub fence: u64,
    pub started_at: Option<Timestamp>,
}

pub async fn row(ports: &Ports, job: &Job) -> JobRow {
    match job {
        Job::Turn(id) => {
            let turn = scene::found(ports, &scene::user("ann"), id).await;
            JobRow {
                is_queued: turn.status == TurnStatus::Queued,
                is_running: turn.status == TurnStatus::Running,
                attempt: turn.attempt,
                fence: turn.fence,
                started_at: turn.started_at,
            }
        }
        Job::Execution(id) => {
            let execution = agent_scene::found(ports, id).await;
            JobRow {
                is_queued: execution.status == ExecutionStatus::Queued,
                is_running: execution.status == ExecutionStatus::Running,
                attempt: execution.attempt,
                fence: execution.fence,
                started_at: execution.started_at,
            }
        }
    }
}

pub async fn try_claim_job(ports: &Ports, job: &Job) -> JobClaimed {
    claim_as(ports, job, &worker()).await
}

pub async fn claim_as(ports: &Ports, job: &Job, worker: &WorkerId) -> JobClaimed {
    ports.leases.claim(job, worker, LONG).await.expect("the claim call succeeds")
}

/// Claims the job as soon as it can be claimed.
pub async fn claim_job(ports: &Ports, job: &Job, ttl: Duration) -> JobClaimed {
    eventually("the job can be claimed", || async {
        match ports.leases.claim(job, &worker(), ttl).await.expect("the claim call succeeds") {
            granted @ (JobClaimed::Turn(_) | JobClaimed::Execution(_)) => Some(granted),
            JobClaimed::Held => None,
            other => panic!("a claim was expected, not {other:?}"),
        }
    })
    .await
}

/// Ends the claimed job successfully.
pub async fn end_job(ports: &Ports, claimed: &JobClaimed) {
    match claimed {
        JobClaimed::Turn(granted) => {
            scene::finish(ports, &granted.claim, "done").await;
        }
        JobClaimed::Execution(granted) => {
            agent_scene::end(ports, &granted.claim, ExecutionStatus::Completed).await;
        }
        other => panic!("a claimed job was expected, not {other:?}"),
    }
}

pub async fn request_stop(ports: &Ports, claimed: &JobClaimed) {
    match claimed {
        JobClaimed::Turn(granted) => {
            let session = &granted.claim.session_id;
            ports.turns.request_cancel(&scene::user("ann"), session).await.expect("cancel");
        }
        JobClaimed::Execution(granted) => {
            let id = &granted.claim.execution_id;
            ports.executions.request_stop(&agent_scene::ann(), id).await.expect("stop");
        }
        other => panic!("a claimed job was expected, not {other:?}"),
    }
}

/// The jobs that are due.
pub async fn due_jobs(ports: &Ports) -> Vec<Job> {
    ports.outbox.due(1000, Duration::ZERO).await.expect("the read succeeds")
}

pub async fn until_due(ports: &Ports, job: &Job) {
    eventually("the job is due", || async { due_jobs(ports).await.contains(job).then_some(()) })
        .await;
}
