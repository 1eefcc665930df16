//! The API calls of the terminal chat.

use protocol::follow_up::FollowUpState;
use protocol::{MessageId, SessionId};
use reqwest::{RequestBuilder, Response};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::cli::client::{ApiClient, ClientError, RESPONSE_TIMEOUT, not_a_pilothouse_server};

pub(crate) struct ChatApi {
    pub(crate) client: ApiClient,
}

#[derive(Deserialize)]
pub(crate) struct OpenedSession {
    pub(crate) messages: Vec<PastMessage>,
    pub(crate) active_stream: Option<Value>,
}

/// A message sent to a running turn, and its state.
#[derive(Deserialize)]
pub(crate) struct FollowUpStatus {
    pub(crate) id: MessageId,
    pub(crate) state: FollowUpState,
}

#[derive(Deserialize)]
struct FollowUpsResponse {
    follow_ups: Vec<FollowUpStatus>,
}

#[derive(Deserialize)]
pub(crate) struct PastMessage {
    pub(crate) role: String,
    pub(crate) content: String,
    #[serde(default)]
    pub(crate) name: Option<String>,
}

impl ChatApi {
    pub(crate) async fn create_session(&self) -> Result<SessionId, ClientError> {
        let request = self.client.post(&["chat", "sessions"]);
        let created: Value = self.client.fetch(request).await?;
        match created["id"].as_str() {
            Some(id) => Ok(id.into()),
            None => Err(not_a_pilothouse_server()),
        }
    }

    pub(crate) async fn read_session(
        &self,
        session: &SessionId,
    ) -> Result<OpenedSession, ClientError> {
        let path = ["chat", "sessions", session.as_str()];
        self.client.fetch(self.client.get_with(&path, &[("limit", "10")])).await
    }

    pub(crate) async fn cancel(&self, session: &SessionId) -> Result<(), ClientError> {
        self.client.fetch::<Value>(self.post(session, "cancel")).await.map(|_| ())
    }

    /// Sends a message and opens its stream. The id makes it safe to send again.
    pub(crate) async fn send_message(
        &self,
        session: &SessionId,
        text: &str,
        id: &MessageId,
    ) -> Result<Response, ClientError> {
        let body = json!({"message": text, "message_id": id});
        self.client.send(self.post(session, "stream").json(&body)).await
    }

    /// Sends a message to the running turn only; it never starts a new turn.
    pub(crate) async fn send_follow_up(
        &self,
        session: &SessionId,
        text: &str,
        id: &MessageId,
    ) -> Result<(), ClientError> {
        let body = json!({"message": text, "message_id": id});
        let path = ["chat", "sessions", session.as_str(), "messages", "pending"];
        self.client.fetch::<Value>(self.client.post(&path).json(&body)).await.map(|_| ())
    }

    pub(crate) async fn follow_ups(
        &self,
        session: &SessionId,
    ) -> Result<Vec<FollowUpStatus>, ClientError> {
        let path = ["chat", "sessions", session.as_str(), "messages", "pending"];
        Ok(self.client.fetch::<FollowUpsResponse>(self.client.get(&path)).await?.follow_ups)
    }

    /// The turn that runs or has just ended, if any.
    pub(crate) async fn newest_turn(
        &self,
        session: &SessionId,
    ) -> Result<Option<String>, ClientError> {
        let resuming = tokio::time::timeout(RESPONSE_TIMEOUT, self.resume(session));
        let response = resuming.await.unwrap_or(Err(ClientError::Unreachable))?;
        // The body is not read: dropping the response closes the connection.
        Ok(turn_of(&response))
    }

    /// The stream of the session's running turn from its beginning.
    pub(crate) async fn resume(&self, session: &SessionId) -> Result<Response, ClientError> {
        self.client.send(self.get(session, "stream")).await
    }

    /// The stream of a turn after an event.
    pub(crate) async fn continue_turn(
        &self,
        turn: &str,
        after: &str,
    ) -> Result<Response, ClientError> {
        let request = self.client.get(&["chat", "tasks", turn, "stream"]);
        self.client.send(request.header("last-event-id", after)).await
    }

    fn get(&self, session: &SessionId, what: &str) -> RequestBuilder {
        self.client.get(&["chat", "sessions", session.as_str(), what])
    }

    fn post(&self, session: &SessionId, what: &str) -> RequestBuilder {
        self.client.post(&["chat", "sessions", session.as_str(), what])
    }
}

/// The turn of a stream.
pub(crate) fn turn_of(stream: &Response) -> Option<String> {
    let turn = stream.headers().get("x-turn-id")?;
    turn.to_str().ok().map(str::to_owned)
}
