//! CPU time of a process and all its descendants: Postgres has a process per connection, and its helpers come and go.

use std::fs;

use anyhow::{Context, Result, ensure};

/// User and system time of these processes and their descendants, including ended ones.
pub(crate) fn cpu_seconds(roots: &[u32]) -> Result<f64> {
    let all = processes()?;
    let mut family: Vec<&Process> = all.iter().filter(|one| roots.contains(&one.pid)).collect();
    ensure!(family.len() == roots.len(), "a measured process has ended");
    let mut next = 0;
    while let Some(parent) = family.get(next) {
        let parent = parent.pid;
        family.extend(all.iter().filter(|one| one.parent == parent));
        next += 1;
    }
    let ticks: f64 = family.iter().map(|one| one.ticks).sum();
    Ok(ticks / rustix::param::clock_ticks_per_second() as f64)
}

struct Process {
    pid: u32,
    parent: u32,
    ticks: f64,
}

fn processes() -> Result<Vec<Process>> {
    let entries = fs::read_dir("/proc").context("there is no /proc")?;
    // A process may end between listing and reading.
    Ok(entries
        .flatten()
        .filter_map(|entry| {
            let pid = entry.file_name().to_str()?.parse().ok()?;
            parsed(pid, &fs::read_to_string(entry.path().join("stat")).ok()?)
        })
        .collect())
}

fn parsed(pid: u32, stat: &str) -> Option<Process> {
    // The name in brackets may contain anything, so fields are counted from its end.
    let fields: Vec<&str> = stat.rsplit_once(") ")?.1.split(' ').collect();
    // Its own time, then that of its reaped children: nothing is counted twice.
    let ticks = fields.get(11..15)?.iter().map(|field| field.parse::<f64>()).sum::<Result<_, _>>();
    Some(Process { pid, parent: fields[1].parse().ok()?, ticks: ticks.ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn the_work_of_a_child_counts_after_its_end() {
        let me = [std::process::id()];
        let before = cpu_seconds(&me).expect("running");
        let busy = "i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done";
        let mut child = Command::new("sh").args(["-c", busy]).spawn().expect("a shell");
        child.wait().expect("it ends");
        assert!(cpu_seconds(&me).expect("running") >= before + 0.02);
        assert!(cpu_seconds(&[child.id()]).is_err(), "it is gone");
    }

    #[test]
    fn a_name_may_contain_brackets_and_spaces() {
        let stat = "7 (a) b (c) S 3 7 7 0 -1 0 0 0 0 0 1 2 4 8 20 0 1 0";
        let one = parsed(7, stat).expect("a process");
        assert_eq!((one.pid, one.parent, one.ticks), (7, 3, 15.0));
    }
}
