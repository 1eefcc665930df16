//! Fake call services: they replace the engine, with results chosen by the test.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use ports::call_services::{
    AgentBuilding, AgentBuilt, AgentChecked, AgentFixed, BackgroundCalls, BackgroundView,
    BuildAgent, CallServices, GivenAgent, NewSubSession, OperationStates, ProgressReports,
    SubSessionTurn, SubSessionView, SubSessions,
};
use ports::store::OperationKey;
use ports::tool::ToolError;
use protocol::graph::Graph;
use protocol::message::MessageRole;
use protocol::operation::Operation;
use protocol::response::{
    BackgroundStatus, BackgroundTool, SubSessionMessage, SubSessionProgress, SubSessionState,
    ToolResponse,
};
use protocol::{BackgroundId, GraphId, SessionId};
use serde_json::{Value, json};

use super::agents::FakeExecutions;

/// One sub-session, one background call and one operation, with a record of the calls.
#[derive(Default)]
pub(crate) struct FakeServices {
    pub(crate) asked: Mutex<Vec<RecordedCall>>,
    pub(crate) shown: Mutex<Vec<Value>>,
    pub(crate) operation: Option<Operation>,
    /// Output of the background call, once it has finished.
    pub(crate) background: Mutex<Option<Value>>,
    /// State of the sub-session; `Running` unless set.
    pub(crate) state: Mutex<Option<SubSessionState>>,
    /// Executions of agents and blocks.
    pub(crate) runs: Arc<FakeExecutions>,
    /// Whether the session has read the guide to building agents.
    pub(crate) guide_was_read: bool,
    /// Whether waits never end.
    pub(crate) hangs: bool,
    /// The agents that were built, and what the next builds answer; then `NotFound`.
    pub(crate) builds: Mutex<Vec<BuildAgent>>,
    pub(crate) next_built: Mutex<VecDeque<AgentBuilt>>,
    /// The answer to the next fix; then `NotFound`.
    pub(crate) next_fixed: Mutex<Option<AgentFixed>>,
    /// The user's own agents.
    pub(crate) own: Vec<Graph>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum RecordedCall {
    Start(NewSubSession),
    Wait(Duration),
    Cancel,
    WaitInBackground(Duration),
    CancelInBackground,
}

pub(crate) const SUB_SESSION: &str = "sub-1";
pub(crate) const BACKGROUND: &str = "bg-0123456789ab";

impl FakeServices {
    pub(crate) fn services(self: &Arc<Self>) -> CallServices {
        CallServices {
            sub_sessions: self.clone(),
            background: self.clone(),
            operations: self.clone(),
            reports: self.clone(),
            agents: self.runs.clone(),
            building: self.clone(),
        }
    }

    pub(crate) fn asked(&self) -> Vec<RecordedCall> {
        self.asked.lock().expect("not poisoned").clone()
    }

    fn note(&self, asked: RecordedCall) {
        self.asked.lock().expect("not poisoned").push(asked);
    }

    fn known(&self, session: &SessionId) -> Result<SubSessionTurn, ToolError> {
        match session.as_str() {
            SUB_SESSION => Ok(SubSessionTurn { session_id: session.clone(), turn_id: "t".into() }),
            _ => Err(ToolError::tell("sub_session_not_found", "Sub-session not found.")),
        }
    }
}

/// Builds answer as the test chooses: the stages are tested with the engine.
#[async_trait]
impl AgentBuilding for FakeServices {
    fn was_called(&self, _: &str) -> bool {
        self.guide_was_read
    }

    async fn newest(&self, id: &GraphId) -> Result<Option<Graph>, ToolError> {
        Ok(self.own.iter().find(|graph| graph.id == *id).cloned())
    }

    fn spec_of(&self, graph: &Graph) -> String {
        format!("name: {}", graph.name)
    }

    async fn check(&self, _: GivenAgent) -> Result<AgentChecked, ToolError> {
        Ok(AgentChecked::NotFound)
    }

    async fn fix(&self, _: GivenAgent) -> Result<AgentFixed, ToolError> {
        let fixed = self.next_fixed.lock().expect("not poisoned").take();
        Ok(fixed.unwrap_or(AgentFixed::NotFound))
    }

    async fn build(&self, build: BuildAgent) -> Result<AgentBuilt, ToolError> {
        self.builds.lock().expect("not poisoned").push(build);
        let next = self.next_built.lock().expect("not poisoned").pop_front();
        Ok(next.unwrap_or(AgentBuilt::NotFound))
    }
}

#[async_trait]
impl SubSessions for FakeServices {
    async fn start(&self, new: NewSubSession) -> Result<SubSessionTurn, ToolError> {
        let session = new.resume.clone().unwrap_or_else(|| SUB_SESSION.into());
        self.note(RecordedCall::Start(new));
        self.known(&session)
    }

    async fn wait(
        &self,
        _: &SubSessionTurn,
        at_most: Duration,
    ) -> Result<SubSessionView, ToolError> {
        self.note(RecordedCall::Wait(at_most));
        if self.hangs {
            std::future::pending::<()>().await;
        }
        let state = *self.state.lock().expect("not poisoned");
        let state = state.unwrap_or(SubSessionState::Running);
        let done = state == SubSessionState::Completed;
        Ok(SubSessionView {
            state,
            response: done.then(|| "It is 42.".to_owned()),
            error: (state == SubSessionState::Error)
                .then(|| "The model could not be reached.".to_owned()),
            calls: Vec::new(),
            files: Vec::new(),
            elapsed: Duration::from_millis(2500),
        })
    }

    async fn current(&self, session: &SessionId) -> Result<SubSessionTurn, ToolError> {
        self.known(session)
    }

    async fn cancel(&self, _: &SessionId) -> Result<(), ToolError> {
        self.note(RecordedCall::Cancel);
        let mut state = self.state.lock().expect("not poisoned");
        state.get_or_insert(SubSessionState::Cancelled);
        Ok(())
    }

    async fn progress(&self, _: &SessionId) -> Result<SubSessionProgress, ToolError> {
        let response =
            SubSessionMessage { role: MessageRole::Assistant, content: "I am looking.".into() };
        Ok(SubSessionProgress { message_count: 7, last_messages: vec![response] })
    }
}

#[async_trait]
impl BackgroundCalls for FakeServices {
    fn list(&self) -> Vec<BackgroundTool> {
        let done = self.background.lock().expect("not poisoned").is_some();
        let background_id = BackgroundId::from(BACKGROUND);
        vec![BackgroundTool { background_id, tool: "bash_exec".into(), age_seconds: 700, done }]
    }

    async fn wait(&self, id: &BackgroundId, at_most: Duration) -> Option<BackgroundView> {
        self.note(RecordedCall::WaitInBackground(at_most));
        (id.as_str() == BACKGROUND).then(|| self.in_background(BackgroundStatus::StillRunning))
    }

    async fn cancel(&self, id: &BackgroundId) -> Option<BackgroundView> {
        self.note(RecordedCall::CancelInBackground);
        (id.as_str() == BACKGROUND).then(|| self.in_background(BackgroundStatus::Cancelled))
    }
}

impl FakeServices {
    fn in_background(&self, otherwise: BackgroundStatus) -> BackgroundView {
        let output = self.background.lock().expect("not poisoned").take();
        let status = if output.is_some() { BackgroundStatus::Completed } else { otherwise };
        BackgroundView { tool: "bash_exec".into(), status, output }
    }
}

#[async_trait]
impl OperationStates for FakeServices {
    async fn get(&self, which: &OperationKey) -> Result<Option<Operation>, ToolError> {
        let is_meant = |operation: &&Operation| match which {
            OperationKey::Operation(id) => operation.id == *id,
            OperationKey::Task(id) => operation.task_id == *id,
        };
        Ok(self.operation.as_ref().filter(is_meant).cloned())
    }
}

impl ProgressReports for FakeServices {
    fn show(&self, so_far: &ToolResponse) {
        self.shown.lock().expect("not poisoned").push(json!(so_far));
    }

    fn show_stage(&self, so_far: &ToolResponse) {
        self.show(so_far);
    }
}
