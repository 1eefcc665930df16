//! Submits a message: writes message and turn in one store call, then pushes the turn to the queue.

use ports::PortResult;
use ports::store::{
    FollowUpPushed, NewFollowUp, NewTurn, ParentTurn, TurnKind, TurnOpened, WhenBusy,
};
use protocol::follow_up::FollowUp;
use protocol::message::{MessageRole, NewMessage};
use protocol::session::Owner;
use protocol::text::{hex, without_nul};
use protocol::turn::{Turn, TurnRequest};
use protocol::{MessageId, SessionId};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use crate::job::push::PUSH_GRACE;
use crate::{Engine, EngineInner, deterministic_id};

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
        /// The client's id for the message: sending it again joins the existing turn.
        client_id: Option<String>,
        /// Ids of files in the session's workspace.
        file_ids: Vec<String>,
    },
    /// Answers again, from the given assistant message or else from the last one.
    Regenerate { from: Option<MessageId> },
}

#[derive(Clone, Debug, PartialEq)]
pub enum SubmissionOutcome {
    /// A new turn; it runs even if the caller disconnects.
    Accepted(Box<Turn>),
    /// The turn that an earlier copy of this submission created.
    Joined(Box<Turn>),
    MessageIdReused,
    Busy,
    NothingToRegenerate,
    /// The session has a running turn: the message is delivered before its next step, or was when it was sent before.
    FollowUp(Box<FollowUp>),
    TooManyFollowUps,
    /// The user has the maximum number of unfinished turns.
    TooMany,
    NoSession,
}

/// A message for the running turn.
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
    /// The turn is durably stored when this returns. If the push is lost, the sweeper finds it.
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
                // A follow-up runs with the permissions of the running turn. A message with fewer permissions waits for
                // a turn of its own.
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
            // A turn that was not started by a tool call has no parent that could have ended.
            TurnOpened::NoSession | TurnOpened::ParentEnded => SubmissionOutcome::NoSession,
        })
    }

    /// Sends a message to the running turn; refused if none is running.
    pub async fn follow_up(
        &self,
        owner: &Owner,
        request: FollowUpRequest,
    ) -> PortResult<FollowUpPushed> {
        let FollowUpRequest { session_id, text, client_id, context, file_ids } = request;
        // The same fingerprint as for a message that becomes a follow-up because the session is busy: one id, one
        // message.
        let asked = TurnRequest { context: context.clone(), ..TurnRequest::default() };
        let fingerprint = fingerprint(&text, &asked, &file_ids);
        let message =
            self.user_message(owner, &session_id, &text, context.as_ref(), &file_ids).await?;
        let new = NewFollowUp { message, client_id, fingerprint };
        self.inner.ports.follow_ups.push(owner, &session_id, new).await
    }
    /// The stored row: the text as typed, with context and files as metadata.
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
            // Ids that are unknown or belong to others are skipped.
            if let Ok(file) = self.inner.ports.files.stat(&workspace, &file).await? {
                files.push(json!(file));
            }
        }
        let mut message = NewMessage::new(MessageRole::User, without_nul(text));
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

/// A message that a tool call or a node submits on behalf of its user.
pub(crate) struct JobMessage<'a> {
    pub(crate) session_id: SessionId,
    pub(crate) request: TurnRequest,
    pub(crate) prompt: &'a str,
    /// Idempotency key of the call or the node run: submitting it again joins the existing turn.
    pub(crate) key: &'a str,
    pub(crate) when_busy: WhenBusy,
    /// The turn whose tool call submits it.
    pub(crate) parent: Option<ParentTurn>,
}

impl EngineInner {
    pub(crate) async fn submit_for_job(
        &self,
        owner: &Owner,
        message: JobMessage<'_>,
    ) -> PortResult<TurnOpened> {
        let JobMessage { session_id, request, prompt, key, when_busy, parent } = message;
        let text = without_nul(prompt);
        let kind = TurnKind::Submit {
            fingerprint: fingerprint(&text, &request, &[]),
            message: NewMessage::new(MessageRole::User, text),
            client_id: Some(deterministic_id::uuid("message", key)),
            when_busy,
        };
        self.open(owner, NewTurn { session_id, request, kind, push_grace: PUSH_GRACE, parent })
            .await
    }

    /// The only way to create a turn, for users and tool calls. The turn is accepted even if the push fails: the outbox
    /// has it. A turn that waits for a concurrency permit is pushed when it gets one.
    async fn open(&self, owner: &Owner, new: NewTurn) -> PortResult<TurnOpened> {
        let opened = self.ports.turns.open(owner, new).await?;
        if let TurnOpened::New(turn) = &opened {
            metrics::counter!("pilothouse_turns_accepted_total").increment(1);
            if turn.admitted {
                self.push(&turn.id).await;
            }
        }
        Ok(opened)
    }
}

fn fingerprint(text: &str, request: &TurnRequest, file_ids: &[String]) -> String {
    let asked = json!([text, request, file_ids]).to_string();
    hex(&Sha256::digest(asked.as_bytes()))
}
