//! Block errors for failures of the network and the workspace, for cancellation and for dry runs.

use std::future::Future;

use ports::block::{BlockContext, BlockError};
use ports::files::FileRefusal;

use crate::egress::EgressError;

/// Awaits the work, and drops it when the run is canceled.
pub(crate) async fn unless_stopped<T>(
    context: &BlockContext,
    work: impl Future<Output = T>,
) -> Result<T, BlockError> {
    tokio::select! {
        done = work => Ok(done),
        () = context.cancel.cancelled() => Err(BlockError::Stopped),
    }
}

/// Rejects external changes in a dry run. `what` completes the sentence "In a dry run …".
pub(crate) fn not_in_a_dry_run(context: &BlockContext, what: &str) -> Result<(), BlockError> {
    match context.dry_run {
        true => Err(BlockError::failed(format!("In a dry run {what}."))),
        false => Ok(()),
    }
}

pub(crate) fn network(error: EgressError) -> BlockError {
    BlockError::failed(error.to_string())
}

pub(crate) fn workspace(refused: FileRefusal) -> BlockError {
    BlockError::failed(match refused {
        FileRefusal::NotFound => "File not found in the workspace.".to_owned(),
        FileRefusal::BadPath => {
            "The path is outside the workspace or not a valid file path.".to_owned()
        }
        FileRefusal::Exists => "A file with this path already exists.".to_owned(),
        FileRefusal::TooLarge { limit } => {
            format!("The file is too large for the workspace: the limit is {limit} bytes.")
        }
    })
}
