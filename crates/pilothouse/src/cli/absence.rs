//! Patience with a server that does not answer for a while.

use std::time::Duration;

use tokio::time::Instant;

/// How long a server may be away before we give up on it.
const GIVE_UP: Duration = Duration::from_secs(60);
const FIRST_PAUSE: Duration = Duration::from_millis(250);
const LONGEST_PAUSE: Duration = Duration::from_secs(3);

pub(super) struct Absence {
    since: Option<Instant>,
    pause: Duration,
}

/// What to do about a server that has gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Then {
    /// It has gone just now: the person wants to know. Try again after this.
    Tell(Duration),
    Wait(Duration),
    GiveUp,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answers {
    AsEver,
    /// It was away.
    Again,
}

impl Absence {
    pub(super) fn none() -> Self {
        Self { since: None, pause: FIRST_PAUSE }
    }

    pub(super) fn answers(&mut self) -> Answers {
        self.pause = FIRST_PAUSE;
        if self.since.take().is_some() { Answers::Again } else { Answers::AsEver }
    }

    pub(super) fn goes_on(&mut self) -> Then {
        let since = *self.since.get_or_insert_with(Instant::now);
        if since.elapsed() > GIVE_UP {
            return Then::GiveUp;
        }
        let pause = self.pause;
        self.pause = (pause * 2).min(LONGEST_PAUSE);
        if pause == FIRST_PAUSE { Then::Tell(pause) } else { Then::Wait(pause) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_stays_away_is_given_up() {
        let mut absence = Absence::none();
        assert_eq!(absence.goes_on(), Then::Tell(FIRST_PAUSE));
        assert_eq!(absence.goes_on(), Then::Wait(FIRST_PAUSE * 2));
        assert_eq!(absence.answers(), Answers::Again);
        assert_eq!(absence.answers(), Answers::AsEver);
        assert_eq!(absence.goes_on(), Then::Tell(FIRST_PAUSE), "the next absence is a new one");
        absence.since = Instant::now().checked_sub(GIVE_UP + FIRST_PAUSE);
        assert!(absence.since.is_some(), "the clock has run for longer");
        assert_eq!(absence.goes_on(), Then::GiveUp);
    }
}
