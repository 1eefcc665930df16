//! What a run costs, and whether its user can pay. The balance is checked before work and charged after it; if it
//! cannot be read, nothing runs.

use ports::PortResult;
use ports::block::BlockError;
use protocol::UserId;
use protocol::block::{BlockSpec, MeteredUsage, price};

use crate::EngineInner;

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
        Ok(false) => Err(no_funds()),
        Err(error) => {
            tracing::warn!(%error, "could not read the balance; the block is not run");
            Err(BlockError::Fatal {
                code: "credits_unavailable",
                message: "The server could not read the balance, so nothing was run.".to_owned(),
            })
        }
    }
}

pub(crate) fn no_funds() -> BlockError {
    BlockError::Fatal {
        code: "no_funds",
        message: "There are no credits left to pay for this.".to_owned(),
    }
}

/// The price of a run. It is free unless it emitted an output or used something metered.
pub(crate) fn run_price(spec: &BlockSpec, has_emitted: bool, used: &MeteredUsage) -> u64 {
    let is_metered = used.tokens + used.microdollars + used.bytes + used.items > 0;
    if has_emitted || is_metered { price(spec.costs, used) } else { 0 }
}
