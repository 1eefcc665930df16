//! Sub-sessions: a tool call creates them and submits messages to them like any client.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use ports::call_services::{NewSubSession, SubSessionTurn, SubSessionView, SubSessions};
use ports::files::SessionWorkspace;
use ports::store::{NewSession, ParentTurn, TurnOpened, WhenBusy};
use ports::tool::ToolError;
use protocol::permissions::Permissions;
use protocol::response::{SubSessionMessage, SubSessionProgress, SubSessionState};
use protocol::session::{Owner, Session};
use protocol::text::{cut_end, without_nul};
use protocol::turn::{Turn, TurnRequest, TurnStatus};
use protocol::{SessionId, TurnId};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use crate::job::waiting_calls::WaitingCalls;
use crate::submit::JobMessage;
use crate::wait_for_turn::{WaitedTurn, wait_for_turn};
use crate::{Engine, EngineInner, deterministic_id};

/// How many messages of a sub-session its progress shows, and how many characters of each.
const SHOWN_MESSAGES: u32 = 5;
const SHOWN_CHARS: usize = 400;
/// How many files of a sub-session its result lists.
const SHOWN_FILES: usize = 50;

/// Sub-session calls on behalf of one tool call.
pub(crate) struct SubSessionService {
    pub(crate) inner: Arc<EngineInner>,
    pub(crate) owner: Owner,
    pub(crate) session: Session,
    pub(crate) turn: TurnId,
    pub(crate) request: TurnRequest,
    /// The call's idempotency key.
    pub(crate) key: String,
    pub(crate) waiting_calls: Arc<WaitingCalls>,
    pub(crate) cancel: CancellationToken,
}

#[async_trait]
impl SubSessions for SubSessionService {
    async fn start(&self, new: NewSubSession) -> Result<SubSessionTurn, ToolError> {
        let permissions = self.request.permissions.narrowed(new.filter);
        let session = match &new.resume {
            Some(id) => self.child(id).await?.id,
            None => self.create(new.system_context).await?,
        };
        if new.resume.is_some() {
            self.refuse_wider_permissions(&session, &permissions).await?;
        }
        let request = TurnRequest { context: None, permissions, ..self.request.clone() };
        let message = JobMessage {
            session_id: session.clone(),
            request,
            prompt: &new.prompt,
            key: &self.key,
            when_busy: WhenBusy::FollowUp,
            parent: Some(self.parent()),
        };
        let turn_id = match self.inner.submit_for_job(&self.owner, message).await? {
            TurnOpened::New(turn) | TurnOpened::Joined(turn) => turn.id,
            TurnOpened::FollowUp(follow_up) => follow_up.turn_id,
            refused => {
                if new.resume.is_none() {
                    self.delete_empty(&session).await;
                }
                return Err(refusal(&refused, &self.inner));
            }
        };
        Ok(SubSessionTurn { session_id: session, turn_id })
    }

    async fn wait(
        &self,
        which: &SubSessionTurn,
        at_most: Duration,
    ) -> Result<SubSessionView, ToolError> {
        let waiting = self.waiting_calls.begin_wait();
        let waited = tokio::select! {
            biased;
            () = self.cancel.cancelled() => return Err(stopping()),
            waited = wait_for_turn(&self.inner, &self.owner, &which.turn_id, at_most) => waited,
        };
        drop(waiting);
        let waited = waited?.ok_or_else(not_found)?;
        self.view(&which.session_id, waited).await
    }

    async fn current(&self, session: &SessionId) -> Result<SubSessionTurn, ToolError> {
        let session_id = self.child(session).await?.id;
        let current = self.inner.ports.turns.current(&self.owner, &session_id).await?;
        let (turn, _) = current.ok_or_else(not_found)?;
        Ok(SubSessionTurn { session_id, turn_id: turn.id })
    }

    async fn cancel(&self, session: &SessionId) -> Result<(), ToolError> {
        let session = self.child(session).await?.id;
        let engine = Engine { inner: self.inner.clone() };
        engine.cancel(&self.owner, &session).await?;
        Ok(())
    }

    async fn progress(&self, session: &SessionId) -> Result<SubSessionProgress, ToolError> {
        let session = self.child(session).await?.id;
        let page =
            self.inner.ports.messages.page(&self.owner, &session, SHOWN_MESSAGES, None).await?;
        let page = page.ok_or_else(not_found)?;
        let newest = page.messages.iter().rev().take(SHOWN_MESSAGES as usize).rev();
        let last_messages = newest.map(|message| SubSessionMessage {
            role: message.role,
            content: cut_end(&message.content, SHOWN_CHARS),
        });
        // Sequence numbers have no gaps, so the last one is the count.
        let message_count = page.messages.last().map_or(0, |last| last.sequence.max(0) as u64);
        Ok(SubSessionProgress { message_count, last_messages: last_messages.collect() })
    }
}

impl SubSessionService {
    fn parent(&self) -> ParentTurn {
        ParentTurn { turn: self.turn.clone(), fan_out: self.inner.options.tree.fan_out }
    }

    async fn create(&self, system_context: Option<String>) -> Result<SessionId, ToolError> {
        let deepest = self.inner.options.tree.depth;
        if self.session.depth >= deepest {
            return Err(ToolError::tell(
                "sub_session_too_deep",
                format!(
                    "Sub-sessions may be {deepest} levels deep, and this is the last one. Do the work here."
                ),
            ));
        }
        let mut metadata = Map::new();
        if let Some(context) = system_context.filter(|context| !context.trim().is_empty()) {
            metadata.insert("system_context".into(), Value::String(without_nul(&context)));
        }
        let new = NewSession {
            id: Some(SessionId(deterministic_id::uuid("session", &self.key))),
            dry_run: self.session.dry_run,
            metadata,
            parent_session_id: Some(self.session.id.clone()),
            depth: self.session.depth + 1,
        };
        Ok(self.inner.ports.sessions.create(&self.owner, new).await?.id)
    }

    /// Deletes a new sub-session whose turn was refused, so that it does not show up in the session list.
    async fn delete_empty(&self, session: &SessionId) {
        if let Err(error) = self.inner.ports.sessions.delete(&self.owner, session).await {
            tracing::warn!(%error, "could not delete a sub-session whose turn was refused");
        }
    }

    /// A sub-session of this session; any other id is reported as not found.
    async fn child(&self, id: &SessionId) -> Result<Session, ToolError> {
        let found = self.inner.ports.sessions.get(&self.owner, id).await?;
        found
            .filter(|session| session.parent_session_id.as_ref() == Some(&self.session.id))
            .ok_or_else(not_found)
    }

    /// A prompt sent to a running turn runs with that turn's permissions, which must not exceed the caller's.
    async fn refuse_wider_permissions(
        &self,
        session: &SessionId,
        permissions: &Permissions,
    ) -> Result<(), ToolError> {
        match self.inner.ports.turns.current(&self.owner, session).await? {
            Some((turn, _))
                if !turn.status.is_final() && !turn.request.permissions.within(permissions) =>
            {
                Err(ToolError::tell(
                    "sub_session_busy",
                    "The sub-session is running with other permissions. Wait for it to end, then ask it again.",
                ))
            }
            _ => Ok(()),
        }
    }

    async fn view(
        &self,
        session: &SessionId,
        waited: WaitedTurn,
    ) -> Result<SubSessionView, ToolError> {
        let WaitedTurn { turn, summary } = waited;
        let state = match turn.status {
            TurnStatus::Queued => SubSessionState::Queued,
            TurnStatus::Running => SubSessionState::Running,
            TurnStatus::Completed => SubSessionState::Completed,
            TurnStatus::Failed => SubSessionState::Error,
            TurnStatus::Cancelled => SubSessionState::Cancelled,
        };
        let files = if turn.status.is_final() { self.files(session).await? } else { Vec::new() };
        let answered = state == SubSessionState::Completed;
        Ok(SubSessionView {
            state,
            error: turn.error.as_ref().map(|error| error.message.clone()),
            elapsed: self.elapsed(&turn),
            response: Some(summary.text).filter(|_| answered),
            calls: summary.calls,
            files,
        })
    }

    async fn files(
        &self,
        session: &SessionId,
    ) -> Result<Vec<protocol::response::WorkspaceFile>, ToolError> {
        let workspace = SessionWorkspace { owner: self.owner.clone(), session: session.clone() };
        Ok(self.inner.ports.files.list(&workspace, "", SHOWN_FILES).await?.files)
    }

    /// Wall-clock time, for display.
    fn elapsed(&self, turn: &Turn) -> Duration {
        let until = turn.ended_at.unwrap_or_else(|| self.inner.ports.clock.now());
        Duration::try_from(until.duration_since(turn.created_at)).unwrap_or_default()
    }
}

fn not_found() -> ToolError {
    ToolError::tell("sub_session_not_found", "There is no such sub-session of this session.")
}

fn stopping() -> ToolError {
    ToolError::tell("cancelled", "This turn is being stopped.")
}

fn refusal(opened: &TurnOpened, inner: &EngineInner) -> ToolError {
    match opened {
        TurnOpened::TooMany => ToolError::tell(
            "too_many_turns",
            "The user already has the maximum number of unfinished turns. Wait for one to end.",
        ),
        TurnOpened::TooManyChildren => ToolError::tell(
            "too_many_sub_sessions",
            format!(
                "This turn has {} running sub-sessions, which is the maximum. Wait for one to end.",
                inner.options.tree.fan_out
            ),
        ),
        TurnOpened::TooManyFollowUps => ToolError::tell(
            "too_many_follow_ups",
            "The sub-session is running and has the maximum number of waiting messages. Wait for it to end.",
        ),
        TurnOpened::ParentEnded => stopping(),
        _ => not_found(),
    }
}
