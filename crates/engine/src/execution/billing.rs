//! Checks whether a user can pay. The balance is checked before work and charged after it; if it cannot be read,
//! nothing runs.

use ports::PortResult;
use ports::block::BlockError;
use protocol::UserId;

use crate::EngineInner;

pub(crate) const NO_FUNDS: &str = "no_funds";

/// Always true when credits are off.
pub(crate) async fn can_pay(inner: &EngineInner, user: &UserId) -> PortResult<bool> {
    if !inner.options.credits {
        return Ok(true);
    }
    Ok(inner.ports.credits.balance(user).await? > 0)
}

/// The same check, as an error of the block about to run.
pub(crate) async fn check(inner: &EngineInner, user: &UserId) -> Result<(), BlockError> {
    match can_pay(inner, user).await {
        Ok(true) => Ok(()),
        Ok(false) => Err(BlockError::Fatal {
            code: NO_FUNDS,
            message: "There are no credits left to pay for this.".to_owned(),
        }),
        Err(error) => {
            tracing::warn!(%error, "could not read the balance; the block is not run");
            Err(BlockError::Fatal {
                code: "credits_unavailable",
                message: "The server could not read the balance, so nothing was run.".to_owned(),
            })
        }
    }
}
