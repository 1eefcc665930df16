//! Responses about credentials that an agent or a block needs. This server stores no credentials, so such calls are
//! refused before they start instead of failing during the run.

use std::collections::BTreeMap;

use ports::call_services::AgentDescription;
use protocol::block::BlockSpec;
use protocol::response::{
    ExecutionMode, NeededCredentials, NeededInput, ResponseBody, SetupInfo, SetupNeeds,
    SetupRequirements, ToolResponse, UserReadiness,
};
use serde_json::Value;

use super::block_choice::BlockCatalog;

/// `None` when no credentials are needed.
pub(crate) fn of_agent(
    name: &str,
    agent: &AgentDescription,
    blocks: &BlockCatalog,
) -> Option<ToolResponse> {
    let specs = agent.graph.nodes.iter().filter_map(|node| blocks.by_id(node.block_id.as_str()));
    let missing = credentials(specs);
    let info = setup_info(agent.graph.id.as_str(), name, &agent.input_schema, missing)?;
    Some(ToolResponse::new(
        sentence(&info),
        ResponseBody::SetupRequirements(SetupRequirements {
            setup_info: info,
            graph_id: Some(agent.graph.id.clone()),
            graph_version: Some(agent.graph.version),
        }),
    ))
}

/// `None` when no credentials are needed.
pub(crate) fn of_block(spec: &BlockSpec) -> Option<ToolResponse> {
    let info = setup_info(spec.id, spec.name, &spec.inputs, credentials([spec].into_iter()))?;
    Some(ToolResponse::new(
        sentence(&info),
        ResponseBody::SetupRequirements(SetupRequirements {
            setup_info: info,
            graph_id: None,
            graph_version: None,
        }),
    ))
}

fn setup_info(
    id: &str,
    name: &str,
    inputs: &Value,
    missing: BTreeMap<String, NeededCredentials>,
) -> Option<SetupInfo> {
    (!missing.is_empty()).then(|| SetupInfo {
        agent_id: id.to_owned(),
        agent_name: name.to_owned(),
        requirements: SetupNeeds {
            credentials: missing.values().cloned().collect(),
            inputs: needed_inputs(inputs),
            execution_modes: vec![ExecutionMode::Manual],
        },
        user_readiness: UserReadiness {
            has_all_credentials: false,
            missing_credentials: missing,
            ready_to_run: false,
        },
    })
}

/// The credentials that the blocks require, each once, with the blocks that need it.
fn credentials<'a>(
    specs: impl Iterator<Item = &'a BlockSpec>,
) -> BTreeMap<String, NeededCredentials> {
    let mut needed = BTreeMap::<String, NeededCredentials>::new();
    for spec in specs {
        for pin in spec.credentials() {
            let id = pin.provider.unwrap_or(pin.name).to_owned();
            let entry = needed.entry(id.clone()).or_insert_with(|| NeededCredentials {
                id,
                title: pin.title.to_owned(),
                provider: pin.provider.map(str::to_owned),
                needed_by: Vec::new(),
            });
            if !entry.needed_by.iter().any(|name| name == spec.name) {
                entry.needed_by.push(spec.name.to_owned());
            }
        }
    }
    needed
}

fn needed_inputs(schema: &Value) -> Vec<NeededInput> {
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let text = |value: &Value, key: &str| value[key].as_str().map(str::to_owned);
    let inputs = schema["properties"].as_object().into_iter().flatten();
    inputs
        .filter(|(_, schema)| !BlockSpec::is_credentials(schema))
        .map(|(name, schema)| NeededInput {
            name: name.clone(),
            title: text(schema, "title"),
            description: text(schema, "description"),
            required: required.contains(&name.as_str()),
            schema: schema.clone(),
        })
        .collect()
}

fn sentence(info: &SetupInfo) -> String {
    let titles: Vec<&str> =
        info.requirements.credentials.iter().map(|needed| needed.title.as_str()).collect();
    format!(
        "{} cannot run: it needs {}, and this server does not store credentials. Nothing was run. Look for an \
         alternative that needs no credentials.",
        info.agent_name,
        titles.join(" and ")
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn credentials_are_not_inputs_and_required_inputs_are_marked() {
        let schema = json!({
            "properties": {
                "url": {"title": "Address", "type": "string"},
                "note": {"type": "string"},
                "credentials": {"type": "object", "credentials_types": ["host_scoped"]},
            },
            "required": ["url"],
        });
        let inputs = needed_inputs(&schema);
        let named: Vec<_> =
            inputs.iter().map(|input| (input.name.as_str(), input.required)).collect();
        assert_eq!(named, [("url", true), ("note", false)]);
        assert_eq!(inputs[0].title.as_deref(), Some("Address"));
    }
}
