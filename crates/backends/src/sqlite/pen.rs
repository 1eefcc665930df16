//! Writes a group of jobs with one commit. A job that fails is undone alone; a full disk is met with
//! the reserve, for the writes that must still happen.

use std::sync::Arc;

use ports::PortError;
use rusqlite::Connection;

use super::fault::Fault;
use super::job::{Job, Need, Ran};
use super::reserve::Reserve;
use crate::live::Live;

pub(crate) struct Pen {
    db: Connection,
    reserve: Reserve,
    live: Arc<Live>,
}

/// The transaction was undone as a whole; each job has to be tried on its own.
struct Undone;

impl Pen {
    pub(crate) fn new(db: Connection, reserve: Reserve, live: Arc<Live>) -> Self {
        Self { db, reserve, live }
    }

    /// Writes what it can of the group, and answers all of it.
    pub(crate) fn write(&mut self, group: Vec<Box<dyn Job>>) {
        metrics::counter!("pilothouse_store_groups_total").increment(1);
        metrics::counter!("pilothouse_store_jobs_total").increment(group.len() as u64);
        let mut group = self.admit(group);
        if group.len() == 1 || self.together(&mut group).is_err() {
            for job in &mut group {
                self.alone(job.as_mut());
            }
        }
        for job in group {
            job.answer(&self.live);
        }
    }

    /// Folds the write-ahead log into the database.
    pub(crate) fn finish(self) {
        if let Err(error) = self.db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())) {
            // Not a loss: the next process reads the log where this one left it.
            tracing::warn!(%error, "the write-ahead log could not be folded into the database");
        }
    }

    /// While the reserve is in use, what is left of it belongs to the essential writes.
    fn admit(&mut self, group: Vec<Box<dyn Job>>) -> Vec<Box<dyn Job>> {
        if self.reserve.is_there() {
            return group;
        }
        let (admitted, refused): (Vec<_>, Vec<_>) =
            group.into_iter().partition(|job| job.need() == Need::Essential);
        for mut job in refused {
            job.refuse(PortError::Full);
            job.answer(&self.live);
        }
        admitted
    }

    fn together(&self, group: &mut [Box<dyn Job>]) -> Result<(), Undone> {
        let written = self.write_together(group);
        if written.is_err() {
            self.roll_back();
        }
        written
    }

    fn write_together(&self, group: &mut [Box<dyn Job>]) -> Result<(), Undone> {
        self.sql("BEGIN IMMEDIATE").map_err(|_| Undone)?;
        for job in group {
            self.sql("SAVEPOINT job").map_err(|_| Undone)?;
            let ran = job.run(&self.db);
            // SQLite undoes the whole transaction by itself after some errors.
            if ran == Ran::NoRoom || self.db.is_autocommit() {
                return Err(Undone);
            }
            if ran == Ran::Failed {
                self.sql("ROLLBACK TO job").map_err(|_| Undone)?;
            }
            self.sql("RELEASE job").map_err(|_| Undone)?;
        }
        self.sql("COMMIT").map_err(|_| Undone)
    }

    fn alone(&mut self, job: &mut dyn Job) {
        let mut written = self.write_alone(job);
        if matches!(&written, Err(fault) if fault.is_full())
            && job.need() == Need::Essential
            && self.reserve.release()
        {
            tracing::error!("the disk is full; the reserve is used to end what was accepted");
            written = self.write_alone(job);
        }
        if let Err(fault) = written {
            job.refuse(PortError::from(&fault));
        }
    }

    fn write_alone(&self, job: &mut dyn Job) -> Result<(), Fault> {
        let written = self.sql("BEGIN IMMEDIATE").map_err(Fault::from).and_then(|()| {
            match job.run(&self.db) {
                Ran::Done => self.sql("COMMIT").map_err(Fault::from),
                // The job keeps its own error; there is nothing to commit.
                Ran::Failed => {
                    self.roll_back();
                    Ok(())
                }
                Ran::NoRoom => Err(full()),
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
            tracing::error!(%error, "a transaction could not be undone");
        }
    }

    fn sql(&self, statement: &str) -> rusqlite::Result<()> {
        self.db.prepare_cached(statement)?.execute([]).map(|_| ())
    }
}

fn full() -> Fault {
    let code = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_FULL);
    Fault::Sql(rusqlite::Error::SqliteFailure(code, None))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use ports::PortResult;
    use rusqlite::params;
    use tokio::sync::oneshot;

    use super::super::job::{Done, Task};
    use super::*;

    type Work = fn(&Connection) -> Result<(), Fault>;
    type Answer = oneshot::Receiver<PortResult<()>>;

    #[expect(clippy::disallowed_methods, reason = "a database of this test alone")]
    fn pen(folder: &Path) -> Pen {
        let db = Connection::open(folder.join("test.db")).expect("a database");
        db.execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE t (n INTEGER, text TEXT);")
            .expect("a table");
        Pen::new(db, Reserve::keep(folder), Arc::new(Live::new(false)))
    }

    fn job(
        need: Need,
        work: impl FnMut(&Connection) -> Result<(), Fault> + Send + 'static,
    ) -> (Box<dyn Job>, Answer) {
        let (reply, answer) = oneshot::channel();
        let mut work = work;
        let task = Task::new(need, move |db: &Connection| work(db).map(Done::quietly), reply);
        (Box::new(task), answer)
    }

    fn insert(db: &Connection, n: i64) -> Result<(), Fault> {
        db.execute("INSERT INTO t (n, text) VALUES (?1, ?2)", params![n, "x".repeat(20_000)])?;
        Ok(())
    }

    fn stored(pen: &Pen) -> Vec<i64> {
        let mut select = pen.db.prepare("SELECT n FROM t ORDER BY n").expect("a select");
        let rows = select.query_map([], |row| row.get(0)).expect("rows");
        rows.collect::<Result<_, _>>().expect("numbers")
    }

    fn answered(answer: Answer) -> PortResult<()> {
        answer.blocking_recv().expect("every job is answered")
    }

    #[test]
    fn a_job_that_fails_or_panics_fails_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut pen = pen(folder.path());
        let works: [Work; 4] = [
            |db| insert(db, 1),
            |db| insert(db, 2).and_then(|()| Err(Fault::broken("no"))),
            |db| insert(db, 3).map(|()| panic!("a fault of ours")),
            |db| insert(db, 4),
        ];
        let (group, answers): (Vec<_>, Vec<_>) =
            works.map(|work| job(Need::Ordinary, work)).into_iter().unzip();
        pen.write(group);
        let answers: Vec<bool> = answers.into_iter().map(|a| answered(a).is_ok()).collect();
        assert_eq!(answers, [true, false, false, true]);
        assert_eq!(stored(&pen), [1, 4]);
        let (alone, answer) = job(Need::Ordinary, |_| panic!("a fault of ours"));
        pen.write(vec![alone]);
        assert!(answered(answer).is_err());
        assert_eq!(stored(&pen), [1, 4]);
    }

    /// Stands for the disk: there is room for no more pages as long as the reserve takes it.
    fn room_only_without_reserve(db: &Connection, reserve: &Path) -> Result<(), Fault> {
        let pages: i64 = db.query_row("PRAGMA page_count", [], |row| row.get(0))?;
        let limit = if reserve.exists() { pages } else { pages + 1000 };
        db.query_row(&format!("PRAGMA max_page_count = {limit}"), [], |_| Ok(()))?;
        Ok(())
    }

    #[test]
    fn a_full_disk_refuses_new_work_and_still_ends_what_was_accepted() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut pen = pen(folder.path());
        let reserve = folder.path().join("pilothouse.reserve");
        let write = |n: i64| {
            let reserve = reserve.clone();
            move |db: &Connection| {
                room_only_without_reserve(db, &reserve)?;
                insert(db, n)
            }
        };
        let (ordinary, refused) = job(Need::Ordinary, write(1));
        let (essential, done) = job(Need::Essential, write(2));
        let (later, refused_later) = job(Need::Ordinary, write(3));
        pen.write(vec![ordinary, essential]);
        assert!(matches!(answered(refused), Err(PortError::Full)));
        assert!(answered(done).is_ok());
        assert!(!reserve.exists(), "the reserve was used");
        // There would be room now, but it is kept for what must still be ended.
        pen.write(vec![later]);
        assert!(matches!(answered(refused_later), Err(PortError::Full)));
        let (essential, done) = job(Need::Essential, write(4));
        pen.write(vec![essential]);
        assert!(answered(done).is_ok());
        assert_eq!(stored(&pen), [2, 4]);
    }

    #[test]
    fn one_job_that_finds_no_room_does_not_take_the_others_with_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut pen = pen(folder.path());
        let (small, kept) = job(Need::Ordinary, |db| {
            db.execute("INSERT INTO t (n) VALUES (1)", [])?;
            Ok(())
        });
        let (large, refused) = job(Need::Ordinary, |db| {
            let pages: i64 = db.query_row("PRAGMA page_count", [], |row| row.get(0))?;
            db.query_row(&format!("PRAGMA max_page_count = {pages}"), [], |_| Ok(()))?;
            insert(db, 2)
        });
        pen.write(vec![small, large]);
        assert!(answered(kept).is_ok());
        assert!(matches!(answered(refused), Err(PortError::Full)));
        assert_eq!(stored(&pen), [1]);
    }
}
