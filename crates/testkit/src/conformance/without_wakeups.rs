//! Runs a fixture without wake-ups, to prove that the laws hold without them.

use std::future::Future;

use ports::Ports;
use protocol::limits::UserLimits;
use protocol::{Seq, TaskId};

use super::BackendFixture;

/// A backend that can be started without in-memory wake-ups.
pub trait StartWithoutWakeups: BackendFixture {
    fn start_without_wakeups(caps: UserLimits) -> impl Future<Output = Self> + Send;
}

/// The same backend without wake-ups.
pub struct WithoutWakeups<F>(F);

impl<F: StartWithoutWakeups> BackendFixture for WithoutWakeups<F> {
    async fn start_with(caps: UserLimits) -> Self {
        Self(F::start_without_wakeups(caps).await)
    }

    fn ports(&self) -> &Ports {
        self.0.ports()
    }

    async fn restart(&mut self) {
        self.0.restart().await;
    }

    async fn trim(&mut self, task: &TaskId, to: Seq) {
        self.0.trim(task, to).await;
    }
}
