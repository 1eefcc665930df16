//! The report of a rehearsal as lines of text.

use std::fmt::Write;

use protocol::rehearsal::{RehearsalReport, StepFailure};
use serde_json::Value;

use super::execution::plain;
use crate::cli::terminal::shortened;

pub(crate) fn text(report: &RehearsalReport) -> String {
    let mut text = format!("state: {}\n", report.state.as_str());
    let mut line = |line: String| {
        text.push_str(&line);
        text.push('\n');
    };
    for (name, value) in &report.made_inputs {
        line(format!("made-up input: {name} = {}", shortened(&plain(value))));
    }
    for step in &report.nodes_fired {
        let answered = report.answered.iter().find(|answered| answered.step == *step);
        let how =
            answered.map_or(String::new(), |one| format!(" (not run; data: {})", one.by.as_str()));
        line(format!("step: {step}{how}"));
    }
    for step in &report.not_fired {
        line(format!("not reached: {step}"));
    }
    for branch in report.branches.iter().filter(|branch| !branch.taken) {
        line(format!("branch not taken: {}.{}", branch.step, branch.pin));
    }
    for (name, values) in &report.outputs {
        let values = values.as_array().map_or(std::slice::from_ref(values), Vec::as_slice);
        values.iter().for_each(|value: &Value| line(format!("output: {name} = {}", plain(value))));
    }
    report.unfilled.iter().for_each(|name| line(format!("output without a value: {name}")));
    report.failed.iter().for_each(|failed| line(failure(failed)));
    for failing in &report.failures {
        let mut effects: Vec<String> =
            failing.unfilled.iter().map(|name| format!("no {name}")).collect();
        effects.extend(failing.failed.iter().map(failure));
        if effects.is_empty() {
            effects.push("every output still gets a value".to_owned());
        }
        line(format!("if {} fails: {}", failing.step, effects.join("; ")));
    }
    if report.unfilled.is_empty() && report.failed.is_empty() && !report.state.is_ready() {
        let _ = writeln!(text, "The rehearsal did not come to an end.");
    }
    text
}

fn failure(failed: &StepFailure) -> String {
    format!("failed: {}: {}", failed.step, shortened(&failed.error))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_report_lists_the_steps_the_outputs_and_what_is_missing() {
        let report = json!({
            "execution_id": "e", "state": "valid", "nodes_fired": ["fetch", "check"],
            "not_fired": ["alarm"],
            "branches": [
                {"step": "check", "pin": "yes_output", "taken": false},
                {"step": "check", "pin": "no_output", "taken": true},
            ],
            "outputs": {"report": ["calm", {"m": 2}]}, "unfilled": ["alarm"],
            "failed": [{"step": "check", "node_id": "n", "error": "not a\nnumber"}],
            "answered": [{"step": "fetch", "by": "sample"}], "made_inputs": {"harbor": "Brest"},
            "failures": [
                {"step": "fetch", "execution_id": "f", "unfilled": ["report"], "failed": []},
                {"step": "mail", "execution_id": "g", "unfilled": [], "failed": []},
            ],
        });
        let report: RehearsalReport = serde_json::from_value(report).expect("a report");
        let expected = "\
state: valid
made-up input: harbor = Brest
step: fetch (not run; data: sample)
step: check
not reached: alarm
branch not taken: check.yes_output
output: report = calm
output: report = {\"m\":2}
output without a value: alarm
failed: check: not a number
if fetch fails: no report
if mail fails: every output still gets a value
";
        assert_eq!(text(&report), expected);
    }
}
