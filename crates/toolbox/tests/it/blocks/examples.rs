//! Checks every block against its spec and examples.

use std::collections::HashSet;
use std::mem::discriminant;

use ports::block::{BlockExample, ExampleMatch};
use protocol::block::BlockSpec;
use serde_json::Value;

use super::world::context;
use super::{all, run};

#[tokio::test]
async fn every_block_produces_its_example_outputs() {
    let mut examples = 0;
    for block in all() {
        let spec = block.spec();
        let schema = jsonschema::validator_for(&spec.inputs).expect("a valid schema");
        for example in block.examples() {
            let BlockExample { input, outputs, matching } = &example;
            assert!(schema.is_valid(input), "{} rejects {input}", spec.name);
            let emitted = run(&*block, input.clone(), context()).await;
            let emitted = emitted.unwrap_or_else(|error| panic!("{} {input}: {error}", spec.name));
            let emitted: Vec<(&str, Value)> =
                emitted.iter().map(|(pin, value)| (pin.as_str(), value.clone())).collect();
            match matching {
                ExampleMatch::Exactly => assert_eq!(&emitted, outputs, "{} {input}", spec.name),
                ExampleMatch::Shape => assert_same_shape(spec, &emitted, outputs),
            }
            for (pin, value) in &emitted {
                assert_fits(spec, pin, value);
            }
            examples += 1;
        }
    }
    assert!(examples > 100, "only {examples} examples");
}

fn assert_same_shape(spec: &BlockSpec, emitted: &[(&str, Value)], wanted: &[(&str, Value)]) {
    let shape = |outputs: &[(&str, Value)]| -> Vec<_> {
        outputs.iter().map(|(pin, value)| ((*pin).to_owned(), discriminant(value))).collect()
    };
    assert_eq!(shape(emitted), shape(wanted), "{}: {emitted:?}", spec.name);
}

/// A block that takes any input may also emit any output.
fn assert_fits(spec: &BlockSpec, pin: &str, value: &Value) {
    let Some(schema) = spec.output(pin) else {
        assert!(spec.takes_any_input(), "{} does not declare `{pin}`", spec.name);
        return;
    };
    let schema = jsonschema::validator_for(schema).expect("a valid schema");
    assert!(schema.is_valid(value), "{}.{pin} does not match its schema: {value}", spec.name);
}

#[test]
fn every_block_has_a_unique_id_and_name() {
    let blocks = all();
    let ids: HashSet<_> = blocks.iter().map(|block| block.spec().id).collect();
    let names: HashSet<_> = blocks.iter().map(|block| block.spec().name).collect();
    assert_eq!((ids.len(), names.len()), (blocks.len(), blocks.len()));
    for block in &blocks {
        let spec = block.spec();
        let groups: Vec<usize> = spec.id.split('-').map(str::len).collect();
        assert_eq!(groups, [8, 4, 4, 4, 12], "{} has no UUID", spec.name);
        assert!(spec.id.chars().all(|c| c == '-' || c.is_ascii_hexdigit()), "{}", spec.id);
        assert!(spec.name.ends_with("Block"), "{}", spec.name);
    }
}

#[test]
fn every_block_and_every_pin_is_described() {
    for block in all() {
        let spec = block.spec();
        assert!(spec.description.ends_with('.'), "{}: {}", spec.name, spec.description);
        assert!(!spec.categories.is_empty(), "{} is in no category", spec.name);
        for (side, schema) in [("input", &spec.inputs), ("output", &spec.outputs)] {
            jsonschema::validator_for(schema).expect("a valid schema");
            assert_eq!(schema["type"], "object", "{} {side}", spec.name);
            let pins = schema["properties"].as_object().into_iter().flatten();
            for (pin, schema) in pins {
                assert!(schema["description"].is_string(), "{}: {side} `{pin}`", spec.name);
            }
            let text = schema.to_string();
            assert!(!text.contains("$ref") && !text.contains("$defs"), "{}: {text}", spec.name);
        }
        for pin in spec.required() {
            assert!(spec.input(pin).is_some(), "{} requires `{pin}`", spec.name);
        }
    }
}
