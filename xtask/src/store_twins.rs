//! The two stores mirror each other: a file of `sqlite/` has a twin of the same name in `postgres/`. Files that only one
//! database needs are listed here with the reason.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Result, bail};

use crate::source_files;

const STORES: &str = "crates/backends/src";

/// Files and folders without a twin, below the folder of their store.
const EXCEPTIONS: &[(&str, &[(&str, &str)])] = &[
    (
        "sqlite",
        &[
            ("boot_clock.rs", "leases are times of this process; Postgres has a clock for all"),
            ("completions.rs", "a table; the distributed backend uses a stream of Redis"),
            ("disk_reserve.rs", "the disk of this machine may be full"),
            ("group_commit.rs", "one transaction for the writes of all callers"),
            ("lock.rs", "one process per data directory"),
            ("read_pool.rs", "connections that only read"),
            ("write_job.rs", "a write as a job of the writer thread"),
            ("writer.rs", "the only thread that writes"),
        ],
    ),
    (
        "postgres",
        &[
            ("append_group.rs", "several appends in one statement; SQLite groups all writes"),
            ("append_queue.rs", "collects appends while others are written"),
            ("bounded_call.rs", "calls to a server need a time limit"),
            ("connection.rs", "a pooled connection with its transaction"),
            ("pool.rs", "connections to the server"),
            ("tests/", "need a server; those of SQLite are beside the code and in tests/it"),
            ("text_param.rs", "Postgres cannot store NUL"),
            ("turns/advisory_locks.rs", "writers in several processes; SQLite has one"),
            ("turns/position.rs", "counters that are read under these locks"),
        ],
    ),
];

pub(crate) fn check(root: &Path) -> Result<()> {
    let stores = root.join(STORES);
    let [sqlite, postgres] = ["sqlite", "postgres"].map(|store| files(&stores.join(store)));
    let (sqlite, postgres) = (sqlite?, postgres?);
    let mut wrong = Vec::new();
    let mut alone = 0;
    for (store, own, other) in [("sqlite", &sqlite, &postgres), ("postgres", &postgres, &sqlite)] {
        let exceptions: Vec<&str> = exceptions(store).iter().map(|(path, _)| *path).collect();
        let found = compare(own, other, &exceptions);
        alone += found.excepted;
        let unexpected = |path: &String| {
            format!(
                "{STORES}/{store}/{path} has no twin in the other store (xtask/src/store_twins.rs)"
            )
        };
        wrong.extend(found.without_twin.iter().map(unexpected));
        let outdated = |path: &String| {
            format!(
                "{store}/{path} is no exception any more: remove it from xtask/src/store_twins.rs"
            )
        };
        wrong.extend(found.outdated.iter().map(outdated));
    }
    if !wrong.is_empty() {
        bail!("{}", wrong.join("\n"));
    }
    let twins = sqlite.intersection(&postgres).count();
    println!("{twins} files of sqlite/ have a twin in postgres/; {alone} files of only one store:");
    for (store, exceptions) in EXCEPTIONS {
        for (path, reason) in *exceptions {
            println!("        {store}/{path}: {reason}");
        }
    }
    Ok(())
}

fn exceptions(store: &str) -> &'static [(&'static str, &'static str)] {
    EXCEPTIONS.iter().find(|(name, _)| *name == store).map_or(&[], |(_, exceptions)| exceptions)
}

struct Comparison {
    without_twin: Vec<String>,
    /// Exceptions that name no file, or one that has a twin.
    outdated: Vec<String>,
    excepted: usize,
}

fn compare(own: &BTreeSet<String>, other: &BTreeSet<String>, exceptions: &[&str]) -> Comparison {
    let covers = |exception: &str, path: &str| {
        path == exception || exception.ends_with('/') && path.starts_with(exception)
    };
    let (excepted, without_twin): (Vec<&String>, Vec<&String>) = own
        .difference(other)
        .partition(|path| exceptions.iter().any(|exception| covers(exception, path)));
    let outdated = exceptions
        .iter()
        .filter(|exception| !excepted.iter().any(|path| covers(exception, path)))
        .map(|exception| (*exception).to_owned())
        .collect();
    Comparison {
        without_twin: without_twin.into_iter().cloned().collect(),
        outdated,
        excepted: excepted.len(),
    }
}

/// The paths of the source files below a folder.
fn files(folder: &Path) -> Result<BTreeSet<String>> {
    let files = source_files::read(folder, &[""], &["rs"])?;
    Ok(files
        .iter()
        .map(|(path, _)| path.strip_prefix(folder).unwrap_or(path).display().to_string())
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(paths: &[&str]) -> BTreeSet<String> {
        paths.iter().map(|path| (*path).to_owned()).collect()
    }

    #[test]
    fn a_file_needs_a_twin_or_an_exception_and_an_exception_needs_a_file() {
        let own = set(&["turns/open.rs", "pool.rs", "tests/laws.rs", "new.rs"]);
        let other = set(&["turns/open.rs", "writer.rs"]);
        let found = compare(&own, &other, &["pool.rs", "tests/", "turns/open.rs", "gone.rs"]);
        assert_eq!(found.without_twin, ["new.rs"]);
        assert_eq!(found.outdated, ["turns/open.rs", "gone.rs"]);
        assert_eq!(found.excepted, 2);
    }

    #[test]
    fn the_stores_of_this_repository_mirror_each_other() {
        check(&Path::new(env!("CARGO_MANIFEST_DIR")).join("..")).expect("twins");
    }
}
