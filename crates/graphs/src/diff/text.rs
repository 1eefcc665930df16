//! A difference as plain text, for terminals and models: one line per change.

use std::fmt::Write;

use protocol::graph_diff::{
    AgentCost, AgentDiff, AgentUseKind, FieldsDiff, InterfaceField, StepSummary, StepsDiff,
};
use serde_json::Value;

use crate::reference::is_plain_name;
use crate::types::TypeSet;

/// Lines begin with `+` for what is added, `-` for what is removed and `~` for what changes.
pub fn to_text(diff: &AgentDiff) -> String {
    let mut lines = Lines(String::new());
    for change in &diff.about {
        lines.add(format!("~ {}: {} → {}", change.field, quoted(&change.from), quoted(&change.to)));
    }
    steps(&diff.steps, &mut lines);
    for (mark, links) in [("+", &diff.links.added), ("-", &diff.links.removed)] {
        for link in links {
            lines.add(format!("{mark} link {} → {}", link.from, link.to));
        }
    }
    fields("input", &diff.interface.inputs, &mut lines);
    fields("output", &diff.interface.outputs, &mut lines);
    for (mark, effects) in [("+", &diff.effects.added), ("-", &diff.effects.removed)] {
        for effect in effects {
            let approval = if effect.sensitive { ", may need approval" } else { "" };
            let (step, block, kind) = (&effect.step, &effect.block, effect.effect.as_str());
            lines.add(format!("{mark} effect of {step}: {block} ({kind}{approval})"));
        }
    }
    for (mark, uses) in [("+", &diff.credentials.added), ("-", &diff.credentials.removed)] {
        for one in uses {
            lines.add(format!("{mark} credentials {}: {}", one.provider, one.steps.join(", ")));
        }
    }
    if diff.cost.from != diff.cost.to {
        let (from, to) = (cost(diff.cost.from), cost(diff.cost.to));
        lines.add(format!("~ cost per execution: {from} → {to}"));
    }
    if lines.0.is_empty() {
        lines.add("No changes.".to_owned());
    }
    for one in &diff.used_by {
        let kind = match one.kind {
            AgentUseKind::Agent => "agent",
            AgentUseKind::Schedule => "schedule",
        };
        let version = match one.version {
            Some(version) => format!("version {version}"),
            None => "active version".to_owned(),
        };
        lines.add(format!("  used by {kind} {} ({version})", quoted(&one.name)));
    }
    lines.0
}

struct Lines(String);

impl Lines {
    /// Names come from documents of strangers: a control character could forge a line or move the cursor.
    fn add(&mut self, line: String) {
        let plain = line.chars().map(|c| if c.is_control() { ' ' } else { c });
        self.0.extend(plain);
        self.0.push('\n');
    }
}

fn steps(diff: &StepsDiff, lines: &mut Lines) {
    let mut summary = |mark: &str, one: &StepSummary| {
        lines.add(format!("{mark} step {}: {}", one.step, one.block));
        for pin in &one.pins {
            lines.add(format!("    {}: {}", pin.pin, pin.value));
        }
    };
    diff.added.iter().for_each(|one| summary("+", one));
    diff.removed.iter().for_each(|one| summary("-", one));
    for name in &diff.renamed {
        lines.add(format!("~ step {} is now {}", name.from, name.to));
    }
    for change in &diff.changed {
        let step = &change.step;
        if let Some(block) = &change.block {
            lines.add(format!("~ step {step}: {} → {}", block.from, block.to));
        }
        for pin in &change.pins {
            let shown = |value: &Option<Value>| {
                value.as_ref().map_or("nothing".to_owned(), Value::to_string)
            };
            let (from, to) = (shown(&pin.from), shown(&pin.to));
            lines.add(format!("~ {step}.{}: {from} → {to}", pin.pin));
        }
    }
}

fn fields(kind: &str, diff: &FieldsDiff, lines: &mut Lines) {
    for (mark, fields) in [("+", &diff.added), ("-", &diff.removed)] {
        for field in fields {
            lines.add(format!("{mark} {kind} {}: {}", name(&field.name), described(field)));
        }
    }
    for change in &diff.changed {
        let (from, to) = (&change.from, &change.to);
        if from.name != to.name {
            lines.add(format!("~ {kind} {} is now {}", name(&from.name), name(&to.name)));
        }
        if from.schema != to.schema || from.required != to.required {
            let (before, after) = (described(from), described(to));
            let what = match before == after {
                true => "described differently".to_owned(),
                false => format!("{before} → {after}"),
            };
            lines.add(format!("~ {kind} {}: {what}", name(&to.name)));
        }
    }
    if diff.breaking {
        lines.add(format!("! The {kind}s no longer fit those who use the agent as it was."));
    }
}

fn described(field: &InterfaceField) -> String {
    let mut text = TypeSet::of(&field.schema).to_string();
    if let Some(choices) = field.schema.get("enum") {
        // Writing into a text cannot fail.
        let _ = write!(text, " of {choices}");
    }
    if let Some(default) = field.schema.get("default") {
        let _ = write!(text, ", {default} by default");
    }
    if field.required {
        text.push_str(", required");
    }
    text
}

fn cost(cost: AgentCost) -> String {
    let least = if cost.is_minimum { "at least " } else { "" };
    let unit = if cost.credits == 1 { "credit" } else { "credits" };
    format!("{least}{} {unit}", cost.credits)
}

fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

fn name(name: &str) -> String {
    if is_plain_name(name) { name.to_owned() } else { quoted(name) }
}
