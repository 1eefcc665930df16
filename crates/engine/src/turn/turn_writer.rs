//! Writes for a turn, to its journal and its log, one record at a time. The attempt has one, and so has every
//! background call.

use std::sync::Arc;

use ports::store::{JournalEntry, JournalRecord};
use protocol::chunk::Chunk;
use tokio::sync::{Mutex, MutexGuard};

use super::leased_turn::LeasedTurn;
use super::recorder::ChunkWriter;
use crate::job::halt::TurnHalt;
use crate::job::retry::retry_fenced;

#[derive(Clone)]
pub(crate) struct TurnWriter {
    pub(crate) leased: Arc<LeasedTurn>,
    pub(crate) chunks: ChunkWriter,
    /// The store recognizes only a repetition of the last record, so no other record may be written before it is
    /// confirmed.
    writing: Arc<Mutex<()>>,
}

impl TurnWriter {
    pub(crate) fn new(leased: Arc<LeasedTurn>, chunks: ChunkWriter) -> Self {
        Self { leased, chunks, writing: Arc::default() }
    }

    /// Journals the entries, retrying until they are stored.
    pub(crate) async fn record(&self, entries: Vec<JournalEntry>) -> Result<(), TurnHalt> {
        let _lock = self.writing.lock().await;
        self.record_locked(entries).await
    }

    /// Journals the entries, then shows the chunk, with no other write in between.
    pub(crate) async fn record_and_show(
        &self,
        entries: Vec<JournalEntry>,
        shown: Chunk,
    ) -> Result<(), TurnHalt> {
        let _lock = self.writing.lock().await;
        self.record_locked(entries).await?;
        self.chunks.emit(shown).await
    }

    /// Waits for running writes and blocks new ones while the guard is held.
    pub(crate) async fn lock_writes(&self) -> MutexGuard<'_, ()> {
        self.writing.lock().await
    }

    /// Like `record`, for a caller that holds `lock_writes`.
    pub(crate) async fn record_locked(&self, entries: Vec<JournalEntry>) -> Result<(), TurnHalt> {
        let LeasedTurn { inner, claim, stop, .. } = &*self.leased;
        let record = JournalRecord::new(entries);
        Ok(retry_fenced(stop, || inner.ports.turns.record(claim, record.clone())).await?)
    }
}
