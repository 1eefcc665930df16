//! A gate in a script: the model waits at it until the test opens it, and the test can wait until
//! the model stands before it.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;

/// How long a test waits for the model to reach a gate before it fails.
const PATIENCE: Duration = Duration::from_secs(20);

#[derive(Clone, Debug)]
pub struct Gate(Arc<Sides>);

#[derive(Debug)]
struct Sides {
    open: watch::Sender<bool>,
    reached: watch::Sender<bool>,
}

impl Gate {
    pub fn closed() -> Self {
        Self(Arc::new(Sides {
            open: watch::Sender::new(false),
            reached: watch::Sender::new(false),
        }))
    }

    pub fn open(&self) {
        self.0.open.send_replace(true);
    }

    /// Returns when the model has come to the gate; panics when it does not come.
    pub async fn reached(&self) {
        let mut reached = self.0.reached.subscribe();
        tokio::time::timeout(PATIENCE, reached.wait_for(|reached| *reached))
            .await
            .expect("the model did not come to the gate in time")
            .expect("the gate holds its own sender");
    }

    pub(crate) async fn pass(&self) {
        self.0.reached.send_replace(true);
        let mut open = self.0.open.subscribe();
        open.wait_for(|open| *open).await.expect("the gate holds its own sender");
    }
}
