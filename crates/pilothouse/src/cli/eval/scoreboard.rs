//! Counts attempts and prints the score.

use std::fmt::Write;
use std::time::Duration;

use protocol::usage::Usage;

use super::attempt::{AttemptFailure, AttemptSuccess, FailureCause};
use crate::cli::terminal::shortened;

/// The attempts at one task.
pub(crate) struct TaskScore {
    name: String,
    attempts: u32,
    passed: u32,
    time: Duration,
    /// What the last success and each failure say.
    success: Option<AttemptSuccess>,
    failures: Vec<(FailureCause, String)>,
}

impl TaskScore {
    pub(crate) fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            attempts: 0,
            passed: 0,
            time: Duration::ZERO,
            success: None,
            failures: Vec::new(),
        }
    }

    pub(crate) fn add(&mut self, result: Result<AttemptSuccess, AttemptFailure>, time: Duration) {
        self.attempts += 1;
        self.time += time;
        match result {
            Ok(success) => {
                self.passed += 1;
                self.success = Some(success);
            }
            Err(failure) => self.failures.push((failure.cause, failure.reason)),
        }
    }

    /// A line about the task, and one about each failure.
    pub(crate) fn text(&self) -> String {
        let mark = if self.passed > 0 { "pass" } else { "FAIL" };
        let mut text = format!("{mark}  {:<28}", self.name);
        if self.attempts > 1 {
            let _ = write!(text, " {}/{}", self.passed, self.attempts);
        }
        if let Some(success) = &self.success {
            let _ = write!(text, " {}", success.what);
            if success.repairs > 0 {
                let _ = write!(text, " after {} repairs", success.repairs);
            }
        }
        let _ = writeln!(text, "  {}", seconds(self.time));
        for (cause, reason) in &self.failures {
            let _ = writeln!(text, "      {}: {}", cause_name(*cause), shortened(reason));
        }
        text
    }
}

/// All tasks.
pub(crate) struct Scoreboard {
    attempts: u32,
    tasks: Vec<TaskScore>,
}

impl Scoreboard {
    pub(crate) fn new(attempts: u32) -> Self {
        Self { attempts, tasks: Vec::new() }
    }

    pub(crate) fn add(&mut self, score: TaskScore) {
        self.tasks.push(score);
    }

    /// Whether every task passed at least once.
    pub(crate) fn all_passed(&self) -> bool {
        self.tasks.iter().all(|task| task.passed > 0)
    }

    pub(crate) fn summary(&self, usage: Usage, time: Duration) -> String {
        let tasks = self.tasks.len();
        let passed = self.tasks.iter().filter(|task| task.passed > 0).count();
        // The expected number of tasks that pass with one attempt.
        let rate = |task: &TaskScore| f64::from(task.passed) / f64::from(task.attempts.max(1));
        let at_one: f64 = self.tasks.iter().map(rate).sum();
        let percent = |count: f64| format!("{:.0} %", 100.0 * count / tasks.max(1) as f64);
        let mut text = format!("\npass@1  {}", percent(at_one));
        if self.attempts > 1 {
            let _ = write!(text, "\npass@{}  {}", self.attempts, percent(passed as f64));
        }
        let _ = write!(text, "\ntasks   {passed} of {tasks} passed");
        if usage.total_tokens() > 0 {
            let Usage { prompt_tokens, completion_tokens, cost_microdollars, .. } = usage;
            let _ = write!(text, "\ntokens  {prompt_tokens} in, {completion_tokens} out");
            if let Some(cost) = cost_microdollars {
                let _ = write!(text, "\ncost    ${:.4}", cost as f64 / 1_000_000.0);
            }
        }
        let _ = write!(text, "\ntime    {}", seconds(time));
        for cause in [FailureCause::Builder, FailureCause::Service, FailureCause::VerificationGap] {
            let failures = self.tasks.iter().flat_map(|task| &task.failures);
            let count = failures.filter(|(found, _)| *found == cause).count();
            if count > 0 {
                let _ = write!(text, "\nfailed  {count} × {}", cause_name(cause));
            }
        }
        text
    }
}

fn cause_name(cause: FailureCause) -> &'static str {
    match cause {
        FailureCause::Builder => "builder",
        FailureCause::Service => "service",
        FailureCause::VerificationGap => "verification gap",
    }
}

fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn success() -> Result<AttemptSuccess, AttemptFailure> {
        Ok(AttemptSuccess { what: "verified", repairs: 1 })
    }

    fn failed(cause: FailureCause) -> Result<AttemptSuccess, AttemptFailure> {
        Err(AttemptFailure { cause, reason: "sum is 3, not 4".to_owned(), spec: None })
    }

    #[test]
    fn a_task_passes_at_k_if_one_of_k_attempts_passes() {
        let mut scoreboard = Scoreboard::new(2);
        let second = Duration::from_secs(1);
        let mut never = TaskScore::new("never");
        never.add(failed(FailureCause::Builder), second);
        never.add(failed(FailureCause::VerificationGap), second);
        assert!(never.text().starts_with("FAIL  never"), "{}", never.text());
        assert!(never.text().contains("verification gap: sum is 3, not 4"), "{}", never.text());
        let mut sometimes = TaskScore::new("sometimes");
        sometimes.add(failed(FailureCause::Builder), second);
        sometimes.add(success(), second);
        let text = sometimes.text();
        assert!(text.contains(" 1/2 verified after 1 repairs  2.0 s"), "{text}");
        scoreboard.add(never);
        assert!(!scoreboard.all_passed());
        scoreboard.add(sometimes);
        let usage = Usage { prompt_tokens: 10, completion_tokens: 5, ..Usage::default() };
        let summary = scoreboard.summary(usage, second);
        for line in [
            "pass@1  25 %",
            "pass@2  50 %",
            "tasks   1 of 2 passed",
            "tokens  10 in, 5 out",
            "time    1.0 s",
            "failed  2 × builder",
            "failed  1 × verification gap",
        ] {
            assert!(summary.lines().any(|found| found == line), "{line}: {summary}");
        }
    }
}
