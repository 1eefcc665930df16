//! How a message becomes a turn: written in one store call, then announced to the queue.

use std::time::Duration;

use ports::PortResult;
use ports::store::{FollowUpPushed, NewFollowUp, NewTurn, TurnKind, TurnOpened, WhenBusy};
use protocol::follow_up::FollowUp;
use protocol::message::{MessageRole, NewMessage};
use protocol::session::Owner;
use protocol::turn::{Turn, TurnRequest};
use protocol::{Job, MessageId, SessionId, TurnId};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use crate::{Engine, EngineInner};

/// How long the outbox leaves a new turn to the push that follows at once.
pub(crate) const PUSH_GRACE: Duration = Duration::from_secs(5);
/// How long a client waits for the queue. A broker that says nothing must not hold up an answer that does not need it.
const PUSH_TIMEOUT: Duration = Duration::from_millis(500);

#[derive(Clone, Debug)]
pub struct TurnSubmission {
    pub session_id: SessionId,
    pub request: TurnRequest,
    pub kind: SubmissionKind,
}

#[derive(Clone, Debug)]
pub enum SubmissionKind {
    Message {
        text: String,
        /// The client's id for the message: sending it again joins the turn it made.
        client_id: Option<String>,
        /// Files of the session's workspace, by id.
        file_ids: Vec<String>,
    },
    /// Answer again, from the assistant message named, or else the last one.
    Regenerate { from: Option<MessageId> },
}

#[derive(Clone, Debug, PartialEq)]
pub enum SubmissionOutcome {
    /// A new turn; it runs whatever happens to the caller.
    Accepted(Box<Turn>),
    /// The turn this submission made before.
    Joined(Box<Turn>),
    MessageIdReused,
    Busy,
    NothingToRegenerate,
    /// The session is at work: the message waits for the next step of its turn, or did when it was sent before.
    FollowUp(Box<FollowUp>),
    TooManyFollowUps,
    /// The user has as many turns under way as a user may have.
    TooMany,
    NoSession,
}

/// A message for the turn that is at work.
#[derive(Clone, Debug)]
pub struct FollowUpRequest {
    pub session_id: SessionId,
    pub text: String,
    /// The client's id for the message.
    pub client_id: Option<String>,
    pub context: Option<Value>,
    pub file_ids: Vec<String>,
}

impl Engine {
    /// On stable storage when it returns. A push that is lost is found by the sweeper.
    pub async fn submit(
        &self,
        owner: &Owner,
        submission: TurnSubmission,
    ) -> PortResult<SubmissionOutcome> {
        let inner = &self.inner;
        let kind = match submission.kind {
            SubmissionKind::Regenerate { from } => TurnKind::Regenerate { from },
            SubmissionKind::Message { text, client_id, file_ids } => {
                let fingerprint = fingerprint(&text, &submission.request, &file_ids);
                let context = submission.request.context.as_ref();
                let message = self
                    .user_message(owner, &submission.session_id, &text, context, &file_ids)
                    .await?;
                // A follow-up is carried out with what the turn at work may use. A message that may use less waits for a
                // turn of its own.
                let when_busy = match submission.request.permissions.is_unlimited() {
                    true => WhenBusy::FollowUp,
                    false => WhenBusy::Queue,
                };
                TurnKind::Submit { message, client_id, fingerprint, when_busy }
            }
        };
        let new = NewTurn {
            session_id: submission.session_id,
            request: submission.request,
            kind,
            push_grace: PUSH_GRACE,
            parent: None,
        };
        Ok(match inner.open(owner, new).await? {
            TurnOpened::New(turn) => SubmissionOutcome::Accepted(turn),
            TurnOpened::Joined(turn) => SubmissionOutcome::Joined(turn),
            TurnOpened::FollowUp(follow_up) => SubmissionOutcome::FollowUp(follow_up),
            TurnOpened::TooManyFollowUps => SubmissionOutcome::TooManyFollowUps,
            TurnOpened::Reused => SubmissionOutcome::MessageIdReused,
            TurnOpened::Busy => SubmissionOutcome::Busy,
            TurnOpened::NothingToRegenerate => SubmissionOutcome::NothingToRegenerate,
            TurnOpened::TooMany | TurnOpened::TooManyChildren => SubmissionOutcome::TooMany,
            // A turn that nobody's call starts has no parent that could have ended.
            TurnOpened::NoSession | TurnOpened::ParentEnded => SubmissionOutcome::NoSession,
        })
    }

    /// For the turn that is at work, and only while one is.
    pub async fn follow_up(
        &self,
        owner: &Owner,
        request: FollowUpRequest,
    ) -> PortResult<FollowUpPushed> {
        let FollowUpRequest { session_id, text, client_id, context, file_ids } = request;
        // The same as for a message that becomes a follow-up because the session is busy: one id, one message.
        let asked = TurnRequest { context: context.clone(), ..TurnRequest::default() };
        let fingerprint = fingerprint(&text, &asked, &file_ids);
        let message =
            self.user_message(owner, &session_id, &text, context.as_ref(), &file_ids).await?;
        let new = NewFollowUp { message, client_id, fingerprint };
        self.inner.ports.follow_ups.push(owner, &session_id, new).await
    }
    /// The row that is stored: the words as typed, and what is attached as data beside them.
    async fn user_message(
        &self,
        owner: &Owner,
        session: &SessionId,
        text: &str,
        context: Option<&Value>,
        file_ids: &[String],
    ) -> PortResult<NewMessage> {
        let workspace =
            ports::files::SessionWorkspace { owner: owner.clone(), session: session.clone() };
        let mut files: Vec<Value> = Vec::new();
        for id in file_ids {
            let file = ports::files::FileRef::Id(id.clone());
            // Unknown and foreign ids are left out, as if they had not been sent.
            if let Ok(file) = self.inner.ports.files.stat(&workspace, &file).await? {
                files.push(json!(file));
            }
        }
        let mut message = NewMessage::new(MessageRole::User, protocol::text::without_nul(text));
        let mut metadata = Map::new();
        if let Some(context) = context {
            metadata.insert("context".into(), protocol::text::scrub(context.clone()));
        }
        if !files.is_empty() {
            metadata.insert("files".into(), Value::Array(files));
        }
        message.metadata = (!metadata.is_empty()).then_some(Value::Object(metadata));
        Ok(message)
    }
}

impl EngineInner {
    /// The one way a turn comes to be, for people and for tool calls alike. It is accepted whatever becomes of the push:
    /// the outbox has it. One that waits for its workspace is pushed when it gets it.
    pub(crate) async fn open(&self, owner: &Owner, new: NewTurn) -> PortResult<TurnOpened> {
        let opened = self.ports.turns.open(owner, new).await?;
        if let TurnOpened::New(turn) = &opened {
            metrics::counter!("pilothouse_turns_accepted_total").increment(1);
            if turn.admitted {
                self.push(&turn.id).await;
            }
        }
        Ok(opened)
    }

    pub(crate) async fn push(&self, turn: &TurnId) {
        if self.announce(&turn.into()).await {
            return;
        }
        // Without the grace, which was for the push that has failed.
        let now = self.ports.outbox.pushed(std::slice::from_ref(turn), Duration::ZERO);
        if let Err(error) = now.await {
            tracing::warn!(turn.id = %turn, %error, "a new turn is found by the sweeper after its grace");
        }
    }

    /// Whether the queue has taken it. SubmissionKind it does not take the sweeper finds.
    pub(crate) async fn announce(&self, job: &Job) -> bool {
        let pushing = self.ports.queue.push(job);
        match tokio::time::timeout(PUSH_TIMEOUT, pushing).await {
            Ok(Ok(())) => return true,
            Ok(Err(error)) => {
                tracing::warn!(job = %job, %error, "a job could not be pushed; the sweeper will");
            }
            Err(_) => {
                tracing::warn!(job = %job, "the queue is slow to take a job; the sweeper looks after it");
            }
        }
        false
    }

    /// For turns that something has made due.
    pub(crate) async fn push_all(&self, due: &[TurnId]) {
        for turn in due {
            self.push(turn).await;
        }
    }
}

pub(crate) fn fingerprint(text: &str, request: &TurnRequest, file_ids: &[String]) -> String {
    let asked = json!([text, request, file_ids]).to_string();
    Sha256::digest(asked.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}
