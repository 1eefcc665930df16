//! Follows the recipe "A tool" of `CONTRIBUTING.md`: one file and one line make a complete tool.

use std::sync::Arc;

use pilothouse_toolbox::egress::{EgressClient, EgressOptions};

use super::folder::Folder;
use super::{built_with, examples};

pilothouse_toolbox::tools! {
    count_words,
}

#[tokio::test]
async fn a_tool_of_one_file_and_one_line_passes_every_check_of_the_built_in_tools() {
    let egress = EgressClient::new(EgressOptions::default()).expect("a client");
    let services = built_with(Arc::new(Folder::new()), egress);
    let definitions = definitions();
    assert_eq!(definitions.len(), 1);
    for definition in definitions {
        examples::check_labels(&definition.spec);
        examples::check_arguments(definition.spec.name, &definition.spec.parameters);
        assert_eq!(definition.spec.describe().name, "count_words");
        let tool = definition.build(&services).expect("it needs no service");
        examples::check_examples(&*tool).await;
    }
}

#[test]
fn the_recipe_shows_the_tested_file() {
    let page = include_str!("../../../../../../CONTRIBUTING.md");
    let file = include_str!("count_words.rs");
    let shown = page.split_once("### A tool\n").expect("the recipe").1;
    let shown = shown.split_once("```rust\n").expect("the file").1;
    let shown = shown.split_once("```\n").expect("its end").0;
    assert_eq!(shown, file, "copy tests/it/tools/recipe/count_words.rs into CONTRIBUTING.md");
}
