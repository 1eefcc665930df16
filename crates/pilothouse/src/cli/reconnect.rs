//! Reconnecting to a server that does not respond for a while.

use std::time::Duration;

use tokio::time::Instant;

/// How long to try before giving up.
const GIVE_UP: Duration = Duration::from_secs(60);
const FIRST_PAUSE: Duration = Duration::from_millis(250);
const MAX_PAUSE: Duration = Duration::from_secs(3);

/// Decides when to retry and when to give up.
pub(crate) struct ReconnectPolicy {
    since: Option<Instant>,
    pause: Duration,
}

/// What to do after a failed attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RetryDecision {
    /// The first failure: notify the user, and retry after this.
    Notify(Duration),
    Wait(Duration),
    GiveUp,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ServerResponded {
    AsBefore,
    /// After a failure.
    Again,
}

impl ReconnectPolicy {
    pub(crate) fn new() -> Self {
        Self { since: None, pause: FIRST_PAUSE }
    }

    pub(crate) fn responded(&mut self) -> ServerResponded {
        self.pause = FIRST_PAUSE;
        if self.since.take().is_some() { ServerResponded::Again } else { ServerResponded::AsBefore }
    }

    pub(crate) fn failed(&mut self) -> RetryDecision {
        let since = *self.since.get_or_insert_with(Instant::now);
        if since.elapsed() > GIVE_UP {
            return RetryDecision::GiveUp;
        }
        let pause = self.pause;
        self.pause = (pause * 2).min(MAX_PAUSE);
        if pause == FIRST_PAUSE { RetryDecision::Notify(pause) } else { RetryDecision::Wait(pause) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unreachable_server_is_given_up() {
        let mut policy = ReconnectPolicy::new();
        assert_eq!(policy.failed(), RetryDecision::Notify(FIRST_PAUSE));
        assert_eq!(policy.failed(), RetryDecision::Wait(FIRST_PAUSE * 2));
        assert_eq!(policy.responded(), ServerResponded::Again);
        assert_eq!(policy.responded(), ServerResponded::AsBefore);
        assert_eq!(
            policy.failed(),
            RetryDecision::Notify(FIRST_PAUSE),
            "the next failure starts over"
        );
        policy.since = Instant::now().checked_sub(GIVE_UP + FIRST_PAUSE);
        assert!(policy.since.is_some(), "the clock has been running for longer");
        assert_eq!(policy.failed(), RetryDecision::GiveUp);
    }
}
