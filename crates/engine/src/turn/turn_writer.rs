//! Writes for a turn, to its journal and its log, one record at a time. The attempt has one, and so has every
//! background call.

use std::sync::Arc;

use ports::files::SessionWorkspace;
use ports::store::{JournalEntry, JournalRecord, TurnProgress};
use protocol::chunk::Chunk;
use protocol::session::Owner;
use protocol::turn::{Turn, TurnClaim};
use tokio::sync::{Mutex, MutexGuard};

use super::halt::TurnHalt;
use super::recorder::ChunkWriter;
use super::registry::StopSignal;
use crate::EngineInner;
use crate::retry::retry_fenced;

#[derive(Clone)]
pub(crate) struct TurnWriter {
    pub(super) inner: Arc<EngineInner>,
    pub(super) claim: TurnClaim,
    pub(super) stop: Arc<StopSignal>,
    pub(super) chunks: ChunkWriter,
    pub(super) workspace: SessionWorkspace,
    /// The store recognizes only a repetition of the last record, so no other record may be written before it is
    /// confirmed.
    writing: Arc<Mutex<()>>,
}

impl TurnWriter {
    pub(super) fn new(
        inner: Arc<EngineInner>,
        claim: TurnClaim,
        stop: Arc<StopSignal>,
        chunks: ChunkWriter,
        turn: &Turn,
    ) -> Self {
        let owner = turn.user_id.clone().map_or(Owner::Anonymous, Owner::User);
        let workspace = SessionWorkspace { owner, session: turn.session_id.clone() };
        Self { inner, claim, stop, chunks, workspace, writing: Arc::default() }
    }

    pub(super) async fn progress(&self) -> Result<TurnProgress, TurnHalt> {
        retry_fenced(&self.stop, || self.inner.ports.turns.progress(&self.claim)).await
    }

    /// Journals the entries, retrying until they are stored.
    pub(super) async fn record(&self, entries: Vec<JournalEntry>) -> Result<(), TurnHalt> {
        let _lock = self.writing.lock().await;
        self.record_locked(entries).await
    }

    /// Journals the entries, then shows the chunk, with no other write in between.
    pub(super) async fn record_and_show(
        &self,
        entries: Vec<JournalEntry>,
        shown: Chunk,
    ) -> Result<(), TurnHalt> {
        let _lock = self.writing.lock().await;
        self.record_locked(entries).await?;
        self.chunks.emit(shown).await
    }

    /// Waits for running writes and blocks new ones while the guard is held.
    pub(super) async fn lock_writes(&self) -> MutexGuard<'_, ()> {
        self.writing.lock().await
    }

    /// Like `record`, for a caller that holds `lock_writes`.
    pub(super) async fn record_locked(&self, entries: Vec<JournalEntry>) -> Result<(), TurnHalt> {
        let record = JournalRecord::new(entries);
        retry_fenced(&self.stop, || self.inner.ports.turns.record(&self.claim, record.clone()))
            .await
    }
}
