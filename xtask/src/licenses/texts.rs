//! The license texts of packages, each kept once and numbered.

use std::collections::{BTreeSet, HashMap};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::packages::Package;

/// How the names of files begin that hold a license or a notice that must be passed on.
const BEGINNINGS: &[&str] = &["license", "licence", "copying", "copyright", "notice", "unlicense"];

/// Endings of files that are code about licenses.
const CODE: &[&str] = &["rs", "js", "mjs", "cjs", "ts", "map", "json", "toml", "py"];

/// A package without a text, and one of the same authors and license that has it.
const SAME_TEXT: &[(&str, &str)] = &[("alloc-stdlib", "alloc-no-stdlib")];

pub(crate) struct LicenseTexts {
    apache: String,
    mit: String,
    texts: Vec<String>,
    /// The number of a text, by its words: copies differ in their line breaks.
    numbers: HashMap<String, usize>,
    by_package: HashMap<String, BTreeSet<usize>>,
}

impl LicenseTexts {
    pub(crate) fn new(root: &Path) -> Result<Self> {
        Ok(Self {
            apache: std::fs::read_to_string(root.join("LICENSE-APACHE"))?,
            mit: std::fs::read_to_string(root.join("LICENSE-MIT"))?,
            texts: Vec::new(),
            numbers: HashMap::new(),
            by_package: HashMap::new(),
        })
    }

    pub(crate) fn numbers_for(&mut self, package: &Package) -> Result<BTreeSet<usize>> {
        let mut files = Vec::new();
        collect(&package.folder, &mut files).with_context(|| {
            format!("{} is not installed: run `make gen`", package.folder.display())
        })?;
        files.sort();
        let mut numbers = BTreeSet::new();
        for file in files {
            let text = String::from_utf8_lossy(&std::fs::read(&file)?).into_owned();
            numbers.insert(self.number(&text));
        }
        if numbers.is_empty() {
            numbers = self.without_file(package)?;
        }
        self.by_package.insert(package.name.clone(), numbers.clone());
        Ok(numbers)
    }

    /// The texts, each below its number.
    pub(crate) fn numbered(&self) -> String {
        let mut all = String::new();
        for (index, text) in self.texts.iter().enumerate() {
            let _ = write!(all, "\n{:-^80}\n\n{text}\n", format!(" [{}] ", index + 1));
        }
        all
    }

    /// For a package that names its license but ships no text.
    fn without_file(&mut self, package: &Package) -> Result<BTreeSet<usize>> {
        let sibling = SAME_TEXT.iter().find(|(name, _)| *name == package.name);
        if let Some(numbers) = sibling.and_then(|(_, same)| self.by_package.get(*same)) {
            return Ok(numbers.clone());
        }
        let offers = |id: &str| package.license.split([' ', '/', '(', ')']).any(|word| word == id);
        if offers("Apache-2.0") {
            let apache = self.apache.clone();
            return Ok(BTreeSet::from([self.number(&apache)]));
        }
        if offers("MIT") {
            let (_, terms) = self.mit.split_once("Permission is").context("LICENSE-MIT")?;
            let text = format!(
                "MIT License\n\nCopyright (c) the authors of {}\n\nPermission is{terms}",
                package.name
            );
            return Ok(BTreeSet::from([self.number(&text)]));
        }
        bail!("it ships no license text: add it to SAME_TEXT in xtask/src/licenses/texts.rs")
    }

    fn number(&mut self, text: &str) -> usize {
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        *self.numbers.entry(words).or_insert_with(|| {
            // A page feed or a carriage return of the original would disturb a terminal.
            let lines = text.lines().map(|line| line.trim_end().replace(['\r', '\u{c}'], ""));
            self.texts.push(lines.collect::<Vec<_>>().join("\n").trim_matches('\n').to_owned());
            self.texts.len()
        })
    }
}

/// Also in folders: sources of others that a package contains have licenses of their own.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        if path.is_dir() {
            if name == "licenses" {
                for text in std::fs::read_dir(&path)? {
                    files.push(text?.path());
                }
            } else if !["node_modules", "tests", "test", "examples"].contains(&name.as_str()) {
                collect(&path, files)?;
            }
        } else if BEGINNINGS.iter().any(|beginning| name.starts_with(beginning))
            && !CODE.iter().any(|ending| path.extension().is_some_and(|found| found == *ending))
        {
            files.push(path);
        }
    }
    Ok(())
}
