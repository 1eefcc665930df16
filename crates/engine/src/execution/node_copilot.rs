//! Copilot turns that a node asks for, submitted like a user's message.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use ports::block::{BlockError, CopilotAnswer, CopilotAsk, CopilotTurns};
use ports::store::{NewSession, TurnOpened, WhenBusy};
use protocol::execution::{Execution, node_execution_id};
use protocol::session::Owner;
use protocol::text::without_nul;
use protocol::turn::{TurnRequest, TurnStatus};
use protocol::{SessionId, TurnId};
use serde_json::{Map, Value, json};

use super::waiting_nodes::WaitingNodes;
use crate::job::stop::{StopCause, StopSignal};
use crate::submit::JobMessage;
use crate::tasks::TaskKind;
use crate::wait_for_turn::{WaitedTurn, wait_for_turn};
use crate::{Engine, EngineInner, deterministic_id};

/// Session metadata key: the number of copilot turns above this session.
pub(crate) const DEPTH: &str = "copilot_depth";
/// How many messages of the session's history the answer includes.
const MAX_HISTORY: u32 = 200;
/// Longest single wait for the turn. The wait is repeated, because the node run itself has no time limit.
const WAIT_INTERVAL: Duration = Duration::from_secs(3600);

pub(crate) struct NodeCopilot {
    pub(crate) inner: Arc<EngineInner>,
    pub(crate) execution: Arc<Execution>,
    pub(crate) stop: Arc<StopSignal>,
    /// Idempotency key of the node run.
    pub(crate) key: String,
    pub(crate) waiting: Arc<WaitingNodes>,
}

#[async_trait]
impl CopilotTurns for NodeCopilot {
    async fn ask(&self, ask: CopilotAsk) -> Result<CopilotAnswer, BlockError> {
        let depth = self.execution.request.copilot_depth + 1;
        if depth > ask.max_recursion_depth {
            return Err(BlockError::failed(format!(
                "The copilot was asked by an agent that a copilot runs, {depth} levels deep; {} are allowed here.",
                ask.max_recursion_depth
            )));
        }
        let owner = Owner::User(self.execution.user_id.clone());
        let session = self.session(&owner, &ask, depth).await?;
        let turn = self.open(&owner, &session, &ask).await?;
        let mut cancel_guard = self.cancel_on_drop(&owner, &session);
        let waits = self.waiting.begin_wait();
        let waited = self.wait(&owner, &turn).await?;
        cancel_guard.disarmed = true;
        drop(waits);
        self.answer(&owner, session, waited).await
    }
}

impl NodeCopilot {
    async fn session(
        &self,
        owner: &Owner,
        ask: &CopilotAsk,
        depth: u32,
    ) -> Result<SessionId, BlockError> {
        let sessions = &self.inner.ports.sessions;
        if let Some(id) = &ask.session {
            let found = sessions.get(owner, id).await?;
            return found
                .map(|session| session.id)
                .ok_or_else(|| BlockError::failed("Session not found."));
        }
        let mut metadata = Map::new();
        metadata.insert(DEPTH.to_owned(), json!(depth));
        metadata.insert("execution_id".to_owned(), json!(self.execution.id));
        let context = ask.system_context.as_ref().filter(|context| !context.trim().is_empty());
        if let Some(context) = context {
            metadata.insert("system_context".to_owned(), Value::String(without_nul(context)));
        }
        let new = NewSession {
            id: Some(SessionId(deterministic_id::uuid("session", &self.key))),
            dry_run: ask.dry_run || self.execution.request.dry_run,
            metadata,
            parent_session_id: None,
            depth: 0,
        };
        Ok(sessions.create(owner, new).await?.id)
    }

    async fn open(
        &self,
        owner: &Owner,
        session: &SessionId,
        ask: &CopilotAsk,
    ) -> Result<TurnId, BlockError> {
        let permissions = self.execution.request.permissions.narrowed(ask.filter.clone());
        let request = TurnRequest { permissions, ..TurnRequest::default() };
        let message = JobMessage {
            session_id: session.clone(),
            request,
            prompt: &ask.prompt,
            key: &self.key,
            when_busy: WhenBusy::Queue,
            parent: None,
        };
        match self.inner.submit_for_job(owner, message).await? {
            TurnOpened::New(turn) | TurnOpened::Joined(turn) => Ok(turn.id),
            TurnOpened::TooMany => Err(BlockError::failed(
                "The user already has the maximum number of unfinished turns.",
            )),
            _ => Err(BlockError::failed("The copilot did not accept this message.")),
        }
    }

    async fn wait(&self, owner: &Owner, turn: &TurnId) -> Result<WaitedTurn, BlockError> {
        loop {
            let waited = wait_for_turn(&self.inner, owner, turn, WAIT_INTERVAL).await?;
            let waited = waited.ok_or_else(|| BlockError::failed("The session was deleted."))?;
            if waited.turn.status.is_final() {
                return Ok(waited);
            }
        }
    }

    async fn answer(
        &self,
        owner: &Owner,
        session_id: SessionId,
        waited: WaitedTurn,
    ) -> Result<CopilotAnswer, BlockError> {
        let WaitedTurn { turn, summary } = waited;
        match turn.status {
            TurnStatus::Completed => {}
            TurnStatus::Cancelled => return Err(BlockError::failed("The copilot was stopped.")),
            _ => {
                let why = turn.error.map(|error| error.message).unwrap_or_default();
                return Err(BlockError::failed(format!("The copilot failed. {why}")));
            }
        }
        let page = self.inner.ports.messages.page(owner, &session_id, MAX_HISTORY, None).await?;
        let messages = page.map(|page| page.messages).unwrap_or_default();
        let history: Vec<Value> = messages
            .iter()
            .map(|message| json!({ "role": message.role, "content": message.content }))
            .collect();
        let began = turn.started_at.unwrap_or(turn.created_at);
        let ended = turn.ended_at.unwrap_or_else(|| self.inner.ports.clock.now());
        Ok(CopilotAnswer {
            session_id,
            response: summary.text,
            calls: summary.calls,
            history: Value::Array(history),
            usage: turn.usage,
            elapsed: Duration::try_from(ended.duration_since(began)).unwrap_or_default(),
        })
    }

    /// When the execution is stopped or fails, the turn is canceled too. When another worker takes the execution over,
    /// it finds the turn again instead.
    fn cancel_on_drop(&self, owner: &Owner, session: &SessionId) -> CancelOnDrop {
        CancelOnDrop {
            engine: Engine { inner: self.inner.clone() },
            owner: owner.clone(),
            session: session.clone(),
            stop: self.stop.clone(),
            disarmed: false,
        }
    }
}

/// Cancels the session that an earlier attempt created for a node run.
pub(crate) async fn cancel_session(inner: &Arc<EngineInner>, execution: &Execution, run: u64) {
    let key = node_execution_id(&execution.id, run).0;
    let session = SessionId(deterministic_id::uuid("session", &key));
    let owner = Owner::User(execution.user_id.clone());
    let engine = Engine { inner: inner.clone() };
    if let Err(error) = engine.cancel(&owner, &session).await {
        tracing::warn!(session.id = %session, %error, "could not cancel the session of a stopped execution");
    }
}

struct CancelOnDrop {
    engine: Engine,
    owner: Owner,
    session: SessionId,
    stop: Arc<StopSignal>,
    disarmed: bool,
}

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        let continues =
            matches!(self.stop.cause(), Some(StopCause::LeaseLost | StopCause::Shutdown));
        if continues || self.disarmed {
            return;
        }
        let (engine, owner, session) =
            (self.engine.clone(), self.owner.clone(), self.session.clone());
        let tasks = engine.inner.tasks.clone();
        tasks.spawn(TaskKind::Execution, async move {
            // Canceling does nothing if the turn has already ended.
            if let Err(error) = engine.cancel(&owner, &session).await {
                tracing::warn!(session.id = %session, %error, "could not cancel the session of a stopped execution");
            }
        });
    }
}
