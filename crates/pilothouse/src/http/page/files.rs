//! The files of the page as they are in the binary: each as it is and, where that is smaller, compressed beforehand.

use std::collections::HashMap;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue};
use rust_embed::RustEmbed;

use super::wishes::Encoding;

/// What `make web` has built, if anything.
#[derive(RustEmbed)]
#[folder = "../../web/dist"]
#[allow_missing = true]
struct Built;

/// Vite puts a hash of the content into the names of what is in this folder.
const HASHED: &str = "assets/";

pub(super) struct Files(HashMap<String, File>);

/// One file in all its forms.
pub(super) struct File {
    pub(super) media_type: &'static str,
    /// Whether its name changes with its content, so that it may be kept for ever.
    pub(super) is_hashed: bool,
    forms: Vec<Form>,
}

#[derive(Clone)]
pub(super) struct Form {
    pub(super) encoding: Encoding,
    pub(super) bytes: Bytes,
    pub(super) etag: HeaderValue,
}

impl Files {
    pub(super) fn built() -> Self {
        Self::of(Built::iter().filter_map(|path| {
            let file = Built::get(&path)?;
            let bytes = match file.data {
                std::borrow::Cow::Borrowed(bytes) => Bytes::from_static(bytes),
                std::borrow::Cow::Owned(bytes) => bytes.into(),
            };
            Some((path.into_owned(), bytes, file.metadata.sha256_hash()))
        }))
    }

    /// From paths, contents and their hashes. `x.br` and `x.gz` are forms of `x`.
    pub(super) fn of(entries: impl Iterator<Item = (String, Bytes, [u8; 32])>) -> Self {
        let mut files: HashMap<String, File> = HashMap::new();
        for (path, bytes, hash) in entries {
            let (path, encoding) = match (path.strip_suffix(".br"), path.strip_suffix(".gz")) {
                (Some(path), _) => (path.to_owned(), Encoding::Brotli),
                (_, Some(path)) => (path.to_owned(), Encoding::Gzip),
                _ => (path, Encoding::Identity),
            };
            let file = File {
                media_type: media_type(&path),
                is_hashed: path.starts_with(HASHED),
                forms: Vec::new(),
            };
            let forms = &mut files.entry(path).or_insert(file).forms;
            forms.push(Form { encoding, bytes, etag: etag(&hash) });
        }
        Self(files)
    }

    pub(super) fn get(&self, path: &str) -> Option<&File> {
        self.0.get(path)
    }

    /// Takes a file out that is served in a way of its own.
    pub(super) fn take(&mut self, path: &str) -> Option<Bytes> {
        let file = self.0.remove(path)?;
        file.forms
            .into_iter()
            .find(|form| form.encoding == Encoding::Identity)
            .map(|form| form.bytes)
    }
}

impl File {
    /// Whether the answer depends on what a client can read.
    pub(super) fn varies(&self) -> bool {
        self.forms.len() > 1
    }

    /// The form a client likes best.
    pub(super) fn form(&self, headers: &HeaderMap) -> Option<&Form> {
        let chosen = Encoding::chosen(headers, self.forms.iter().map(|form| form.encoding));
        self.forms.iter().find(|form| form.encoding == chosen)
    }
}

/// A strong tag: other bytes, other tag. Half the hash is plenty.
pub(super) fn etag(hash: &[u8]) -> HeaderValue {
    let hex: String = hash.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    HeaderValue::try_from(format!("\"{hex}\"")).expect("hexadecimal digits may stand in a header")
}

/// Browsers are told not to guess, so every kind of file that a build has must be known.
fn media_type(path: &str) -> &'static str {
    match path.rsplit('.').next() {
        Some("css") => "text/css; charset=utf-8",
        Some("html") => "text/html; charset=utf-8",
        Some("ico") => "image/x-icon",
        Some("js") => "text/javascript; charset=utf-8",
        Some("json") => "application/json",
        Some("png") => "image/png",
        Some("svg") => "image/svg+xml",
        Some("txt") => "text/plain; charset=utf-8",
        Some("webmanifest") => "application/manifest+json",
        Some("woff2") => "font/woff2",
        _ => "application/octet-stream",
    }
}
