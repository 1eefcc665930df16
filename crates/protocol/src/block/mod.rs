//! What a block declares about itself. Validation, the catalog and the client's forms are derived from this.

mod cost;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::tool::ToolEffect;

pub use self::cost::{BlockCost, CostKind, MeteredUsage, price};

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
    /// Talks to something outside this server: a web page, a service. A rehearsal answers for it instead.
    pub outside: bool,
    /// Inputs that may be a web address, which the block then reads.
    pub address_pins: &'static [&'static str],
}

/// How a spec is written: `new`, and then only what differs from a standard block without effects, costs and pins.
impl BlockSpec {
    pub fn new(id: &'static str, name: &'static str, description: &'static str) -> Self {
        Self {
            id,
            name,
            description,
            categories: &[],
            kind: BlockKind::Standard,
            inputs: json!({ "type": "object" }),
            outputs: json!({ "type": "object" }),
            effect: ToolEffect::None,
            costs: &[],
            static_output: false,
            sensitive: false,
            coordinates: false,
            outside: false,
            address_pins: &[],
        }
    }

    #[must_use]
    pub fn categories(self, categories: &'static [BlockCategory]) -> Self {
        Self { categories, ..self }
    }

    #[must_use]
    pub fn kind(self, kind: BlockKind) -> Self {
        Self { kind, ..self }
    }

    /// Pins with their JSON schemas. Adds the `error` pin if it is not among them.
    #[must_use]
    pub fn outputs<'a>(self, pins: impl IntoIterator<Item = (&'a str, Value)>) -> Self {
        let mut pins = properties(pins);
        let (error, schema) = Self::error_pin();
        pins.entry(error).or_insert(schema);
        Self { outputs: json!({ "type": "object", "properties": pins }), ..self }
    }

    /// The pin on which a failure is reported.
    pub fn error_pin() -> (&'static str, Value) {
        let description = "The error message, if the block fails.";
        ("error", json!({ "type": "string", "description": description }))
    }

    /// Pins without an `error` pin, for blocks whose pins are the interface of an agent.
    #[must_use]
    pub fn interface_outputs<'a>(self, pins: impl IntoIterator<Item = (&'a str, Value)>) -> Self {
        Self { outputs: json!({ "type": "object", "properties": properties(pins) }), ..self }
    }

    #[must_use]
    pub fn effect(self, effect: ToolEffect) -> Self {
        Self { effect, ..self }
    }

    #[must_use]
    pub fn costs(self, costs: &'static [BlockCost]) -> Self {
        Self { costs, ..self }
    }

    #[must_use]
    pub fn static_output(self) -> Self {
        Self { static_output: true, ..self }
    }

    #[must_use]
    pub fn sensitive(self) -> Self {
        Self { sensitive: true, ..self }
    }

    #[must_use]
    pub fn coordinates(self) -> Self {
        Self { coordinates: true, ..self }
    }

    #[must_use]
    pub fn outside(self) -> Self {
        Self { outside: true, ..self }
    }

    #[must_use]
    pub fn address_pins(self, address_pins: &'static [&'static str]) -> Self {
        Self { address_pins, ..self }
    }
}

fn properties<'a>(pins: impl IntoIterator<Item = (&'a str, Value)>) -> Map<String, Value> {
    pins.into_iter().map(|(pin, schema)| (pin.to_owned(), schema)).collect()
}

impl BlockSpec {
    /// Whether the block asks the model: those blocks are charged by tokens.
    pub fn asks_model(&self) -> bool {
        self.costs.iter().any(|cost| cost.kind == CostKind::Tokens)
    }

    /// Whether the block talks to something outside this server when it runs with these inputs.
    pub fn reaches_outside(&self, inputs: &Map<String, Value>) -> bool {
        let is_address = |pin: &&str| {
            let scheme =
                inputs.get(*pin).and_then(Value::as_str).and_then(|text| text.split_once(':'));
            scheme.is_some_and(|(scheme, _)| {
                ["http", "https"].iter().any(|web| scheme.trim().eq_ignore_ascii_case(web))
            })
        };
        self.outside || self.address_pins.iter().any(is_address)
    }

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
