//! A turn followed by a client, which keeps all events over all its connections and compares them with what the store
//! has.

use crate::contract::{TurnEnd, assert_complete};
use crate::events::{Ending, EventStream, ReceivedEvent, text_of, turn_of};
use crate::history::{history, rows};
use crate::server::Api;
use crate::turn_requests::{follow_after, status_of};

pub(crate) struct FollowedTurn {
    pub(crate) session: String,
    pub(crate) turn: String,
    pub(crate) seen: Vec<ReceivedEvent>,
    pub(crate) stream: EventStream,
}

impl FollowedTurn {
    /// Sends a first message in a new session.
    pub(crate) async fn start(api: &Api, text: &str) -> Self {
        let session = api.session().await;
        let stream = api.say(&session, text).await;
        Self { session, turn: turn_of(&stream), seen: Vec::new(), stream }
    }

    /// Reads until a chunk of this type.
    pub(crate) async fn until(&mut self, kind: &str) {
        let seen = self.stream.until_seen(kind).await;
        self.seen.extend(seen);
    }

    /// Reads on the same connection until the turn has ended.
    pub(crate) async fn read_to_the_end(&mut self) {
        assert_eq!(self.read_rest().await, Ending::Complete);
    }

    pub(crate) async fn read_rest(&mut self) -> Ending {
        let (rest, ending) = self.stream.rest().await;
        self.seen.extend(rest);
        ending
    }

    /// Reconnects with the id of the last event, as a browser does.
    pub(crate) async fn reconnect(&mut self, api: &Api) {
        self.stream = follow_after(api, &self.turn, self.last_id()).await;
    }

    pub(crate) fn last_id(&self) -> u64 {
        self.seen.last().expect("something was seen").id
    }

    pub(crate) fn text(&self) -> String {
        text_of(&self.seen)
    }

    /// Asserts that the ids are dense, that there is one end and it is this one, that the stored log equals what was
    /// received, and that the history has one message and at most one final response.
    pub(crate) async fn assert_holds(&self, api: &Api, end: &TurnEnd) {
        assert_eq!(&assert_complete(&self.seen), end, "{}", self.turn);
        let stored = follow_after(api, &self.turn, 1).await.all().await;
        assert_eq!(stored, self.seen[1..], "what was seen is what is kept");
        let status = match end {
            TurnEnd::Finished(_) => "completed",
            TurnEnd::Failed(_) => "failed",
            TurnEnd::Aborted => "cancelled",
        };
        assert_eq!(status_of(api, &self.turn).await, status);
        let history = history(api, &self.session).await;
        let of_turn: Vec<_> =
            history.into_iter().filter(|row| row["turn_id"] == self.turn.as_str()).collect();
        assert_eq!(rows(&of_turn, "user").len(), 1, "one message");
        let is_answer = |row: &&&serde_json::Value| {
            row["tool_calls"].as_array().is_none_or(Vec::is_empty)
                && row["metadata"]["partial"] != true
        };
        let answers = rows(&of_turn, "assistant").iter().filter(is_answer).count();
        assert_eq!(answers, usize::from(matches!(end, TurnEnd::Finished(_))), "one answer");
    }
}
