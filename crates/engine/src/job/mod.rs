//! The job machine: how a turn or an execution is pushed, delivered, claimed, run under a lease, stopped, retried,
//! handed back and swept. It knows both only as jobs; `turn` and `execution` hold what each of them does with a claim.

pub(crate) mod claim;
pub(crate) mod delivery;
pub(crate) mod execution_permit;
pub(crate) mod halt;
pub(crate) mod lease;
pub(crate) mod local_fallback_queue;
pub(crate) mod push;
pub(crate) mod registry;
pub(crate) mod retry;
pub(crate) mod runner;
pub(crate) mod stop;
pub(crate) mod store_health;
pub(crate) mod sweep;
pub(crate) mod waiting_calls;
mod wake_queue;
pub(crate) mod worker_permit;
