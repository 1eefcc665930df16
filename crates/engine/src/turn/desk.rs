//! What writes for a turn: its journal and its log, one record at a time. The attempt has one, and so has every call
//! that outlives its step.

use std::sync::Arc;

use ports::files::SessionWorkspace;
use ports::store::{JournalEntry, JournalRecord, TurnProgress};
use protocol::chunk::Chunk;
use protocol::session::Owner;
use protocol::turn::{Turn, TurnClaim};
use tokio::sync::{Mutex, MutexGuard};

use super::halt::Halt;
use super::insist::insist_fenced;
use super::recorder::Pen;
use super::registry::Stop;
use crate::Inner;

#[derive(Clone)]
pub(crate) struct Desk {
    pub(super) inner: Arc<Inner>,
    pub(super) claim: TurnClaim,
    pub(super) stop: Arc<Stop>,
    pub(super) pen: Pen,
    pub(super) place: SessionWorkspace,
    /// Only the last record is recognised when it is repeated, so nobody may write between a record and its answer.
    writing: Arc<Mutex<()>>,
}

impl Desk {
    pub(super) fn new(
        inner: Arc<Inner>,
        claim: TurnClaim,
        stop: Arc<Stop>,
        pen: Pen,
        turn: &Turn,
    ) -> Self {
        let owner = turn.user_id.clone().map_or(Owner::Anonymous, Owner::User);
        let place = SessionWorkspace { owner, session: turn.session_id.clone() };
        Self { inner, claim, stop, pen, place, writing: Arc::default() }
    }

    pub(super) async fn progress(&self) -> Result<TurnProgress, Halt> {
        insist_fenced(&self.stop, || self.inner.ports.turns.progress(&self.claim)).await
    }

    /// Journals, as often as it takes to hear that it is stored.
    pub(super) async fn record(&self, entries: Vec<JournalEntry>) -> Result<(), Halt> {
        let _mine = self.writing.lock().await;
        self.write(entries).await
    }

    /// The same, and then shows it: nobody else writes in between.
    pub(super) async fn record_and_show(
        &self,
        entries: Vec<JournalEntry>,
        shown: Chunk,
    ) -> Result<(), Halt> {
        let _mine = self.writing.lock().await;
        self.write(entries).await?;
        self.pen.emit(shown).await
    }

    /// Returns when nobody writes.
    pub(super) async fn quiet(&self) -> MutexGuard<'_, ()> {
        self.writing.lock().await
    }

    /// For whoever has made it quiet.
    pub(super) async fn write(&self, entries: Vec<JournalEntry>) -> Result<(), Halt> {
        let record = JournalRecord::new(entries);
        insist_fenced(&self.stop, || self.inner.ports.turns.record(&self.claim, record.clone()))
            .await
    }
}
