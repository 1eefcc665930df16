//! What a block declares about itself. Validation, the catalogue and the client's forms are derived from this.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::tool::ToolEffect;

#[derive(Clone, Debug)]
pub struct BlockSpec {
    /// The origin's UUID, so that its exported agents mean the same here.
    pub id: &'static str,
    /// The origin's class name: `CalculatorBlock`.
    pub name: &'static str,
    pub description: &'static str,
    pub categories: &'static [BlockCategory],
    pub kind: BlockKind,
    /// JSON schema, an object; its `required` are the pins without which a node does not fire.
    pub inputs: Value,
    /// JSON schema, an object with one property per pin. Standard blocks have `error` besides.
    pub outputs: Value,
    pub effect: ToolEffect,
    pub costs: &'static [BlockCost],
    /// Every link from it keeps its value: it fills all later runs of the sink.
    pub static_output: bool,
    /// Acts on the world in a way that a careful person wants to see first.
    pub sensitive: bool,
    /// Waits for other work (another run, a turn, a timer), so that the wall clock of a node run does not count.
    pub coordinates: bool,
}

impl BlockSpec {
    /// Whether any name is a pin of its input: the block takes what its schema does not name.
    pub fn takes_any_input(&self) -> bool {
        self.inputs.get("additionalProperties").is_some_and(|more| *more != Value::Bool(false))
    }

    pub fn input(&self, pin: &str) -> Option<&Value> {
        self.inputs.get("properties")?.get(pin)
    }

    pub fn output(&self, pin: &str) -> Option<&Value> {
        self.outputs.get("properties")?.get(pin)
    }

    pub fn required(&self) -> impl Iterator<Item = &str> {
        let required = self.inputs.get("required").and_then(Value::as_array);
        required.into_iter().flatten().filter_map(Value::as_str)
    }

    /// The pins that take stored credentials without which it cannot do its work: those whose schema names
    /// `credentials_types`.
    pub fn credentials(&self) -> impl Iterator<Item = CredentialsPin<'_>> {
        let pins = self.inputs.get("properties").and_then(Value::as_object).into_iter().flatten();
        pins.filter(|(_, schema)| Self::is_credentials(schema)).map(|(name, schema)| {
            let text = |key: &str| schema.get(key).and_then(Value::as_str);
            CredentialsPin {
                name,
                title: text("title").unwrap_or(name),
                provider: text("credentials_provider"),
            }
        })
    }

    /// Whether a pin of this schema takes stored credentials.
    pub fn is_credentials(schema: &Value) -> bool {
        schema.get("credentials_types").is_some()
    }

    /// As the origin's clients read it.
    pub fn describe(&self) -> BlockDescription {
        let described = |category: &BlockCategory| CategoryDescription {
            category: *category,
            description: category.description(),
        };
        BlockDescription {
            id: self.id,
            name: self.name,
            description: self.description,
            input_schema: self.inputs.clone(),
            output_schema: self.outputs.clone(),
            categories: self.categories.iter().map(described).collect(),
            costs: self.costs,
            static_output: self.static_output,
            ui_type: self.kind,
            is_sensitive: self.sensitive,
        }
    }
}

/// A pin that takes stored credentials.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CredentialsPin<'a> {
    pub name: &'a str,
    pub title: &'a str,
    pub provider: Option<&'a str>,
}

/// A block as the catalogue lists it.
#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct BlockDescription {
    pub id: &'static str,
    /// The origin's class name: `CalculatorBlock`.
    pub name: &'static str,
    pub description: &'static str,
    /// JSON schema of what it takes.
    pub input_schema: Value,
    /// JSON schema of what it gives, a property for each pin.
    pub output_schema: Value,
    pub categories: Vec<CategoryDescription>,
    pub costs: &'static [BlockCost],
    /// Its output stays for all later runs of what follows it.
    pub static_output: bool,
    pub ui_type: BlockKind,
    /// Acts on the world in a way that a careful person wants to see first.
    pub is_sensitive: bool,
}

#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
pub struct CategoryDescription {
    pub category: BlockCategory,
    pub description: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub enum BlockKind {
    Standard,
    Input,
    Output,
    Note,
    Webhook,
    #[serde(rename = "Webhook (manual)")]
    WebhookManual,
    Agent,
    #[serde(rename = "AI")]
    Ai,
    #[serde(rename = "Human In The Loop")]
    HumanInTheLoop,
    #[serde(rename = "MCP Tool")]
    McpTool,
}

impl BlockKind {
    /// Whether it only has a meaning inside a graph.
    pub fn is_graph_only(self) -> bool {
        !matches!(self, Self::Standard | Self::Ai)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum BlockCategory {
    Ai,
    Social,
    Text,
    Search,
    Basic,
    Input,
    Output,
    Logic,
    Communication,
    DeveloperTools,
    Data,
    Hardware,
    Agent,
    Crm,
    Safety,
    Productivity,
    IssueTracking,
    Multimedia,
    Marketing,
}

impl BlockCategory {
    fn description(self) -> &'static str {
        match self {
            Self::Ai => "Asks a model.",
            Self::Social => "Works with social networks.",
            Self::Text => "Works with text.",
            Self::Search => "Finds or extracts information.",
            Self::Basic => "Does basic operations.",
            Self::Input => "Takes what an agent is given.",
            Self::Output => "Gives what an agent has found.",
            Self::Logic => "Decides, counts and repeats.",
            Self::Communication => "Sends and receives messages.",
            Self::DeveloperTools => "Helps to develop software.",
            Self::Data => "Works with structured data.",
            Self::Hardware => "Works with devices.",
            Self::Agent => "Works with other agents.",
            Self::Crm => "Works with customer data.",
            Self::Safety => "Keeps a run safe.",
            Self::Productivity => "Helps people to get things done.",
            Self::IssueTracking => "Works with issues.",
            Self::Multimedia => "Works with pictures, sound and film.",
            Self::Marketing => "Helps to reach people.",
        }
    }
}

/// What a run of a block costs, in credits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct BlockCost {
    #[serde(rename = "cost_type")]
    pub kind: CostKind,
    /// Credits for every `per` units begun.
    #[serde(rename = "cost_amount")]
    pub amount: u64,
    pub per: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum CostKind {
    Run,
    Byte,
    Second,
    Items,
    /// Millionths of a dollar.
    CostUsd,
    Tokens,
}

/// What a run has used, for its bill.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MeteredUsage {
    pub bytes: u64,
    pub seconds: u64,
    pub items: u64,
    pub microdollars: u64,
    pub tokens: u64,
}

/// The bill of one run. `Run` is owed even when nothing else was used.
pub fn price(costs: &[BlockCost], used: &MeteredUsage) -> u64 {
    let of = |cost: &BlockCost| {
        let units = match cost.kind {
            CostKind::Run => 1,
            CostKind::Byte => used.bytes,
            CostKind::Second => used.seconds,
            CostKind::Items => used.items,
            CostKind::CostUsd => used.microdollars,
            CostKind::Tokens => used.tokens,
        };
        cost.amount.saturating_mul(units.div_ceil(cost.per.max(1)))
    };
    costs.iter().map(of).fold(0, u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bill_counts_units_that_were_begun() {
        const COSTS: &[BlockCost] = &[
            BlockCost { kind: CostKind::Run, amount: 2, per: 1 },
            BlockCost { kind: CostKind::Tokens, amount: 1, per: 1000 },
        ];
        assert_eq!(price(COSTS, &MeteredUsage::default()), 2);
        assert_eq!(price(COSTS, &MeteredUsage { tokens: 1001, ..MeteredUsage::default() }), 4);
        assert_eq!(price(&[], &MeteredUsage { tokens: 1001, ..MeteredUsage::default() }), 0);
    }
}
