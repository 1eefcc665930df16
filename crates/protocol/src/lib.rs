//! The shared vocabulary of Pilothouse: ids, sessions, turns, messages, stream chunks, tool responses, limits and problems.
//! Only data and pure functions; no I/O.

pub mod block;
pub mod chunk;
pub mod credit;
pub mod cursor;
pub mod digest_uuid;
pub mod execution;
pub mod follow_up;
pub mod graph;
pub mod graph_diff;
pub mod graph_edit;
pub mod ids;
pub mod job;
pub mod library;
pub mod limits;
pub mod message;
pub mod operation;
pub mod permissions;
pub mod problem;
pub mod redact;
pub mod rehearsal;
pub mod replay;
pub mod response;
pub mod review;
pub mod secret;
pub mod segment;
pub mod session;
pub mod sse;
pub mod text;
pub mod text_enum;
pub mod tool;
pub mod tool_labels;
pub mod turn;
pub mod usage;

pub use chunk::Chunk;
pub use ids::{
    BackgroundId, BlockId, CallId, ExecutionId, FolderId, GraphId, LibraryAgentId,
    ListingVersionId, MessageId, NodeId, OperationId, RecordId, ReviewId, SessionId, TaskId,
    TurnId, UserId, WorkerId,
};
pub use job::{Job, JobClaim};
pub use segment::{Segment, SegmentBuilder, Seq};
