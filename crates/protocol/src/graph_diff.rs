//! The difference of two versions of an agent: what changed, and what that means for those who run it.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::tool::ToolEffect;

/// The difference of two agents, in the terms of the agent spec. Ids, positions and the order of nodes never show. Secrets
/// are hidden and long values are cut.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct AgentDiff {
    /// Name, description, instructions and recommended schedule.
    pub about: Vec<TextChange>,
    pub steps: StepsDiff,
    pub links: LinksDiff,
    pub interface: InterfaceDiff,
    pub effects: EffectsDiff,
    pub credentials: CredentialsDiff,
    pub cost: CostChange,
    /// Agents and schedules that use the agent. The caller fills this in.
    pub used_by: Vec<AgentUse>,
}

impl AgentDiff {
    /// Whether the agents do the same.
    pub fn is_empty(&self) -> bool {
        let same = Self { cost: self.cost, used_by: self.used_by.clone(), ..Self::default() };
        *self == same && self.cost.from == self.cost.to
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct TextChange {
    /// As in the spec: `name`, `description`, `instructions`, `recommended_schedule`.
    pub field: String,
    pub from: String,
    pub to: String,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct StepsDiff {
    pub added: Vec<StepSummary>,
    pub removed: Vec<StepSummary>,
    /// Steps that only have another name count as unchanged otherwise.
    pub renamed: Vec<NameChange>,
    pub changed: Vec<StepChange>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct StepSummary {
    pub step: String,
    /// The name of its block, or `agent` with the id and version of the agent that it runs.
    pub block: String,
    pub pins: Vec<PinValue>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct PinValue {
    pub pin: String,
    pub value: Value,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct NameChange {
    pub from: String,
    pub to: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct StepChange {
    /// Its name now.
    pub step: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block: Option<NameChange>,
    pub pins: Vec<PinChange>,
}

/// Without `from` the pin had no value, without `to` it has none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct PinChange {
    pub pin: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<Value>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct LinksDiff {
    pub added: Vec<LinkReference>,
    pub removed: Vec<LinkReference>,
}

/// A link as references: from `page.response` to `high.prompt`.
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, utoipa::ToSchema,
)]
pub struct LinkReference {
    pub from: String,
    pub to: String,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct InterfaceDiff {
    pub inputs: FieldsDiff,
    pub outputs: FieldsDiff,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct FieldsDiff {
    pub added: Vec<InterfaceField>,
    pub removed: Vec<InterfaceField>,
    pub changed: Vec<FieldChange>,
    /// Whether those who run the agent as it was may fail or miss something now.
    pub breaking: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct InterfaceField {
    pub name: String,
    /// JSON schema of the value.
    pub schema: Value,
    pub required: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct FieldChange {
    pub from: InterfaceField,
    pub to: InterfaceField,
}

/// What the agent newly does to the world, and what it no longer does.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct EffectsDiff {
    pub added: Vec<StepEffect>,
    pub removed: Vec<StepEffect>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct StepEffect {
    pub step: String,
    pub block: String,
    pub effect: ToolEffect,
    /// It may need approval.
    pub sensitive: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct CredentialsDiff {
    pub added: Vec<CredentialsUse>,
    pub removed: Vec<CredentialsUse>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct CredentialsUse {
    /// The provider, or the title of the pin if any provider will do.
    pub provider: String,
    /// The steps that need them.
    pub steps: Vec<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct CostChange {
    pub from: AgentCost,
    pub to: AgentCost,
}

/// The price of an execution in which every step runs once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct AgentCost {
    pub credits: u64,
    /// Some steps cost more, depending on what they do, or their price is not known.
    pub is_minimum: bool,
}

/// An agent or a schedule that uses the agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct AgentUse {
    pub kind: AgentUseKind,
    pub id: String,
    pub name: String,
    /// The version that it uses; without one, the active version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum AgentUseKind {
    Agent,
    Schedule,
}
