//! The machine of a run: its limits and its description.

use std::fs;

use anyhow::{Result, ensure};
use rustix::process::{Resource, getrlimit, setrlimit};

use crate::round::Plan;

/// Open files of a process besides its connections.
const OTHER_FILES: u64 = 500;

/// Raises the limit of open files for this many connections. Child processes inherit it.
pub(crate) fn allow_connections(count: usize) -> Result<()> {
    let needed = count as u64 + OTHER_FILES;
    let mut limit = getrlimit(Resource::Nofile);
    if limit.current.is_some_and(|current| current < needed) {
        ensure!(
            limit.maximum.is_none_or(|maximum| maximum >= needed),
            "{needed} open files are needed; allow them with `ulimit -Hn {needed}` as root"
        );
        limit.current = Some(needed);
        setrlimit(Resource::Nofile, limit)?;
    }
    Ok(())
}

/// Date, machine and parameters, for the head of the table.
pub(crate) fn description(plan: &Plan) -> String {
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info
        .lines()
        .find_map(|line| line.strip_prefix("model name")?.split_once(": "))
        .map_or("unknown processor", |(_, model)| model);
    format!(
        "{}; {cores} cores of {model}; Linux {}; {} rounds (median, lowest–highest); {} idle subscribers.",
        jiff::Zoned::now().date(),
        kernel.trim(),
        plan.rounds,
        plan.subscribers,
    )
}
