//! The calls the terminal client makes.

use protocol::follow_up::FollowUpState;
use protocol::{MessageId, SessionId};
use reqwest::{RequestBuilder, Response};
use serde::Deserialize;
use serde_json::{Value, json};

use super::super::client::{ANSWER_PATIENCE, Client, Failure, not_ours};

pub(super) struct Api {
    pub(super) client: Client,
}

#[derive(Deserialize)]
pub(super) struct Opened {
    pub(super) messages: Vec<PastMessage>,
    pub(super) active_stream: Option<Value>,
}

/// A message that was sent to a turn at work, and what became of it.
#[derive(Deserialize)]
pub(super) struct FollowUp {
    pub(super) id: MessageId,
    pub(super) state: FollowUpState,
}

#[derive(Deserialize)]
struct FollowUps {
    follow_ups: Vec<FollowUp>,
}

#[derive(Deserialize)]
pub(super) struct PastMessage {
    pub(super) role: String,
    pub(super) content: String,
    #[serde(default)]
    pub(super) name: Option<String>,
}

impl Api {
    pub(super) async fn create_session(&self) -> Result<SessionId, Failure> {
        let request = self.client.post(&["chat", "sessions"]);
        let created: Value = self.client.answer(request).await?;
        match created["id"].as_str() {
            Some(id) => Ok(id.into()),
            None => Err(not_ours()),
        }
    }

    pub(super) async fn read_session(&self, session: &SessionId) -> Result<Opened, Failure> {
        let path = ["chat", "sessions", session.as_str()];
        self.client.answer(self.client.get_with(&path, &[("limit", "10")])).await
    }

    pub(super) async fn cancel(&self, session: &SessionId) -> Result<(), Failure> {
        self.client.answer::<Value>(self.post(session, "cancel")).await.map(|_| ())
    }

    /// Sends a message and opens its stream. The id makes it safe to send again.
    pub(super) async fn send_message(
        &self,
        session: &SessionId,
        text: &str,
        id: &MessageId,
    ) -> Result<Response, Failure> {
        let body = json!({"message": text, "message_id": id});
        self.client.send(self.post(session, "stream").json(&body)).await
    }

    /// Sends a message to the turn at work, and only there.
    pub(super) async fn send_follow_up(
        &self,
        session: &SessionId,
        text: &str,
        id: &MessageId,
    ) -> Result<(), Failure> {
        let body = json!({"message": text, "message_id": id});
        let path = ["chat", "sessions", session.as_str(), "messages", "pending"];
        self.client.answer::<Value>(self.client.post(&path).json(&body)).await.map(|_| ())
    }

    pub(super) async fn follow_ups(&self, session: &SessionId) -> Result<Vec<FollowUp>, Failure> {
        let path = ["chat", "sessions", session.as_str(), "messages", "pending"];
        Ok(self.client.answer::<FollowUps>(self.client.get(&path)).await?.follow_ups)
    }

    /// The turn that runs or has just ended, if there is one.
    pub(super) async fn newest_turn(&self, session: &SessionId) -> Result<Option<String>, Failure> {
        let looking = tokio::time::timeout(ANSWER_PATIENCE, self.resume(session));
        let response = looking.await.unwrap_or(Err(Failure::Unreachable))?;
        // Its words are not read: dropping the answer hangs up.
        Ok(turn_of(&response))
    }

    /// The session's running turn from its beginning.
    pub(super) async fn resume(&self, session: &SessionId) -> Result<Response, Failure> {
        self.client.send(self.get(session, "stream")).await
    }

    /// What follows an event of a turn.
    pub(super) async fn continue_turn(&self, turn: &str, after: &str) -> Result<Response, Failure> {
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

/// The turn that a stream belongs to.
pub(super) fn turn_of(stream: &Response) -> Option<String> {
    let turn = stream.headers().get("x-turn-id")?;
    turn.to_str().ok().map(str::to_owned)
}
