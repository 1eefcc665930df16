//! The words of Pilothouse: ids, sessions, turns, messages, stream chunks, tool responses, limits
//! and problems. Pure data and pure functions; nothing here waits, reads or writes.

pub mod chunk;
pub mod cursor;
pub mod follow_up;
pub mod ids;
pub mod limits;
pub mod message;
pub mod operation;
pub mod permissions;
pub mod problem;
pub mod redact;
pub mod replay;
pub mod response;
pub mod segment;
pub mod session;
pub mod sse;
pub mod text;
pub mod tool;
pub mod turn;
pub mod usage;

pub use chunk::Chunk;
pub use ids::{
    BackgroundId, CallId, MessageId, OperationId, RecordId, SessionId, TaskId, TurnId, UserId,
    WorkerId,
};
pub use segment::{Segment, SegmentBuilder, Seq};
