//! The report of a rehearsal as lines of text.

use std::fmt::Write;

use protocol::rehearsal::{
    AgentState, AnsweredBy, AnsweredStep, RehearsalReport, RehearsalVariation, StepFailure,
    VariationKind,
};
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
        line(format!("step: {step}{}", answered.map_or("".to_owned(), how)));
    }
    for inside in report.answered.iter().filter(|one| !report.nodes_fired.contains(&one.step)) {
        line(format!("step: {}{}", inside.step, how(inside)));
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
    for run in report.runs.iter().skip(1) {
        let varied: Vec<String> = run.varied.iter().map(difference).collect();
        let mut shown = vec![match run.filled.is_empty() {
            true => "no other output is filled".to_owned(),
            false => format!("fills {}", run.filled.join(", ")),
        }];
        shown.extend(run.failed.iter().map(failure));
        line(format!("another run, with {}: {}", varied.join(", "), shown.join("; ")));
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
    if report.state == AgentState::NotVerifiable {
        let _ = writeln!(text, "The rehearsal did not come to an end.");
    }
    text
}

fn how(answered: &AnsweredStep) -> String {
    match answered.by {
        AnsweredBy::Decision => " (decided by the rehearsal)".to_owned(),
        by => format!(" (not run; data: {})", by.as_str()),
    }
}

/// `height = 4`, `fetch.client_error`, `approve rejected`, `fetch failing`
fn difference(varied: &RehearsalVariation) -> String {
    let pin = varied.pin.as_ref().map(|pin| format!(".{pin}")).unwrap_or_default();
    let value = varied.value.as_ref().map(|value| format!(" = {}", shortened(&plain(value))));
    let what = match varied.kind {
        VariationKind::Input | VariationKind::Answer => value.unwrap_or_default(),
        VariationKind::Rejection => " rejected".to_owned(),
        VariationKind::Failure => " failing".to_owned(),
    };
    format!("{}{pin}{what}", varied.name)
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
            "answered": [{"step": "fetch", "by": "sample"}, {"step": "letter/ask", "by": "decision"}],
            "made_inputs": {"harbor": "Brest"},
            "runs": [
                {"execution_id": "e", "varied": [], "filled": ["report"], "failed": []},
                {"execution_id": "h", "filled": ["low"], "failed": [], "varied": [
                    {"kind": "input", "name": "height", "value": 4}, {"kind": "rejection", "name": "ask"},
                ]},
                {"execution_id": "i", "filled": [], "varied": [
                    {"kind": "answer", "name": "fetch", "pin": "client_error"}, {"kind": "failure", "name": "write"},
                ], "failed": [{"step": "sum", "node_id": "m", "error": "no"}]},
            ],
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
step: letter/ask (decided by the rehearsal)
not reached: alarm
branch not taken: check.yes_output
output: report = calm
output: report = {\"m\":2}
another run, with height = 4, ask rejected: fills low
another run, with fetch.client_error, write failing: no other output is filled; failed: sum: no
output without a value: alarm
failed: check: not a number
if fetch fails: no report
if mail fails: every output still gets a value
";
        assert_eq!(text(&report), expected);
    }
}
