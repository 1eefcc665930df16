//! Arguments and responses shared by the sub-session tools.

use std::time::Duration;

use ports::call_services::{SubSessionTurn, SubSessionView};
use ports::tool::ToolError;
use protocol::SessionId;
use protocol::response::{ResponseBody, SubSessionProgress, SubSessionState, ToolResponse};

/// The sub-session id from either of its two argument names. Blank values count as absent.
pub(crate) fn one_id(
    sub_session_id: Option<String>,
    alias: Option<String>,
) -> Result<Option<SessionId>, ToolError> {
    let given = |id: Option<String>| id.filter(|id| !id.trim().is_empty()).map(SessionId);
    match (given(sub_session_id), given(alias)) {
        (Some(id), Some(other)) if id != other => Err(ToolError::tell(
            "invalid_arguments",
            "sub_session_id and sub_autopilot_session_id name different sub-sessions. Give only one.",
        )),
        (id, other) => Ok(id.or(other)),
    }
}

/// The response shown while the sub-session has only just started.
pub(crate) fn just_started(which: &SubSessionTurn) -> ToolResponse {
    let view = SubSessionView {
        state: SubSessionState::Running,
        response: None,
        error: None,
        calls: Vec::new(),
        files: Vec::new(),
        elapsed: Duration::ZERO,
    };
    status(&which.session_id, view, None)
}

pub(crate) fn status(
    session: &SessionId,
    view: SubSessionView,
    progress: Option<SubSessionProgress>,
) -> ToolResponse {
    let message = sentence(session, &view);
    let SubSessionView { state, response, error, calls, files, elapsed } = view;
    ToolResponse::new(
        message,
        ResponseBody::SubSessionStatus {
            status: state,
            sub_session_id: session.clone(),
            sub_autopilot_session_id: session.clone(),
            sub_autopilot_session_link: format!("/copilot?sessionId={session}"),
            response,
            error,
            tool_calls: calls,
            elapsed_seconds: elapsed.as_secs(),
            sub_workspace_files: files,
            progress,
        },
    )
}

fn sentence(session: &SessionId, view: &SubSessionView) -> String {
    let later = format!("Check later with get_sub_session_result and sub_session_id {session}.");
    match view.state {
        SubSessionState::Completed => "The sub-session has finished.".into(),
        SubSessionState::Running => format!("The sub-session is running. {later}"),
        SubSessionState::Queued => format!("The sub-session is queued. {later}"),
        SubSessionState::Cancelled => "The sub-session was canceled before it finished.".into(),
        SubSessionState::Error => {
            let why = view.error.as_deref().unwrap_or("No reason was given.");
            format!("The sub-session failed: {why}")
        }
    }
}
