//! The engine's side of a call, played: what tools may ask of it, with answers that a test chooses.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use ports::call_services::{
    BackgroundCalls, BackgroundView, CallServices, NewSubSession, OperationStates, ProgressReports,
    SubSessionTurn, SubSessionView, SubSessions,
};
use ports::store::OperationKey;
use ports::tool::ToolError;
use protocol::message::MessageRole;
use protocol::operation::Operation;
use protocol::response::{
    BackgroundStatus, BackgroundTool, SubSessionMessage, SubSessionProgress, SubSessionState,
    ToolResponse,
};
use protocol::{BackgroundId, SessionId};
use serde_json::{Value, json};

use super::agents::PlayedRuns;

/// One sub-session, one call in the background and one operation, and a record of what was asked.
#[derive(Default)]
pub(super) struct Played {
    pub(super) asked: Mutex<Vec<Asked>>,
    pub(super) shown: Mutex<Vec<Value>>,
    pub(super) operation: Option<Operation>,
    /// What the call in the background has answered, once it has.
    pub(super) background: Mutex<Option<Value>>,
    /// How the sub-session stands; `Running` unless a test says otherwise.
    pub(super) state: Mutex<Option<SubSessionState>>,
    /// Runs of agents and blocks.
    pub(super) runs: Arc<PlayedRuns>,
    /// Whether waits end at all.
    pub(super) hangs: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Asked {
    Start(NewSubSession),
    Wait(Duration),
    Cancel,
    WaitInBackground(Duration),
    CancelInBackground,
}

pub(super) const SUB_SESSION: &str = "sub-1";
pub(super) const BACKGROUND: &str = "bg-0123456789ab";

impl Played {
    pub(super) fn services(self: &Arc<Self>) -> CallServices {
        CallServices {
            sub_sessions: self.clone(),
            background: self.clone(),
            operations: self.clone(),
            reports: self.clone(),
            agents: self.runs.clone(),
        }
    }

    pub(super) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().expect("no test panics in there").clone()
    }

    fn note(&self, asked: Asked) {
        self.asked.lock().expect("no test panics in there").push(asked);
    }

    fn known(&self, session: &SessionId) -> Result<SubSessionTurn, ToolError> {
        match session.as_str() {
            SUB_SESSION => Ok(SubSessionTurn { session_id: session.clone(), turn_id: "t".into() }),
            _ => Err(ToolError::tell("sub_session_not_found", "There is no such sub-session.")),
        }
    }
}

#[async_trait]
impl SubSessions for Played {
    async fn start(&self, new: NewSubSession) -> Result<SubSessionTurn, ToolError> {
        let session = new.resume.clone().unwrap_or_else(|| SUB_SESSION.into());
        self.note(Asked::Start(new));
        self.known(&session)
    }

    async fn wait(
        &self,
        _: &SubSessionTurn,
        at_most: Duration,
    ) -> Result<SubSessionView, ToolError> {
        self.note(Asked::Wait(at_most));
        if self.hangs {
            std::future::pending::<()>().await;
        }
        let state = *self.state.lock().expect("no test panics in there");
        let state = state.unwrap_or(SubSessionState::Running);
        let done = state == SubSessionState::Completed;
        Ok(SubSessionView {
            state,
            response: done.then(|| "It is 42.".to_owned()),
            error: (state == SubSessionState::Error).then(|| "The model was away.".to_owned()),
            calls: Vec::new(),
            files: Vec::new(),
            elapsed: Duration::from_millis(2500),
        })
    }

    async fn current(&self, session: &SessionId) -> Result<SubSessionTurn, ToolError> {
        self.known(session)
    }

    async fn cancel(&self, _: &SessionId) -> Result<(), ToolError> {
        self.note(Asked::Cancel);
        let mut state = self.state.lock().expect("no test panics in there");
        state.get_or_insert(SubSessionState::Cancelled);
        Ok(())
    }

    async fn progress(&self, _: &SessionId) -> Result<SubSessionProgress, ToolError> {
        let said =
            SubSessionMessage { role: MessageRole::Assistant, content: "I am looking.".into() };
        Ok(SubSessionProgress { message_count: 7, last_messages: vec![said] })
    }
}

#[async_trait]
impl BackgroundCalls for Played {
    fn list(&self) -> Vec<BackgroundTool> {
        let done = self.background.lock().expect("no test panics in there").is_some();
        let background_id = BackgroundId::from(BACKGROUND);
        vec![BackgroundTool { background_id, tool: "bash_exec".into(), age_seconds: 700, done }]
    }

    async fn wait(&self, id: &BackgroundId, at_most: Duration) -> Option<BackgroundView> {
        self.note(Asked::WaitInBackground(at_most));
        (id.as_str() == BACKGROUND).then(|| self.in_background(BackgroundStatus::StillRunning))
    }

    async fn cancel(&self, id: &BackgroundId) -> Option<BackgroundView> {
        self.note(Asked::CancelInBackground);
        (id.as_str() == BACKGROUND).then(|| self.in_background(BackgroundStatus::Cancelled))
    }
}

impl Played {
    fn in_background(&self, otherwise: BackgroundStatus) -> BackgroundView {
        let output = self.background.lock().expect("no test panics in there").take();
        let status = if output.is_some() { BackgroundStatus::Completed } else { otherwise };
        BackgroundView { tool: "bash_exec".into(), status, output }
    }
}

#[async_trait]
impl OperationStates for Played {
    async fn get(&self, which: &OperationKey) -> Result<Option<Operation>, ToolError> {
        let is_meant = |operation: &&Operation| match which {
            OperationKey::Operation(id) => operation.id == *id,
            OperationKey::Task(id) => operation.task_id == *id,
        };
        Ok(self.operation.as_ref().filter(is_meant).cloned())
    }
}

impl ProgressReports for Played {
    fn show(&self, so_far: &ToolResponse) {
        self.shown.lock().expect("no test panics in there").push(json!(so_far));
    }
}
