//! How blocks end when something around them fails: the store, the network, a stop, a dry run.

use std::future::Future;

use ports::PortError;
use ports::block::{BlockContext, BlockError};
use ports::files::FileRefusal;

use crate::egress::EgressError;

/// Waits for the work, and drops it when the run is told to stop.
pub(super) async fn unless_stopped<T>(
    context: &BlockContext,
    work: impl Future<Output = T>,
) -> Result<T, BlockError> {
    tokio::select! {
        done = work => Ok(done),
        () = context.cancel.cancelled() => Err(BlockError::Stopped),
    }
}

/// A dry run changes nothing outside. `what` completes "In a dry run …".
pub(super) fn not_in_a_dry_run(context: &BlockContext, what: &str) -> Result<(), BlockError> {
    match context.dry_run {
        true => Err(BlockError::failed(format!("In a dry run {what}."))),
        false => Ok(()),
    }
}

pub(super) fn storage(error: PortError) -> BlockError {
    match error {
        PortError::Closed => BlockError::Stopped,
        PortError::Full => BlockError::failed("The disk of the server is full."),
        error => {
            tracing::warn!(%error, "a block cannot use the store");
            BlockError::failed("The server cannot reach its store at the moment.")
        }
    }
}

pub(super) fn network(error: EgressError) -> BlockError {
    BlockError::failed(error.to_string())
}

pub(super) fn workspace(refused: FileRefusal) -> BlockError {
    BlockError::failed(match refused {
        FileRefusal::NotFound => "There is no such file in the workspace.".to_owned(),
        FileRefusal::BadPath => "The path does not name a file inside the workspace.".to_owned(),
        FileRefusal::Exists => "There is a file with this path already.".to_owned(),
        FileRefusal::TooLarge { limit } => {
            format!("The file does not fit into the workspace: the limit is {limit} bytes.")
        }
    })
}
