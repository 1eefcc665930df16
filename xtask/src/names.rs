//! Prints how many type names are a single word, and how many types share their name with another one. Both make a type
//! hard to find and to recognize. A place to look, not a verdict: CONVENTIONS.md has the rules for names.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Result;

use crate::source_files;

/// A type declaration outside of tests.
struct Declaration {
    name: String,
    /// `pub`, `pub(crate)`, `pub(crate)`, `pub(crate)`.
    visible: bool,
}

pub(crate) fn print(root: &Path) -> Result<()> {
    let mut declarations = Vec::new();
    for (path, text) in source_files::read(root, &["crates"], &["rs"])? {
        let path = path.to_string_lossy();
        if !path.contains("/tests/") && !path.ends_with("tests.rs") {
            declarations.extend(text.lines().filter_map(declaration));
        }
    }
    let visible: Vec<_> = declarations.iter().filter(|found| found.visible).collect();
    let one_word = visible.iter().filter(|found| is_one_word(&found.name)).count();
    let mut uses: BTreeMap<&str, usize> = BTreeMap::new();
    for found in &declarations {
        *uses.entry(&found.name).or_default() += 1;
    }
    let shared: usize = uses.values().filter(|count| **count > 1).sum();
    println!(
        "{} types visible beyond their file, {:.0} % of them one word (aim: below 30 %)",
        visible.len(),
        percent(one_word, visible.len())
    );
    println!(
        "{} types in all, {:.0} % of them share a name (aim: below 20 %)",
        declarations.len(),
        percent(shared, declarations.len())
    );
    Ok(())
}

fn declaration(line: &str) -> Option<Declaration> {
    let mut words = line.split_whitespace().peekable();
    let visible = words.next_if(|word| word.starts_with("pub")).is_some();
    // `pub(crate)` is two words.
    words.next_if(|word| visible && word.ends_with(')'));
    let keyword = words.next()?;
    // An indented `type` is an associated type of a trait or an impl.
    let declares = matches!(keyword, "struct" | "enum" | "trait" | "union")
        || (keyword == "type" && !line.starts_with(' '));
    let rest = words.next().filter(|_| declares)?;
    let name: String = rest.chars().take_while(char::is_ascii_alphanumeric).collect();
    name.starts_with(|first: char| first.is_ascii_uppercase())
        .then_some(Declaration { name, visible })
}

fn is_one_word(name: &str) -> bool {
    name.chars().filter(char::is_ascii_uppercase).count() == 1
}

fn percent(part: usize, whole: usize) -> f64 {
    100.0 * part as f64 / whole.max(1) as f64
}
