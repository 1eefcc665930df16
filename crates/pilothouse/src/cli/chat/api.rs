//! The calls the terminal client makes.

use std::time::Duration;

use protocol::follow_up::FollowUpState;
use protocol::{MessageId, SessionId};
use reqwest::{RequestBuilder, Response, StatusCode};
use serde::Deserialize;
use serde_json::{Value, json};
use url::Url;

use crate::config::Secret;

const CONNECT_PATIENCE: Duration = Duration::from_secs(5);
/// For everything but streams.
const ANSWER_PATIENCE: Duration = Duration::from_secs(30);
/// Three heartbeats: a stream that is silent for longer is dead.
const SILENCE: Duration = Duration::from_secs(30);

pub(super) struct Api {
    client: reqwest::Client,
    base: String,
    token: Option<Secret>,
}

/// Why a call did not give what was asked for.
#[derive(Debug)]
pub(super) enum Failure {
    /// Nobody answers, or the answer broke off. Trying again may help.
    Unreachable,
    Refused {
        status: u16,
        detail: String,
    },
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
    pub(super) fn new(url: &Url, token: Option<&Secret>) -> anyhow::Result<Self> {
        let client = reqwest::Client::builder()
            .connect_timeout(CONNECT_PATIENCE)
            .read_timeout(SILENCE)
            .no_proxy()
            .build()?;
        let base = format!("{}/api", url.as_str().trim_end_matches('/'));
        Ok(Self { client, base, token: token.cloned() })
    }

    pub(super) async fn create_session(&self) -> Result<SessionId, Failure> {
        let request = self.client.post(format!("{}/chat/sessions", self.base));
        let created: Value = self.answer(request).await?;
        match created["id"].as_str() {
            Some(id) => Ok(id.into()),
            None => Err(not_ours()),
        }
    }

    pub(super) async fn read_session(&self, session: &SessionId) -> Result<Opened, Failure> {
        self.answer(self.client.get(self.session(session, "?limit=10"))).await
    }

    pub(super) async fn cancel(&self, session: &SessionId) -> Result<(), Failure> {
        let request = self.client.post(self.session(session, "/cancel"));
        self.answer::<Value>(request).await.map(|_| ())
    }

    /// Sends a message and opens its stream. The id makes it safe to send again.
    pub(super) async fn send_message(
        &self,
        session: &SessionId,
        text: &str,
        id: &MessageId,
    ) -> Result<Response, Failure> {
        let body = json!({"message": text, "message_id": id});
        self.send(self.client.post(self.session(session, "/stream")).json(&body)).await
    }

    /// Sends a message to the turn at work, and only there.
    pub(super) async fn send_follow_up(
        &self,
        session: &SessionId,
        text: &str,
        id: &MessageId,
    ) -> Result<(), Failure> {
        let body = json!({"message": text, "message_id": id});
        let request = self.client.post(self.session(session, "/messages/pending")).json(&body);
        self.answer::<Value>(request).await.map(|_| ())
    }

    pub(super) async fn follow_ups(&self, session: &SessionId) -> Result<Vec<FollowUp>, Failure> {
        let request = self.client.get(self.session(session, "/messages/pending"));
        Ok(self.answer::<FollowUps>(request).await?.follow_ups)
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
        self.send(self.client.get(self.session(session, "/stream"))).await
    }

    /// What follows an event of a turn.
    pub(super) async fn continue_turn(&self, turn: &str, after: &str) -> Result<Response, Failure> {
        let request = self.client.get(format!("{}/chat/tasks/{turn}/stream", self.base));
        self.send(request.header("last-event-id", after)).await
    }

    fn session(&self, session: &SessionId, rest: &str) -> String {
        format!("{}/chat/sessions/{session}{rest}", self.base)
    }

    async fn answer<T: serde::de::DeserializeOwned>(
        &self,
        request: RequestBuilder,
    ) -> Result<T, Failure> {
        let answer = async {
            let response = self.send(request).await?;
            response.json().await.map_err(|error| match error.is_decode() {
                true => not_ours(),
                false => Failure::Unreachable,
            })
        };
        tokio::time::timeout(ANSWER_PATIENCE, answer).await.unwrap_or(Err(Failure::Unreachable))
    }

    async fn send(&self, request: RequestBuilder) -> Result<Response, Failure> {
        let request = match &self.token {
            Some(token) => request.bearer_auth(token.expose()),
            None => request,
        };
        let response = request.send().await.map_err(|_| Failure::Unreachable)?;
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        // A server that is restarting or overloaded is as good as away: try again.
        if status == StatusCode::SERVICE_UNAVAILABLE {
            return Err(Failure::Unreachable);
        }
        let body: Value = response.json().await.unwrap_or_default();
        let detail = body["detail"].as_str().or(body["detail"]["message"].as_str());
        let detail = detail.map_or_else(|| format!("The server answered {status}."), str::to_owned);
        Err(Failure::Refused { status: status.as_u16(), detail })
    }
}

/// The turn that a stream belongs to.
pub(super) fn turn_of(stream: &Response) -> Option<String> {
    let turn = stream.headers().get("x-turn-id")?;
    turn.to_str().ok().map(str::to_owned)
}

impl Failure {
    pub(super) fn for_person(&self, url: &Url) -> String {
        match self {
            Self::Unreachable => format!(
                "No Pilothouse server answers at {url}. Start one with `pilothouse serve`, or say where it is with --url."
            ),
            Self::Refused { status: 401, detail } => format!(
                "{detail} Put a token into PILOTHOUSE_TOKEN; `pilothouse token` makes one for development."
            ),
            Self::Refused { detail, .. } => detail.clone(),
        }
    }
}

fn not_ours() -> Failure {
    Failure::Refused {
        status: 200,
        detail: "What answers there is not a Pilothouse server.".to_owned(),
    }
}
