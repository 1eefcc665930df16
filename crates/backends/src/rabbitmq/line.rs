//! The way to the broker as its users see it: up with a link, down with a reason, or closed for good.

use std::sync::Arc;

use ports::{PortError, PortResult};
use protocol::Job;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::fault::unavailable;
use super::link::Link;

pub(super) struct Line {
    state: watch::Sender<State>,
    /// Cancelled when the program lets go of the broker.
    pub(super) closing: CancellationToken,
    /// Everything that runs for this line.
    pub(super) tasks: TaskTracker,
}

enum State {
    Up(Arc<Link>),
    Down(String),
    Closed,
}

impl Line {
    pub(super) fn new(link: Arc<Link>) -> Self {
        Self {
            state: watch::Sender::new(State::Up(link)),
            closing: CancellationToken::new(),
            tasks: TaskTracker::new(),
        }
    }

    pub(super) fn up(&self, link: Arc<Link>) {
        self.change(State::Up(link));
    }

    pub(super) fn down(&self, reason: String) {
        self.change(State::Down(reason));
    }

    /// What is closed stays closed, whatever the supervisor was about to say.
    fn change(&self, next: State) {
        self.state.send_if_modified(|state| {
            let open = !matches!(state, State::Closed);
            if open {
                *state = next;
            }
            open
        });
    }

    pub(super) fn close(&self) {
        self.closing.cancel();
        self.state.send_replace(State::Closed);
    }

    /// The link, or at once why there is none.
    pub(super) fn link(&self) -> PortResult<Arc<Link>> {
        match &*self.state.borrow() {
            State::Up(link) if !link.over.is_cancelled() => Ok(link.clone()),
            State::Up(_) => Err(unavailable("the connection was lost")),
            State::Down(reason) => Err(unavailable(reason.clone())),
            State::Closed => Err(PortError::Closed),
        }
    }

    /// Waits for a link for as long as it takes.
    pub(super) async fn next_link(&self) -> PortResult<Arc<Link>> {
        let mut state = self.state.subscribe();
        loop {
            match self.link() {
                Err(PortError::Unavailable(_)) => {}
                decided => return decided,
            }
            // The supervisor replaces every link that is over, so there is always a change to come.
            if state.changed().await.is_err() {
                return Err(PortError::Closed);
            }
        }
    }

    pub(super) async fn publish(&self, job: &Job) -> PortResult<()> {
        self.link()?.publish(job).await
    }
}
