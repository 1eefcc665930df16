//! Decisions that both stores make in the same way, without a database.

pub(crate) mod advance;
pub(crate) mod append;
pub(crate) mod claim;
pub(crate) mod error;
pub(crate) mod fenced_writes;
pub(crate) mod folder_tree;
pub(crate) mod job_kind;
pub(crate) mod json;
pub(crate) mod key_check;
pub(crate) mod ledger;
pub(crate) mod log_read;
pub(crate) mod message_id_use;
pub(crate) mod new_execution;
pub(crate) mod new_operation;
pub(crate) mod open_call;
pub(crate) mod open_exchanges;
pub(crate) mod page;
pub(crate) mod permit_usage;
pub(crate) mod regenerate_target;
pub(crate) mod review_verdicts;
pub(crate) mod schema_status;
pub(crate) mod submission_key;
pub(crate) mod title_search;
pub(crate) mod turn_end;
