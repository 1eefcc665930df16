//! The files of the page, embedded in the binary: uncompressed and, where that is smaller, compressed.

use std::collections::HashMap;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue};
use protocol::text::hex;
use rust_embed::RustEmbed;

use super::negotiation::ContentEncoding;

/// The output of `make web`, if it was run.
#[derive(RustEmbed)]
#[folder = "../../web/dist"]
#[allow_missing = true]
struct EmbeddedFiles;

/// Vite puts a content hash into the names of the files in this folder.
const HASHED: &str = "assets/";

pub(crate) struct PageFiles(HashMap<String, PageFile>);

/// One file in all its encodings.
pub(crate) struct PageFile {
    pub(crate) media_type: &'static str,
    /// Whether the name contains a content hash, so that the file can be cached forever.
    pub(crate) is_hashed: bool,
    variants: Vec<FileVariant>,
}

#[derive(Clone)]
pub(crate) struct FileVariant {
    pub(crate) encoding: ContentEncoding,
    pub(crate) bytes: Bytes,
    pub(crate) etag: HeaderValue,
}

impl PageFiles {
    pub(crate) fn built() -> Self {
        Self::of(EmbeddedFiles::iter().filter_map(|path| {
            let file = EmbeddedFiles::get(&path)?;
            let bytes = match file.data {
                std::borrow::Cow::Borrowed(bytes) => Bytes::from_static(bytes),
                std::borrow::Cow::Owned(bytes) => bytes.into(),
            };
            Some((path.into_owned(), bytes, file.metadata.sha256_hash()))
        }))
    }

    /// From paths, contents and hashes. `x.br` and `x.gz` are encodings of `x`.
    pub(crate) fn of(entries: impl Iterator<Item = (String, Bytes, [u8; 32])>) -> Self {
        let mut files: HashMap<String, PageFile> = HashMap::new();
        for (path, bytes, hash) in entries {
            let (path, encoding) = match (path.strip_suffix(".br"), path.strip_suffix(".gz")) {
                (Some(path), _) => (path.to_owned(), ContentEncoding::Brotli),
                (_, Some(path)) => (path.to_owned(), ContentEncoding::Gzip),
                _ => (path, ContentEncoding::Identity),
            };
            let file = PageFile {
                media_type: media_type(&path),
                is_hashed: path.starts_with(HASHED),
                variants: Vec::new(),
            };
            let variants = &mut files.entry(path).or_insert(file).variants;
            variants.push(FileVariant { encoding, bytes, etag: etag(&hash) });
        }
        Self(files)
    }

    pub(crate) fn get(&self, path: &str) -> Option<&PageFile> {
        self.0.get(path)
    }

    /// Removes a file that is served separately.
    pub(crate) fn take(&mut self, path: &str) -> Option<Bytes> {
        let file = self.0.remove(path)?;
        file.variants
            .into_iter()
            .find(|variant| variant.encoding == ContentEncoding::Identity)
            .map(|variant| variant.bytes)
    }
}

impl PageFile {
    /// Whether the response depends on the accepted encodings.
    pub(crate) fn varies(&self) -> bool {
        self.variants.len() > 1
    }

    /// The variant that the client prefers.
    pub(crate) fn variant(&self, headers: &HeaderMap) -> Option<&FileVariant> {
        let chosen =
            ContentEncoding::chosen(headers, self.variants.iter().map(|variant| variant.encoding));
        self.variants.iter().find(|variant| variant.encoding == chosen)
    }
}

/// A strong entity tag. Half the hash is enough.
pub(crate) fn etag(hash: &[u8]) -> HeaderValue {
    HeaderValue::try_from(format!("\"{}\"", hex(&hash[..16])))
        .expect("hexadecimal digits are valid in a header")
}

/// Every file type of the build must be listed, because browsers are told not to guess (`nosniff`).
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
