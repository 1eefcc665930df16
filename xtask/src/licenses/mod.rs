//! The file that `pilothouse licenses` prints: the third-party packages in the binary and in its web page, with their
//! license texts. Written by `cargo xtask gen`, compressed and embedded; a test compares its list with the lock files.

mod packages;
mod texts;

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;

use anyhow::{Context, Result};
use flate2::Compression;
use flate2::write::GzEncoder;

use texts::LicenseTexts;

const FILE: &str = "crates/pilothouse/licenses/third-party.txt.gz";
const CRATES: &str = "RUST CRATES";
const NPM_PACKAGES: &str = "NPM PACKAGES";
const TEXTS: &str = "LICENSE TEXTS";

pub(crate) fn write(root: &Path) -> Result<()> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(document(root)?.as_bytes())?;
    std::fs::write(root.join(FILE), encoder.finish()?)?;
    println!("wrote {FILE}");
    Ok(())
}

/// Each package is listed with the numbers of its texts, because hundreds of packages share a few texts.
fn document(root: &Path) -> Result<String> {
    let mut texts = LicenseTexts::new(root)?;
    let mut document = String::from(
        "Third-party software in Pilothouse. The numbers refer to the license texts below.\n\
         The binary also contains the Rust standard library: MIT OR Apache-2.0, The Rust Project contributors.\n",
    );
    for (heading, packages) in [
        (CRATES, packages::linked_crates_with_sources(root)?),
        (NPM_PACKAGES, packages::bundled_npm_packages(root)?),
    ] {
        write!(document, "\n{heading}\n\n")?;
        for package in packages {
            let numbers: Vec<_> = texts
                .numbers_for(&package)
                .with_context(|| package.to_string())?
                .into_iter()
                .collect();
            writeln!(document, "{package}  {}  {numbers:?}", package.license)?;
        }
    }
    write!(document, "\n{TEXTS}\n{}", texts.numbered())?;
    Ok(document)
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use flate2::read::GzDecoder;

    use super::*;

    const STALE: &str = "crates/pilothouse/licenses is out of date; update it with `make gen`";

    fn root() -> std::path::PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
    }

    #[test]
    fn every_linked_crate_is_in_the_list_of_licenses() {
        let linked = packages::linked_crates(&root()).unwrap();
        let linked: Vec<_> =
            linked.iter().map(|(name, version)| format!("{name} {version}")).collect();
        assert!(linked.len() > 100, "cargo tree has listed {} crates", linked.len());
        assert_eq!(listed(&root(), CRATES).unwrap(), linked, "{STALE}");
    }

    #[test]
    fn every_npm_package_of_the_page_is_in_the_list_of_licenses() {
        let bundled = packages::bundled_npm_packages(&root()).unwrap();
        let bundled: Vec<_> = bundled.iter().map(packages::Package::to_string).collect();
        assert!(bundled.len() > 50, "the lock file has {} packages", bundled.len());
        assert_eq!(listed(&root(), NPM_PACKAGES).unwrap(), bundled, "{STALE}");
    }

    /// The names and versions listed below a heading of the committed file.
    fn listed(root: &Path, heading: &str) -> Result<Vec<String>> {
        let mut document = String::new();
        GzDecoder::new(std::fs::File::open(root.join(FILE)).context(FILE)?)
            .read_to_string(&mut document)?;
        let lines = document.lines().skip_while(|line| *line != heading).skip(2);
        let listed = lines.take_while(|line| !line.is_empty());
        Ok(listed.filter_map(|line| Some(line.split_once("  ")?.0.to_owned())).collect())
    }
}
