//! The example agents that are published to the marketplace of every installation. None of them needs an account, and
//! only the last one needs a model.
//! To add one, write its file and add an entry to the list.

use protocol::ListingVersionId;
use protocol::graph::Graph;

/// An example agent with its marketplace data. Its name and description are those of the graph.
#[derive(Clone, Debug)]
pub struct ExampleAgent {
    pub slug: &'static str,
    pub sub_heading: &'static str,
    pub categories: &'static [&'static str],
    pub is_featured: bool,
    /// The id of this version. Change it, and the version of the graph, whenever the graph changes.
    pub version_id: ListingVersionId,
    pub graph: Graph,
}

/// All examples, in the order a new user would try them.
pub fn all() -> Vec<ExampleAgent> {
    ENTRIES.iter().map(ExampleEntry::parse).collect()
}

struct ExampleEntry {
    slug: &'static str,
    sub_heading: &'static str,
    categories: &'static [&'static str],
    is_featured: bool,
    version_id: &'static str,
    file: &'static str,
}

const ENTRIES: [ExampleEntry; 6] = [
    ExampleEntry {
        slug: "text-in-numbers",
        sub_heading: "Word count, reading time and more",
        categories: &["writing"],
        is_featured: true,
        version_id: "5a1f0c52-6e0b-4c27-9d0e-3a6f3f1b7c11",
        file: include_str!("text_in_numbers.json"),
    },
    ExampleEntry {
        slug: "invoice-calculator",
        sub_heading: "Line items to a total with tax",
        categories: &["business"],
        is_featured: true,
        version_id: "5a1f0c52-6e0b-4c27-9d0e-3a6f3f1b7c12",
        file: include_str!("invoice_calculator.json"),
    },
    ExampleEntry {
        slug: "csv-report",
        sub_heading: "Filter and summarize a table",
        categories: &["data"],
        is_featured: false,
        version_id: "5a1f0c52-6e0b-4c27-9d0e-3a6f3f1b7c13",
        file: include_str!("csv_report.json"),
    },
    ExampleEntry {
        slug: "approval-letter",
        sub_heading: "A letter that needs your approval",
        categories: &["writing", "productivity"],
        is_featured: true,
        version_id: "5a1f0c52-6e0b-4c27-9d0e-3a6f3f1b7c14",
        file: include_str!("approval_letter.json"),
    },
    ExampleEntry {
        slug: "feed-digest",
        sub_heading: "The latest news, every morning",
        categories: &["research", "productivity"],
        is_featured: false,
        version_id: "5a1f0c52-6e0b-4c27-9d0e-3a6f3f1b7c15",
        file: include_str!("feed_digest.json"),
    },
    ExampleEntry {
        slug: "notes-to-tasks",
        sub_heading: "Action items from meeting notes",
        categories: &["ai", "productivity"],
        is_featured: false,
        version_id: "5a1f0c52-6e0b-4c27-9d0e-3a6f3f1b7c16",
        file: include_str!("notes_to_tasks.json"),
    },
];

impl ExampleEntry {
    fn parse(&self) -> ExampleAgent {
        let graph = serde_json::from_str(self.file);
        ExampleAgent {
            slug: self.slug,
            sub_heading: self.sub_heading,
            categories: self.categories,
            is_featured: self.is_featured,
            version_id: self.version_id.into(),
            graph: graph.expect("the file is embedded, and a test parses it"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    const INPUTS: [&str; 5] = [
        "7fcd3bcb-8e1b-4e69-903d-32d3d4a92158",
        "90a56ffb-7024-4b2b-ab50-e26c5e5ab8ba",
        "96dae2bb-97a2-41c2-bd2f-13a3b5a8ea98",
        "655d6fdf-a334-421c-b733-520549c07cd1",
        "5603b273-f41e-4020-af7d-fbc9c6a8d928",
    ];

    #[test]
    fn every_example_is_described_and_has_default_inputs() {
        for example in all() {
            let ExampleAgent { slug, graph, .. } = &example;
            assert!(graph.description.ends_with('.') && !graph.name.is_empty(), "{slug}");
            assert!(!example.sub_heading.is_empty() && !example.categories.is_empty(), "{slug}");
            let inputs = graph.nodes.iter().filter(|node| INPUTS.contains(&node.block_id.as_str()));
            for input in inputs {
                for setting in ["name", "title", "description", "value"] {
                    assert!(input.input_default.contains_key(setting), "{slug}: {setting}");
                }
            }
        }
    }

    #[test]
    fn no_id_is_used_twice() {
        let mut seen = HashSet::new();
        for example in all() {
            let graph = &example.graph;
            let nodes = graph.nodes.iter().map(|node| node.id.to_string());
            let links = graph.links.iter().map(|link| link.id.clone());
            let own = [example.slug.to_owned(), example.version_id.0.clone(), graph.id.to_string()];
            for id in nodes.chain(links).chain(own) {
                assert!(seen.insert(id.clone()), "{}: {id}", example.slug);
            }
        }
    }
}
