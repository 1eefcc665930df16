//! Process statistics of the kernel, and statistics of samples.

use std::fs;
use std::time::Duration;

use anyhow::{Context, Result};

/// User and system time of a process without its children, all threads together.
pub(crate) fn cpu_seconds(pid: u32) -> Result<f64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).context("the process has ended")?;
    // The name in brackets may contain anything, so fields are counted from its end.
    let (_, fields) = stat.rsplit_once(") ").context("/proc stat has an unknown form")?;
    let mut fields = fields.split(' ').skip(11);
    let mut ticks = || fields.next().and_then(|f| f.parse::<f64>().ok());
    let used = ticks().zip(ticks()).map(|(user, system)| user + system);
    Ok(used.context("/proc stat has an unknown form")?
        / rustix::param::clock_ticks_per_second() as f64)
}

/// Resident memory of a process.
pub(crate) fn rss_bytes(pid: u32) -> Result<f64> {
    status_bytes(pid, "VmRSS:")
}

/// Peak resident memory of a process.
pub(crate) fn peak_bytes(pid: u32) -> Result<f64> {
    status_bytes(pid, "VmHWM:")
}

fn status_bytes(pid: u32, field: &str) -> Result<f64> {
    let status =
        fs::read_to_string(format!("/proc/{pid}/status")).context("the process has ended")?;
    let line = status.lines().find_map(|l| l.strip_prefix(field));
    let kib: f64 = line
        .and_then(|l| l.trim().strip_suffix(" kB"))
        .and_then(|l| l.parse().ok())
        .with_context(|| format!("/proc status has no {field}"))?;
    Ok(kib * 1024.0)
}

/// The value below which `share` of the samples are.
pub(crate) fn percentile(samples: &mut [Duration], share: f64) -> Duration {
    if samples.is_empty() {
        return Duration::ZERO;
    }
    samples.sort_unstable();
    let index = ((samples.len() - 1) as f64 * share).round() as usize;
    samples[index]
}

/// The median of several rounds, and their range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Spread {
    pub(crate) low: f64,
    pub(crate) median: f64,
    pub(crate) high: f64,
}

impl Spread {
    pub(crate) fn of(samples: &[f64]) -> Option<Self> {
        let mut sorted = samples.to_vec();
        sorted.sort_by(f64::total_cmp);
        let (low, high) = (*sorted.first()?, *sorted.last()?);
        let middle = sorted.len() / 2;
        let median = if sorted.len() % 2 == 1 {
            sorted[middle]
        } else {
            (sorted[middle - 1] + sorted[middle]) / 2.0
        };
        Some(Self { low, median, high })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_statistics_are_parsed() {
        let me = std::process::id();
        assert!(rss_bytes(me).expect("running") > 100_000.0);
        assert!(peak_bytes(me).expect("running") >= rss_bytes(me).expect("running"));
        let before = cpu_seconds(me).expect("running");
        // The kernel counts in ticks, and on a busy machine this process may get none for a while.
        let start = std::time::Instant::now();
        while cpu_seconds(me).expect("running") <= before {
            assert!(start.elapsed() < Duration::from_secs(20), "no processor time was counted");
        }
    }

    #[test]
    fn the_median_is_the_middle() {
        assert_eq!(Spread::of(&[3.0, 1.0, 2.0]), Some(Spread { low: 1.0, median: 2.0, high: 3.0 }));
        assert_eq!(Spread::of(&[1.0, 2.0]).map(|s| s.median), Some(1.5));
        assert_eq!(Spread::of(&[]), None);
    }
}
