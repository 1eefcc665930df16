//! The agents that come with the product, for the marketplace of a fresh installation. They need no account anywhere;
//! only the last one needs a model.
//! To add one: write its file, and add its entry to the list.

use protocol::ListingVersionId;
use protocol::graph::Graph;

/// An example with what the marketplace says of it; its name and its description are those of the graph.
#[derive(Clone, Debug)]
pub struct ExampleAgent {
    pub slug: &'static str,
    pub sub_heading: &'static str,
    pub categories: &'static [&'static str],
    pub is_featured: bool,
    /// Of this version of the example: it changes whenever the graph does.
    pub version_id: ListingVersionId,
    pub graph: Graph,
}

/// All of them, in the order in which a newcomer would try them.
pub fn all() -> Vec<ExampleAgent> {
    ENTRIES.iter().map(Entry::read).collect()
}

struct Entry {
    slug: &'static str,
    sub_heading: &'static str,
    categories: &'static [&'static str],
    is_featured: bool,
    version_id: &'static str,
    file: &'static str,
}

const ENTRIES: [Entry; 6] = [
    Entry {
        slug: "text-in-numbers",
        sub_heading: "What a text is made of",
        categories: &["writing"],
        is_featured: true,
        version_id: "5a1f0c52-6e0b-4c27-9d0e-3a6f3f1b7c01",
        file: include_str!("text_in_numbers.json"),
    },
    Entry {
        slug: "invoice-calculator",
        sub_heading: "From lines to a total with tax",
        categories: &["business"],
        is_featured: true,
        version_id: "5a1f0c52-6e0b-4c27-9d0e-3a6f3f1b7c02",
        file: include_str!("invoice_calculator.json"),
    },
    Entry {
        slug: "csv-report",
        sub_heading: "The rows of a table that matter",
        categories: &["data"],
        is_featured: false,
        version_id: "5a1f0c52-6e0b-4c27-9d0e-3a6f3f1b7c03",
        file: include_str!("csv_report.json"),
    },
    Entry {
        slug: "approval-letter",
        sub_heading: "A letter that waits for your approval",
        categories: &["writing", "productivity"],
        is_featured: true,
        version_id: "5a1f0c52-6e0b-4c27-9d0e-3a6f3f1b7c04",
        file: include_str!("approval_letter.json"),
    },
    Entry {
        slug: "feed-digest",
        sub_heading: "What is new, every morning",
        categories: &["research", "productivity"],
        is_featured: false,
        version_id: "5a1f0c52-6e0b-4c27-9d0e-3a6f3f1b7c05",
        file: include_str!("feed_digest.json"),
    },
    Entry {
        slug: "notes-to-tasks",
        sub_heading: "Who does what after the meeting",
        categories: &["ai", "productivity"],
        is_featured: false,
        version_id: "5a1f0c52-6e0b-4c27-9d0e-3a6f3f1b7c06",
        file: include_str!("notes_to_tasks.json"),
    },
];

impl Entry {
    fn read(&self) -> ExampleAgent {
        let graph = serde_json::from_str(self.file);
        ExampleAgent {
            slug: self.slug,
            sub_heading: self.sub_heading,
            categories: self.categories,
            is_featured: self.is_featured,
            version_id: self.version_id.into(),
            graph: graph.expect("the file is part of the program, and a test reads it"),
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
    fn every_example_says_what_it_does_and_runs_as_it_is() {
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
