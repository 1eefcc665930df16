//! A gate in a script: the response pauses at it until the test opens it, and the test can wait until the response has
//! reached it.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;

/// How long a test waits for a response to reach a gate before it fails.
const WAIT_TIMEOUT: Duration = Duration::from_secs(20);

#[derive(Clone, Debug)]
pub struct Gate(Arc<GateState>);

#[derive(Debug)]
struct GateState {
    open: watch::Sender<bool>,
    reached: watch::Sender<bool>,
}

impl Gate {
    pub fn closed() -> Self {
        Self(Arc::new(GateState {
            open: watch::Sender::new(false),
            reached: watch::Sender::new(false),
        }))
    }

    pub fn open(&self) {
        self.0.open.send_replace(true);
    }

    /// Waits until the response has reached the gate; panics on timeout.
    pub async fn reached(&self) {
        let mut reached = self.0.reached.subscribe();
        tokio::time::timeout(WAIT_TIMEOUT, reached.wait_for(|reached| *reached))
            .await
            .expect("the response did not reach the gate in time")
            .expect("the gate holds its own sender");
    }

    pub(crate) async fn pass(&self) {
        self.0.reached.send_replace(true);
        let mut open = self.0.open.subscribe();
        open.wait_for(|open| *open).await.expect("the gate holds its own sender");
    }
}
