//! What a turn may use. Filters only accumulate: a child gets the filters of its parent and one more, so it can never do
//! more than its parent.

use serde::{Deserialize, Serialize};

/// A name is allowed only if every filter allows it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Permissions {
    filters: Vec<CapabilityFilter>,
}

/// One allow or deny list for tools and one for blocks. An empty list is no filter, whatever its mode.
#[derive(
    Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema, schemars::JsonSchema,
)]
#[serde(deny_unknown_fields)]
pub struct CapabilityFilter {
    /// Names of tools.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 200))]
    pub tools: Vec<String>,
    /// Whether `tools` are those that may not be used (the default) or the only ones that may.
    #[serde(default = "yes")]
    pub tools_exclude: bool,
    /// Blocks: a full id, its first eight characters, or a name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 200))]
    pub blocks: Vec<String>,
    /// Whether `blocks` are those that may not be used (the default) or the only ones that may.
    #[serde(default = "yes")]
    pub blocks_exclude: bool,
}

fn yes() -> bool {
    true
}

impl Default for CapabilityFilter {
    fn default() -> Self {
        Self { tools: Vec::new(), tools_exclude: true, blocks: Vec::new(), blocks_exclude: true }
    }
}

impl CapabilityFilter {
    fn is_empty(&self) -> bool {
        self.tools.is_empty() && self.blocks.is_empty()
    }

    fn allows_tool(&self, name: &str) -> bool {
        self.tools.is_empty() || self.tools.iter().any(|tool| tool == name) != self.tools_exclude
    }

    fn allows_block(&self, id: &str, name: &str) -> bool {
        let names = |listed: &String| {
            listed.eq_ignore_ascii_case(id)
                || (listed.len() == 8
                    && id.get(..8).is_some_and(|head| head.eq_ignore_ascii_case(listed)))
                || listed.eq_ignore_ascii_case(name)
        };
        self.blocks.is_empty() || self.blocks.iter().any(names) != self.blocks_exclude
    }
}

impl Permissions {
    /// These permissions with an additional filter.
    pub fn narrowed(&self, filter: CapabilityFilter) -> Self {
        let mut filters = self.filters.clone();
        // A repeated filter has no effect.
        if !filter.is_empty() && !filters.contains(&filter) {
            filters.push(filter);
        }
        Self { filters }
    }

    pub fn is_unlimited(&self) -> bool {
        self.filters.is_empty()
    }

    /// Whether these allow no more than `other`, judged by the lists alone.
    pub fn within(&self, other: &Self) -> bool {
        other.filters.iter().all(|filter| self.filters.contains(filter))
    }

    pub fn allow_tool(&self, name: &str) -> bool {
        self.filters.iter().all(|filter| filter.allows_tool(name))
    }

    pub fn allow_block(&self, id: &str, name: &str) -> bool {
        self.filters.iter().all(|filter| filter.allows_block(id, name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tools(names: &[&str], tools_exclude: bool) -> CapabilityFilter {
        let tools = names.iter().map(|name| (*name).to_owned()).collect();
        CapabilityFilter { tools, tools_exclude, ..CapabilityFilter::default() }
    }

    #[test]
    fn an_empty_list_is_no_filter_in_either_mode() {
        for exclude in [true, false] {
            let all = Permissions::default().narrowed(tools(&[], exclude));
            assert!(all.is_unlimited() && all.allow_tool("bash_exec"));
        }
    }

    #[test]
    fn a_child_can_only_narrow_its_permissions() {
        let parent = Permissions::default().narrowed(tools(&["bash_exec"], true));
        let child = parent.narrowed(tools(&["bash_exec", "web_fetch", "todo_write"], false));
        let grandchild = child.narrowed(tools(&["web_fetch"], true));
        assert!(!child.allow_tool("bash_exec"), "the parent's denial applies");
        assert!(child.allow_tool("web_fetch") && !child.allow_tool("search_docs"));
        assert!(!grandchild.allow_tool("web_fetch") && grandchild.allow_tool("todo_write"));
        assert!(grandchild.within(&child) && grandchild.within(&parent));
        assert!(!parent.within(&child));
        let sent = serde_json::to_string(&grandchild).expect("JSON");
        let read: Permissions = serde_json::from_str(&sent).expect("it survives a round trip");
        assert_eq!(read, grandchild);
    }

    #[test]
    fn a_block_is_named_by_id_by_id_prefix_or_by_name() {
        let id = "1ff065e9-88e8-4358-9d82-8dc91f622ba9";
        for named in [id, "1FF065E9", "store value"] {
            let filter = CapabilityFilter {
                blocks: vec![named.to_owned()],
                blocks_exclude: false,
                ..CapabilityFilter::default()
            };
            let only = Permissions::default().narrowed(filter);
            assert!(only.allow_block(id, "Store Value"), "{named}");
            assert!(!only.allow_block("a-b", "Other"), "{named}");
        }
    }
}
