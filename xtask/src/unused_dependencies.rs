//! Every dependency of a manifest is named in the sources it is for.

use std::path::Path;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::{cargo, source_files};

pub(crate) fn check(root: &Path) -> Result<()> {
    let metadata: Value = serde_json::from_slice(&cargo::output(
        root,
        &["metadata", "--no-deps", "--format-version", "1"],
    )?)?;
    let mut unused = Vec::new();
    let mut inherited = String::new();
    for package in metadata["packages"].as_array().context("packages of cargo metadata")? {
        let manifest = Path::new(package["manifest_path"].as_str().context("manifest_path")?);
        let folder = manifest.parent().context("a manifest is in a folder")?;
        inherited.push_str(&std::fs::read_to_string(manifest)?);
        let own = code_below(&folder.join("src"))?;
        let tests = code_below(&folder.join("tests"))?;
        let build = std::fs::read_to_string(folder.join("build.rs")).unwrap_or_default();
        for dependency in package["dependencies"].as_array().context("dependencies")? {
            let name = dependency["rename"].as_str().or(dependency["name"].as_str());
            let name = name.context("a dependency has a name")?;
            let used = match dependency["kind"].as_str() {
                None => names_crate(&own, name),
                Some("build") => names_crate(&build, name),
                Some(_) => names_crate(&own, name) || names_crate(&tests, name),
            };
            if !used {
                unused.push(format!(
                    "{}: {name} is not used",
                    package["name"].as_str().unwrap_or("?")
                ));
            }
        }
    }
    for name in workspace_dependencies(&std::fs::read_to_string(root.join("Cargo.toml"))?) {
        let is_entry = |line: &str| line.split(['.', ' ', '=']).next() == Some(name.as_str());
        if !inherited.lines().any(is_entry) {
            unused.push(format!("workspace.dependencies: no crate uses {name}"));
        }
    }
    if unused.is_empty() { Ok(()) } else { bail!("{}", unused.join("\n")) }
}

/// The sources below a folder, without line comments.
fn code_below(folder: &Path) -> Result<String> {
    let mut code = String::new();
    for (_, text) in source_files::read(folder, &[""], &["rs"])? {
        for line in text.lines().filter(|line| !line.trim_start().starts_with("//")) {
            code.push_str(line);
            code.push('\n');
        }
    }
    Ok(code)
}

/// Whether the code has a path that begins with the crate, or imports it. A variable of the same name does not count.
fn names_crate(code: &str, package: &str) -> bool {
    let name = package.replace('-', "_");
    code.match_indices(&name).any(|(start, _)| {
        let (before, after) = (&code[..start], &code[start + name.len()..]);
        let begins =
            !before.ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | ':' | '.'));
        let imported = before.ends_with("use ") && after.starts_with([';', ' ']);
        begins && after.starts_with("::") || imported
    })
}

/// The names in the table of the root manifest, which cargo does not report.
fn workspace_dependencies(manifest: &str) -> Vec<String> {
    let table = manifest.lines().skip_while(|line| *line != "[workspace.dependencies]").skip(1);
    let entries = table.take_while(|line| !line.starts_with('['));
    entries
        .filter_map(|line| Some(line.split_once(" = ")?.0.to_owned()))
        .filter(|name| !name.starts_with('#'))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_or_an_import_uses_a_crate_and_a_variable_does_not() {
        for used in ["use url::Url;", "fn a(b: url::Url)", "use url;", "pub use url as address;"] {
            assert!(names_crate(used, "url"), "{used}");
        }
        for unused in [
            "let url = 1;",
            "crate::url::parse()",
            "self.url",
            "use curl::Url;",
            "use url_parts::X;",
        ] {
            assert!(!names_crate(unused, "url"), "{unused}");
        }
        assert!(names_crate("#[async_trait::async_trait]", "async-trait"));
    }

    #[test]
    fn the_table_of_the_workspace_is_read_to_its_end() {
        let manifest = "[workspace.dependencies]\n# Runtime\ntokio = { version = \"1\" }\nurl = \"2\"\n\n[profile.dev]\na = 1";
        assert_eq!(workspace_dependencies(manifest), ["tokio", "url"]);
    }
}
