//! The queue: a table of turn ids in order. A row is there from the push until it is settled; who has
//! it in hand is known in memory only, so taking one costs no write.

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use ports::PortResult;
use ports::queue::{Delivery, Depth, Queue, Settle};
use protocol::TurnId;
use rusqlite::{Connection, params};
use tokio::sync::Mutex;

use super::fault::Fault;
use super::hands::Hands;
use super::job::{Done, Need};
use super::live::News;
use super::{Sqlite, rows};

/// How often the table is looked at even when no wake-up comes.
const POLL: Duration = Duration::from_secs(1);

#[derive(Clone)]
pub(crate) struct SqliteQueue {
    store: Sqlite,
    hands: Arc<Hands>,
    /// Held while somebody chooses a row, and while a settled one leaves the hands: otherwise a row could
    /// be read before its removal and taken after it.
    choosing: Arc<Mutex<()>>,
}

impl SqliteQueue {
    pub(crate) fn new(store: Sqlite) -> Self {
        Self { store, hands: Arc::default(), choosing: Arc::default() }
    }

    async fn take(&self) -> PortResult<Option<Delivery>> {
        let choosing = self.choosing.clone().lock_owned().await;
        let queue = self.clone();
        self.store
            .readers
            .run(move |db| {
                let delivery = first_ready(db, &queue.hands)?.map(|(row, turn_id)| {
                    // Made here, so that it gives itself back if the one who waited for it has left.
                    Delivery::new(turn_id.clone(), Box::new(InHand { row, turn_id, queue }))
                });
                drop(choosing);
                Ok(delivery)
            })
            .await
    }
}

#[async_trait]
impl Queue for SqliteQueue {
    async fn push(&self, turn: &TurnId) -> PortResult<()> {
        let (turn, hands, ms) = (turn.clone(), self.hands.clone(), self.store.boot.ms());
        self.store
            .writer
            .run(Need::Ordinary, move |db| {
                if !waits(db, &hands, &turn)? {
                    insert(db, &turn, ms)?;
                }
                Ok(Done::with((), News::QueueGrew))
            })
            .await
    }

    async fn pop(&self) -> PortResult<Delivery> {
        loop {
            let woken = self.store.live.queue.notified();
            tokio::pin!(woken);
            // Listening begins before the look, so that nothing falls between the two.
            woken.as_mut().enable();
            if let Some(delivery) = self.take().await? {
                return Ok(delivery);
            }
            let ready =
                self.hands.next_ready().map(|at| at.saturating_duration_since(Instant::now()));
            // A millisecond at least: a row that is just becoming ready must not make this spin.
            let wait = ready.map_or(POLL, |ready| ready.clamp(Duration::from_millis(1), POLL));
            let _ = tokio::time::timeout(wait, woken).await;
        }
    }

    async fn depth(&self) -> PortResult<Depth> {
        let (hands, now) = (self.hands.clone(), self.store.boot.ms());
        self.store
            .readers
            .run(move |db| {
                let mut select =
                    db.prepare_cached("SELECT id, pushed_ms FROM queue ORDER BY id")?;
                let mut found = select.query([])?;
                let mut depth = Depth::default();
                while let Some(row) = found.next()? {
                    if !hands.holds(row.get(0)?) {
                        depth.waiting += 1;
                        let age =
                            Duration::from_millis((now - row.get::<_, i64>(1)?).max(0) as u64);
                        depth.oldest = depth.oldest.max(Some(age));
                    }
                }
                Ok(depth)
            })
            .await
    }
}

/// A row that somebody works on.
struct InHand {
    row: i64,
    turn_id: TurnId,
    queue: SqliteQueue,
}

#[async_trait]
impl Settle for InHand {
    async fn ack(&self) -> PortResult<()> {
        let row = self.row;
        self.queue
            .store
            .writer
            .run(Need::Ordinary, move |db| {
                remove(db, row)?;
                Ok(Done::quietly(()))
            })
            .await?;
        let _choosing = self.queue.choosing.lock().await;
        self.queue.hands.put_down(row);
        Ok(())
    }

    async fn to_back(&self, delay: Duration) -> PortResult<()> {
        // Nobody may choose until the new row is known to be put off.
        let _choosing = self.queue.choosing.lock().await;
        let (row, turn, hands) = (self.row, self.turn_id.clone(), self.queue.hands.clone());
        let ms = self.queue.store.boot.ms();
        let new = self
            .queue
            .store
            .writer
            .run(Need::Ordinary, move |db| {
                // A row that is gone with its session does not come back.
                let again = remove(db, row)? && !waits(db, &hands, &turn)?;
                let new = if again { Some(insert(db, &turn, ms)?) } else { None };
                Ok(Done::with(new, News::QueueGrew))
            })
            .await?;
        if let Some(new) = new {
            self.queue.hands.put_off(new, Instant::now() + delay.min(Duration::from_secs(86_400)));
        }
        self.queue.hands.put_down(row);
        Ok(())
    }

    fn give_back(&self) {
        self.queue.hands.put_down(self.row);
        self.queue.store.live.wake_queue();
    }
}

fn first_ready(db: &Connection, hands: &Hands) -> Result<Option<(i64, TurnId)>, Fault> {
    let mut select = db.prepare_cached("SELECT id, turn_id FROM queue ORDER BY id")?;
    let mut found = select.query([])?;
    while let Some(row) = found.next()? {
        let id = row.get("id")?;
        let turn = rows::id(row, "turn_id")?;
        if hands.take(id) {
            return Ok(Some((id, turn)));
        }
    }
    Ok(None)
}

/// Whether a row for this turn is there that nobody has in hand.
fn waits(db: &Connection, hands: &Hands, turn: &TurnId) -> Result<bool, Fault> {
    let mut select = db.prepare_cached("SELECT id FROM queue WHERE turn_id = ?1")?;
    let mut found = select.query([turn.as_str()])?;
    while let Some(row) = found.next()? {
        if !hands.holds(row.get(0)?) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn insert(db: &Connection, turn: &TurnId, ms: i64) -> Result<i64, Fault> {
    db.prepare_cached("INSERT INTO queue (turn_id, pushed_ms) VALUES (?1, ?2)")?
        .execute(params![turn.as_str(), ms])?;
    Ok(db.last_insert_rowid())
}

fn remove(db: &Connection, row: i64) -> Result<bool, Fault> {
    let removed = db.prepare_cached("DELETE FROM queue WHERE id = ?1")?.execute([row])?;
    Ok(removed > 0)
}
