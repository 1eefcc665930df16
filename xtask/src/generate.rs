//! Documents that are made from the program: made here, committed, and tested to be fresh.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

/// The document and the command of the program that prints it.
const DOCUMENTS: &[(&str, &[&str])] = &[
    ("docs/configuration.md", &["configuration"]),
    ("docs/openapi.json", &["openapi"]),
    ("web/src/styleguide/fixtures/tools.json", &["tools"]),
];

/// The page with a generated table, and the command of the program that prints the table.
const TABLES: &[(&str, &[&str])] = &[("docs/guide/tools.md", &["tools", "--table"])];

/// The document and the test that compares it with the program, and writes it if `WRITE_DOCUMENTS` is set.
const TESTED: &[(&str, &[&str])] =
    &[("docs/guide/blocks.md", &["-p", "pilothouse-toolbox", "--test", "it", "blocks::document"])];

pub(crate) fn all(root: &Path) -> Result<()> {
    for (path, arguments) in DOCUMENTS {
        std::fs::write(root.join(path), printed(root, arguments)?)?;
        println!("wrote {path}");
    }
    for (path, arguments) in TABLES {
        let page = std::fs::read_to_string(root.join(path))?;
        let table = printed(root, arguments)?;
        let page = with_table(&page, &table)
            .with_context(|| format!("{path} has no table with the head of the new one"))?;
        std::fs::write(root.join(path), page)?;
        println!("wrote the table of {path}");
    }
    for (path, arguments) in TESTED {
        let output = Command::new("cargo")
            .args(["test", "--quiet"])
            .args(*arguments)
            .env("WRITE_DOCUMENTS", "1")
            .current_dir(root)
            .output()
            .with_context(|| format!("writing {path}"))?;
        ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        println!("wrote {path}");
    }
    Ok(())
}

fn printed(root: &Path, arguments: &[&str]) -> Result<String> {
    let output = Command::new("cargo")
        .args(["run", "--quiet", "-p", "pilothouse", "--"])
        .args(arguments)
        .current_dir(root)
        .output()
        .with_context(|| format!("printing {arguments:?}"))?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8(output.stdout)?)
}

/// The page with this table in place of the one with the same first line. A table ends with an empty line.
fn with_table(page: &str, table: &str) -> Option<String> {
    let head = table.lines().next()?;
    let start = page.find(&format!("\n{head}\n"))? + 1;
    let end = page[start..].find("\n\n").map_or(page.len(), |end| start + end + 1);
    Some(format!("{}{table}{}", &page[..start], &page[end..]))
}

#[cfg(test)]
mod tests {
    use super::with_table;

    #[test]
    fn only_the_table_with_the_same_head_is_replaced() {
        let page = "# Page\n\n| a |\n|---|\n| old |\n\n| b |\n|---|\n| old |\n";
        let new = with_table(page, "| b |\n|---|\n| new |\n");
        assert_eq!(
            new.as_deref(),
            Some("# Page\n\n| a |\n|---|\n| old |\n\n| b |\n|---|\n| new |\n")
        );
        let new = with_table(page, "| a |\n|---|\n| new |\n");
        assert_eq!(
            new.as_deref(),
            Some("# Page\n\n| a |\n|---|\n| new |\n\n| b |\n|---|\n| old |\n")
        );
        assert_eq!(with_table(page, "| c |\n"), None);
    }
}
