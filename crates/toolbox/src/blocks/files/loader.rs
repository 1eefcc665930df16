//! Loads files for blocks: from a URL, a data URI or the workspace.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use encoding_rs::WINDOWS_1252;
use ports::Files;
use ports::block::{BlockContext, BlockError};
use ports::files::{FileRef, FileRefusal};
use protocol::text::hex;
use sha2::{Digest, Sha256};

use super::data_uri;
use crate::blocks::{BlockDependencies, failures};
use crate::egress::{self, FetchLimits, FetchedResponse};

/// Limit on the size of a file, in bytes.
pub(crate) const FILE_BYTES: usize = 10 * 1024 * 1024;
/// The URL scheme of workspace files.
const WORKSPACE: &str = "workspace://";
const NAME_CHARS: usize = 80;

#[derive(Clone)]
pub(crate) struct FileLoader {
    files: Arc<dyn Files>,
    egress: egress::EgressClient,
}

pub(crate) struct FileContent {
    pub(crate) name: String,
    pub(crate) media_type: String,
    pub(crate) bytes: Bytes,
}

impl FileContent {
    pub(crate) fn data_uri(&self) -> String {
        data_uri::write(&self.media_type, &self.bytes)
    }

    /// The content as text. Invalid UTF-8 is decoded as Windows-1252, in which every byte is valid.
    pub(crate) fn text(&self) -> String {
        let bytes = self.bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&self.bytes);
        match std::str::from_utf8(bytes) {
            Ok(text) => text.to_owned(),
            Err(_) => WINDOWS_1252.decode_without_bom_handling(bytes).0.into_owned(),
        }
    }
}

impl FileLoader {
    pub(crate) fn new(dependencies: &BlockDependencies) -> Self {
        Self { files: dependencies.files.clone(), egress: dependencies.egress.clone() }
    }

    pub(crate) async fn read(
        &self,
        file: &str,
        context: &BlockContext,
    ) -> Result<FileContent, BlockError> {
        match FileSource::of(file) {
            FileSource::Data => {
                let data = data_uri::parse(file, FILE_BYTES).ok_or_else(|| {
                    BlockError::failed(format!(
                        "The data URI is invalid or exceeds the limit of {FILE_BYTES} bytes."
                    ))
                })?;
                let name = format!("file.{}", extension(&data.media_type));
                Ok(FileContent { name, media_type: data.media_type, bytes: data.bytes })
            }
            FileSource::Web => {
                let why = "no web page is read: pin the outputs of this step";
                failures::not_in_a_dry_run(context, why)?;
                self.fetch(file, context).await
            }
            FileSource::Workspace(file) => self.workspace_file(&file, context).await,
        }
    }

    /// The path of the file in the workspace. A file from elsewhere is stored there first, under a path derived from its
    /// content and name, so storing it again gives the same path.
    pub(crate) async fn store(
        &self,
        file: &str,
        context: &BlockContext,
    ) -> Result<String, BlockError> {
        if let FileSource::Workspace(file) = FileSource::of(file) {
            let found = self.files.stat(&context.workspace(), &file).await?;
            return found.map(|file| file.path).map_err(failures::workspace);
        }
        let content = self.read(file, context).await?;
        if context.dry_run {
            // Nothing is stored, so the content is passed on itself.
            return Ok(content.data_uri());
        }
        let FileContent { name, bytes, .. } = content;
        let digest = hex(&Sha256::digest(&bytes)[..6]);
        let path = format!("files/{digest}-{name}");
        match self.files.write(&context.workspace(), &path, bytes, false).await? {
            Ok(_) | Err(FileRefusal::Exists) => Ok(path),
            Err(refused) => Err(failures::workspace(refused)),
        }
    }

    /// The file as a data URI, or the path of the file in the workspace.
    pub(crate) async fn path_or_data(
        &self,
        file: &str,
        as_data: bool,
        context: &BlockContext,
    ) -> Result<String, BlockError> {
        match as_data {
            true => Ok(self.read(file, context).await?.data_uri()),
            false => self.store(file, context).await,
        }
    }

    async fn fetch(&self, url: &str, context: &BlockContext) -> Result<FileContent, BlockError> {
        let limits = FetchLimits {
            bytes: FILE_BYTES,
            total: Duration::from_secs(120),
            idle: Duration::from_secs(30),
            accepts: |_| true,
        };
        let fetched = failures::unless_stopped(context, self.egress.get(url, limits))
            .await?
            .map_err(failures::network)?;
        if !(200..300).contains(&fetched.status) {
            return Err(BlockError::failed(format!(
                "The file could not be fetched: the server returned status {}.",
                fetched.status
            )));
        }
        if fetched.truncated {
            return Err(too_large());
        }
        let media_type = fetched.content_type.split(';').next().unwrap_or_default().trim();
        let media_type = match media_type {
            "" => "application/octet-stream".to_owned(),
            known => known.to_ascii_lowercase(),
        };
        Ok(FileContent { name: name_of(&fetched, &media_type), media_type, bytes: fetched.body })
    }

    async fn workspace_file(
        &self,
        file: &FileRef,
        context: &BlockContext,
    ) -> Result<FileContent, BlockError> {
        let (file, bytes) = self
            .files
            .read(&context.workspace(), file, 0, FILE_BYTES)
            .await?
            .map_err(failures::workspace)?;
        if file.size_bytes > FILE_BYTES as u64 {
            return Err(too_large());
        }
        Ok(FileContent { name: file.name, media_type: file.mime_type, bytes })
    }
}

enum FileSource {
    Data,
    Web,
    Workspace(FileRef),
}

impl FileSource {
    fn of(file: &str) -> Self {
        let scheme = file.split(':').next().unwrap_or_default().to_ascii_lowercase();
        match scheme.as_str() {
            "data" => Self::Data,
            "http" | "https" => Self::Web,
            _ => Self::Workspace(workspace_ref(file)),
        }
    }
}

/// Parses `workspace://<id>#<type>`, `workspace:///<path>` or a plain path.
fn workspace_ref(file: &str) -> FileRef {
    let Some(named) = file.strip_prefix(WORKSPACE) else {
        let path = file.strip_prefix("/workspace/").or_else(|| file.strip_prefix("./"));
        return FileRef::Path(path.unwrap_or(file).to_owned());
    };
    let named = named.split('#').next().unwrap_or_default();
    match named.strip_prefix('/') {
        Some(path) => FileRef::Path(path.to_owned()),
        None => FileRef::Id(named.to_owned()),
    }
}

fn too_large() -> BlockError {
    BlockError::failed(format!("The file is larger than the limit of {FILE_BYTES} bytes."))
}

/// A safe file name from the last segment of the URL path.
fn name_of(fetched: &FetchedResponse, media_type: &str) -> String {
    let last =
        fetched.url.path_segments().and_then(|mut parts| parts.next_back()).unwrap_or_default();
    let sanitize = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' };
    let name: String = last.chars().map(sanitize).take(NAME_CHARS).collect();
    let name = name.trim_start_matches('.');
    match (name.is_empty(), name.contains('.')) {
        (true, _) => format!("file.{}", extension(media_type)),
        (false, true) => name.to_owned(),
        (false, false) => format!("{name}.{}", extension(media_type)),
    }
}

fn extension(media_type: &str) -> &'static str {
    match media_type {
        "application/json" => "json",
        "application/pdf" => "pdf",
        "application/xml" | "text/xml" => "xml",
        "application/zip" => "zip",
        "audio/mpeg" => "mp3",
        "audio/wav" => "wav",
        "image/gif" => "gif",
        "image/jpeg" => "jpg",
        "image/png" => "png",
        "image/svg+xml" => "svg",
        "image/webp" => "webp",
        "text/csv" => "csv",
        "text/html" => "html",
        "text/markdown" => "md",
        "text/plain" => "txt",
        "video/mp4" => "mp4",
        _ => "bin",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_of_a_workspace_file_is_parsed() {
        let path = |path: &str| FileRef::Path(path.to_owned());
        for (file, meant) in [
            ("notes/a.txt", path("notes/a.txt")),
            ("/workspace/notes/a.txt", path("notes/a.txt")),
            ("./a.txt", path("a.txt")),
            ("workspace:///notes/a.txt", path("notes/a.txt")),
            ("workspace://3f2a#text/plain", FileRef::Id("3f2a".to_owned())),
        ] {
            assert_eq!(workspace_ref(file), meant, "{file}");
        }
    }
}
