//! What a block declares about itself. Validation, the catalog and the client's forms are derived from this.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::tool::ToolEffect;

#[derive(Clone, Debug)]
pub struct BlockSpec {
    /// The origin's UUID, so that agents exported there work here.
    pub id: &'static str,
    /// The origin's class name: `CalculatorBlock`.
    pub name: &'static str,
    pub description: &'static str,
    pub categories: &'static [BlockCategory],
    pub kind: BlockKind,
    /// JSON schema, an object; its `required` are the pins without which a node does not fire.
    pub inputs: Value,
    /// JSON schema, an object with one property per pin. Standard blocks also have `error`.
    pub outputs: Value,
    pub effect: ToolEffect,
    pub costs: &'static [BlockCost],
    /// Links from it keep their value for all later node executions of the sink.
    pub static_output: bool,
    /// Has external side effects that may need approval.
    pub sensitive: bool,
    /// Waits for other work (another execution, a turn, a timer), so the time limit of a node execution does not apply.
    pub coordinates: bool,
}

impl BlockSpec {
    /// Whether the block accepts inputs that its schema does not name.
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

    /// The pins for stored credentials that the block requires: those whose schema has `credentials_types`.
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

    /// Whether a pin with this schema takes stored credentials.
    pub fn is_credentials(schema: &Value) -> bool {
        schema.get("credentials_types").is_some()
    }

    /// The description in the format of the origin's clients.
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

/// A block in the catalog.
#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct BlockDescription {
    pub id: &'static str,
    /// The origin's class name: `CalculatorBlock`.
    pub name: &'static str,
    pub description: &'static str,
    /// JSON schema of its inputs.
    pub input_schema: Value,
    /// JSON schema of its outputs, with a property for each pin.
    pub output_schema: Value,
    pub categories: Vec<CategoryDescription>,
    pub costs: &'static [BlockCost],
    /// Its output is kept for all later node executions of its sinks.
    pub static_output: bool,
    pub ui_type: BlockKind,
    /// Has external side effects that may need approval.
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
    /// Whether it can only be used inside a graph.
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
            Self::Ai => "Uses a model.",
            Self::Social => "Works with social networks.",
            Self::Text => "Works with text.",
            Self::Search => "Finds or extracts information.",
            Self::Basic => "Basic operations.",
            Self::Input => "Inputs of an agent.",
            Self::Output => "Outputs of an agent.",
            Self::Logic => "Conditions, counters and loops.",
            Self::Communication => "Sends and receives messages.",
            Self::DeveloperTools => "Tools for software development.",
            Self::Data => "Works with structured data.",
            Self::Hardware => "Works with devices.",
            Self::Agent => "Works with other agents.",
            Self::Crm => "Works with customer data.",
            Self::Safety => "Keeps executions safe.",
            Self::Productivity => "Productivity tools.",
            Self::IssueTracking => "Works with issues.",
            Self::Multimedia => "Works with images, audio and video.",
            Self::Marketing => "Marketing tools.",
        }
    }
}

/// The price of a block execution, in credits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct BlockCost {
    #[serde(rename = "cost_type")]
    pub kind: CostKind,
    /// Credits for every started `per` units.
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

/// The usage of a block execution, for its charge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MeteredUsage {
    pub bytes: u64,
    pub seconds: u64,
    pub items: u64,
    pub microdollars: u64,
    pub tokens: u64,
}

/// The charge of one execution. `Run` is charged even when nothing else was used.
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
    fn a_charge_counts_started_units() {
        const COSTS: &[BlockCost] = &[
            BlockCost { kind: CostKind::Run, amount: 2, per: 1 },
            BlockCost { kind: CostKind::Tokens, amount: 1, per: 1000 },
        ];
        assert_eq!(price(COSTS, &MeteredUsage::default()), 2);
        assert_eq!(price(COSTS, &MeteredUsage { tokens: 1001, ..MeteredUsage::default() }), 4);
        assert_eq!(price(&[], &MeteredUsage { tokens: 1001, ..MeteredUsage::default() }), 0);
    }
}
