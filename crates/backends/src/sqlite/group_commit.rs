//! Group commit: writes a group of jobs in one transaction. A failed job is rolled back alone; on a full disk the
//! reserve is released for the writes that must still happen.

use std::sync::Arc;

use ports::PortError;
use rusqlite::Connection;

use super::disk_reserve::DiskReserve;
use super::error::SqliteError;
use super::write_job::{JobOutcome, WriteJob, WritePriority};
use crate::live::LiveLogs;

pub(crate) struct GroupCommitter {
    db: Connection,
    reserve: DiskReserve,
    live: Arc<LiveLogs>,
}

/// The whole transaction was rolled back; each job has to be tried on its own.
struct RolledBack;

impl GroupCommitter {
    pub(crate) fn new(db: Connection, reserve: DiskReserve, live: Arc<LiveLogs>) -> Self {
        Self { db, reserve, live }
    }

    /// Writes as much of the group as possible, and answers every job.
    pub(crate) fn write(&mut self, group: Vec<Box<dyn WriteJob>>) {
        metrics::counter!("pilothouse_store_groups_total").increment(1);
        metrics::counter!("pilothouse_store_jobs_total").increment(group.len() as u64);
        let mut group = self.refuse_while_full(group);
        if group.len() == 1 || self.commit_group(&mut group).is_err() {
            for job in &mut group {
                self.commit_single(job.as_mut());
            }
        }
        for job in group {
            job.answer(&self.live);
        }
    }

    /// Checkpoints the write-ahead log into the database.
    pub(crate) fn finish(self) {
        if let Err(error) = self.db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())) {
            // Nothing is lost: the next process reads the write-ahead log.
            tracing::warn!(%error, "could not checkpoint the write-ahead log");
        }
    }

    /// While the reserve is released, its space belongs to essential writes: ordinary ones are refused.
    fn refuse_while_full(&mut self, group: Vec<Box<dyn WriteJob>>) -> Vec<Box<dyn WriteJob>> {
        if self.reserve.is_available() {
            return group;
        }
        let (admitted, refused): (Vec<_>, Vec<_>) =
            group.into_iter().partition(|job| job.priority() == WritePriority::Essential);
        for mut job in refused {
            job.refuse(PortError::Full);
            job.answer(&self.live);
        }
        admitted
    }

    fn commit_group(&self, group: &mut [Box<dyn WriteJob>]) -> Result<(), RolledBack> {
        let written = self.try_commit_group(group);
        if written.is_err() {
            self.roll_back();
        }
        written
    }

    fn try_commit_group(&self, group: &mut [Box<dyn WriteJob>]) -> Result<(), RolledBack> {
        self.sql("BEGIN IMMEDIATE").map_err(|_| RolledBack)?;
        for job in group {
            self.sql("SAVEPOINT job").map_err(|_| RolledBack)?;
            let ran = job.run(&self.db);
            // After some errors SQLite rolls back the whole transaction on its own.
            if ran == JobOutcome::DiskFull || self.db.is_autocommit() {
                return Err(RolledBack);
            }
            if ran == JobOutcome::Failed {
                self.sql("ROLLBACK TO job").map_err(|_| RolledBack)?;
            }
            self.sql("RELEASE job").map_err(|_| RolledBack)?;
        }
        self.sql("COMMIT").map_err(|_| RolledBack)
    }

    fn commit_single(&mut self, job: &mut dyn WriteJob) {
        let mut written = self.try_commit_single(job);
        if matches!(&written, Err(fault) if fault.is_full())
            && job.priority() == WritePriority::Essential
            && self.reserve.release()
        {
            tracing::error!(
                "the disk is full; the disk reserve was released so that accepted work can be completed"
            );
            written = self.try_commit_single(job);
        }
        if let Err(fault) = written {
            job.refuse(PortError::from(&fault));
        }
    }

    fn try_commit_single(&self, job: &mut dyn WriteJob) -> Result<(), SqliteError> {
        let written = self.sql("BEGIN IMMEDIATE").map_err(SqliteError::from).and_then(|()| {
            match job.run(&self.db) {
                JobOutcome::Done => self.sql("COMMIT").map_err(SqliteError::from),
                // The job keeps its own error; there is nothing to commit.
                JobOutcome::Failed => {
                    self.roll_back();
                    Ok(())
                }
                JobOutcome::DiskFull => Err(disk_full()),
            }
        });
        if written.is_err() {
            self.roll_back();
        }
        written
    }

    fn roll_back(&self) {
        if !self.db.is_autocommit()
            && let Err(error) = self.sql("ROLLBACK")
        {
            tracing::error!(%error, "could not roll back a transaction");
        }
    }

    fn sql(&self, statement: &str) -> rusqlite::Result<()> {
        self.db.prepare_cached(statement)?.execute([]).map(|_| ())
    }
}

fn disk_full() -> SqliteError {
    let code = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_FULL);
    SqliteError::Sql(rusqlite::Error::SqliteFailure(code, None))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use ports::PortResult;
    use rusqlite::params;
    use tokio::sync::oneshot;

    use super::*;
    use crate::sqlite::write_job::{QueuedWrite, WriteOutput};

    type Work = fn(&Connection) -> Result<(), SqliteError>;
    type Answer = oneshot::Receiver<PortResult<()>>;

    #[expect(clippy::disallowed_methods, reason = "a database of this test alone")]
    fn committer(folder: &Path) -> GroupCommitter {
        let db = Connection::open(folder.join("test.db")).expect("a database");
        db.execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE t (n INTEGER, text TEXT);")
            .expect("a table");
        GroupCommitter::new(db, DiskReserve::create(folder), Arc::new(LiveLogs::new(false)))
    }

    fn job(
        priority: WritePriority,
        work: impl FnMut(&Connection) -> Result<(), SqliteError> + Send + 'static,
    ) -> (Box<dyn WriteJob>, Answer) {
        let (reply, answer) = oneshot::channel();
        let mut work = work;
        let task = QueuedWrite::new(
            priority,
            move |db: &Connection| work(db).map(WriteOutput::silent),
            reply,
        );
        (Box::new(task), answer)
    }

    fn insert(db: &Connection, n: i64) -> Result<(), SqliteError> {
        db.execute("INSERT INTO t (n, text) VALUES (?1, ?2)", params![n, "x".repeat(20_000)])?;
        Ok(())
    }

    fn stored(committer: &GroupCommitter) -> Vec<i64> {
        let mut select = committer.db.prepare("SELECT n FROM t ORDER BY n").expect("a select");
        let rows = select.query_map([], |row| row.get(0)).expect("rows");
        rows.collect::<Result<_, _>>().expect("numbers")
    }

    fn answered(answer: Answer) -> PortResult<()> {
        answer.blocking_recv().expect("every job is answered")
    }

    #[test]
    fn a_failed_or_panicked_job_does_not_affect_its_group() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut committer = committer(folder.path());
        let works: [Work; 4] = [
            |db| insert(db, 1),
            |db| insert(db, 2).and_then(|()| Err(SqliteError::broken("no"))),
            |db| insert(db, 3).map(|()| panic!("a fault of ours")),
            |db| insert(db, 4),
        ];
        let (group, answers): (Vec<_>, Vec<_>) =
            works.map(|work| job(WritePriority::Ordinary, work)).into_iter().unzip();
        committer.write(group);
        let answers: Vec<bool> = answers.into_iter().map(|a| answered(a).is_ok()).collect();
        assert_eq!(answers, [true, false, false, true]);
        assert_eq!(stored(&committer), [1, 4]);
        let (commit_single, answer) = job(WritePriority::Ordinary, |_| panic!("a fault of ours"));
        committer.write(vec![commit_single]);
        assert!(answered(answer).is_err());
        assert_eq!(stored(&committer), [1, 4]);
    }

    /// Simulates the disk: no more pages fit while the reserve exists.
    fn room_only_without_reserve(db: &Connection, reserve: &Path) -> Result<(), SqliteError> {
        let pages: i64 = db.query_row("PRAGMA page_count", [], |row| row.get(0))?;
        let limit = if reserve.exists() { pages } else { pages + 1000 };
        db.query_row(&format!("PRAGMA max_page_count = {limit}"), [], |_| Ok(()))?;
        Ok(())
    }

    #[test]
    fn a_full_disk_refuses_new_work_and_still_completes_accepted_work() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut committer = committer(folder.path());
        let reserve = folder.path().join("pilothouse.reserve");
        let write = |n: i64| {
            let reserve = reserve.clone();
            move |db: &Connection| {
                room_only_without_reserve(db, &reserve)?;
                insert(db, n)
            }
        };
        let (ordinary, refused) = job(WritePriority::Ordinary, write(1));
        let (essential, done) = job(WritePriority::Essential, write(2));
        let (later, refused_later) = job(WritePriority::Ordinary, write(3));
        committer.write(vec![ordinary, essential]);
        assert!(matches!(answered(refused), Err(PortError::Full)));
        assert!(answered(done).is_ok());
        assert!(!reserve.exists(), "the reserve was used");
        // There is space now, but it is kept for completing accepted work.
        committer.write(vec![later]);
        assert!(matches!(answered(refused_later), Err(PortError::Full)));
        let (essential, done) = job(WritePriority::Essential, write(4));
        committer.write(vec![essential]);
        assert!(answered(done).is_ok());
        assert_eq!(stored(&committer), [2, 4]);
    }

    #[test]
    fn a_job_without_disk_space_does_not_fail_the_others() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut committer = committer(folder.path());
        let (small, kept) = job(WritePriority::Ordinary, |db| {
            db.execute("INSERT INTO t (n) VALUES (1)", [])?;
            Ok(())
        });
        let (large, refused) = job(WritePriority::Ordinary, |db| {
            let pages: i64 = db.query_row("PRAGMA page_count", [], |row| row.get(0))?;
            db.query_row(&format!("PRAGMA max_page_count = {pages}"), [], |_| Ok(()))?;
            insert(db, 2)
        });
        committer.write(vec![small, large]);
        assert!(answered(kept).is_ok());
        assert!(matches!(answered(refused), Err(PortError::Full)));
        assert_eq!(stored(&committer), [1]);
    }
}
