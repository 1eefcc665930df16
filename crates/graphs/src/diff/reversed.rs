//! The difference in the other direction.

use std::collections::HashMap;

use protocol::graph_diff::{
    AgentDiff, CostChange, CredentialsDiff, EffectsDiff, FieldChange, FieldsDiff, InterfaceDiff,
    LinksDiff, NameChange, PinChange, StepChange, StepsDiff, TextChange,
};

use super::interface::{Side, is_breaking};

/// Turns the difference from A to B into the one from B to A: what restoring A would change.
pub fn reversed(diff: AgentDiff) -> AgentDiff {
    let AgentDiff { about, steps, links, interface, effects, credentials, cost, used_by } = diff;
    let text = |change: TextChange| TextChange { from: change.to, to: change.from, ..change };
    AgentDiff {
        about: about.into_iter().map(text).collect(),
        steps: reversed_steps(steps),
        links: LinksDiff { added: links.removed, removed: links.added },
        interface: InterfaceDiff {
            inputs: reversed_fields(interface.inputs, Side::Inputs),
            outputs: reversed_fields(interface.outputs, Side::Outputs),
        },
        effects: EffectsDiff { added: effects.removed, removed: effects.added },
        credentials: CredentialsDiff { added: credentials.removed, removed: credentials.added },
        cost: CostChange { from: cost.to, to: cost.from },
        used_by,
    }
}

fn reversed_steps(steps: StepsDiff) -> StepsDiff {
    let names: HashMap<String, String> =
        steps.renamed.iter().map(|name| (name.to.clone(), name.from.clone())).collect();
    let name = |change: NameChange| NameChange { from: change.to, to: change.from };
    let pin = |change: PinChange| PinChange { from: change.to, to: change.from, ..change };
    let step = |change: StepChange| StepChange {
        step: names.get(&change.step).cloned().unwrap_or(change.step),
        block: change.block.map(name),
        pins: change.pins.into_iter().map(pin).collect(),
    };
    let mut renamed: Vec<NameChange> = steps.renamed.iter().cloned().map(name).collect();
    let mut changed: Vec<StepChange> = steps.changed.into_iter().map(step).collect();
    renamed.sort_by(|a, b| a.from.cmp(&b.from));
    changed.sort_by(|a, b| a.step.cmp(&b.step));
    StepsDiff { added: steps.removed, removed: steps.added, renamed, changed }
}

fn reversed_fields(fields: FieldsDiff, side: Side) -> FieldsDiff {
    let change = |change: FieldChange| FieldChange { from: change.to, to: change.from };
    let mut changed: Vec<FieldChange> = fields.changed.into_iter().map(change).collect();
    changed.sort_by(|a, b| a.to.name.cmp(&b.to.name));
    let mut reversed =
        FieldsDiff { added: fields.removed, removed: fields.added, changed, breaking: false };
    // An input that is harmless to add is not harmless to remove.
    reversed.breaking = is_breaking(&reversed, side);
    reversed
}
