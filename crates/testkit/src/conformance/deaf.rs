//! Any fixture without its wake-ups, to prove that they are only hints.

use std::future::Future;

use ports::Ports;
use protocol::limits::UserLimits;
use protocol::{Seq, TaskId};

use super::Fixture;

/// A backend that can be started without in-memory wake-ups.
pub trait StartsDeaf: Fixture {
    fn start_deaf(caps: UserLimits) -> impl Future<Output = Self> + Send;
}

/// The same backend without wake-ups.
pub struct Deaf<F>(F);

impl<F: StartsDeaf> Fixture for Deaf<F> {
    async fn start_with(caps: UserLimits) -> Self {
        Self(F::start_deaf(caps).await)
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
