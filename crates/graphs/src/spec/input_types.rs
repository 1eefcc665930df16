//! The types of an agent's inputs, and the block of each.

/// A type that a spec can name, and its input block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InputType {
    pub name: &'static str,
    pub block: &'static str,
    /// Other names that are understood.
    aliases: &'static [&'static str],
}

pub const INPUT_TYPES: [InputType; 10] = [
    InputType { name: "any", block: "c0a8e994-ebf1-4a9c-a4d8-89d09c86741b", aliases: &["object"] },
    InputType { name: "string", block: "7fcd3bcb-8e1b-4e69-903d-32d3d4a92158", aliases: &["str"] },
    InputType {
        name: "text",
        block: "90a56ffb-7024-4b2b-ab50-e26c5e5ab8ba",
        aliases: &["long_text"],
    },
    InputType {
        name: "number",
        block: "96dae2bb-97a2-41c2-bd2f-13a3b5a8ea98",
        aliases: &["integer", "float"],
    },
    InputType { name: "date", block: "7e198b09-4994-47db-8b4d-952d98241817", aliases: &[] },
    InputType { name: "time", block: "2a1c757e-86cf-4c7e-aacf-060dc382e434", aliases: &[] },
    InputType { name: "choice", block: "655d6fdf-a334-421c-b733-520549c07cd1", aliases: &["enum"] },
    InputType {
        name: "boolean",
        block: "cbf36ab5-df4a-43b6-8a7f-f7ed8652116e",
        aliases: &["bool"],
    },
    InputType { name: "table", block: "5603b273-f41e-4020-af7d-fbc9c6a8d928", aliases: &["list"] },
    InputType { name: "file", block: "95ead23f-8283-4654-aef3-10c053b74a31", aliases: &[] },
];

/// Settings of input blocks that a spec calls by another name: (in the spec, in the block).
pub(crate) const RENAMED_SETTINGS: [(&str, &str); 2] =
    [("default", "value"), ("columns", "column_headers")];

pub fn input_type(name: &str) -> Option<&'static InputType> {
    let name = name.to_ascii_lowercase();
    INPUT_TYPES.iter().find(|known| known.name == name || known.aliases.contains(&name.as_str()))
}

pub fn input_type_of_block(block: &str) -> Option<&'static InputType> {
    INPUT_TYPES.iter().find(|known| known.block == block)
}

/// The name that a spec uses for a setting of an input block.
pub(crate) fn setting_name(in_block: &str) -> &str {
    let renamed = RENAMED_SETTINGS.iter().find(|(_, known)| *known == in_block);
    renamed.map_or(in_block, |(in_spec, _)| in_spec)
}
