//! The files of a session: listed and downloaded by callers who may see the session. Always sent as attachments, because
//! a model or a shell may have written anything into them.

use std::io;
use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures::stream::{self, Stream, StreamExt};
use http::{HeaderMap, HeaderValue, header};
use ports::files::{FileRef, FileStream, SessionWorkspace};
use protocol::SessionId;
use protocol::problem::ProblemCode;
use protocol::response::WorkspaceFile;
use protocol::session::Owner;
use serde::{Deserialize, Serialize};
use utoipa_axum::routes;

use crate::http::AppState;
use crate::http::extract::path::is_id;
use crate::http::extract::{CallerIdentity, PathId, Query};
use crate::http::problem::{ApiProblem, ApiResult};
use crate::http::responses::{InvalidField, NotFound};
use crate::http::routes::ApiRoutes;

/// Listed files; a workspace can contain more, and the count includes all.
const LISTED: usize = 1_000;
/// Types that a browser can display without running anything. All others are sent as bytes.
const SAFE_TYPES: [&str; 8] = [
    "application/pdf",
    "image/avif",
    "image/bmp",
    "image/gif",
    "image/jpeg",
    "image/png",
    "image/webp",
    "text/plain",
];

pub(crate) fn routes() -> ApiRoutes {
    ApiRoutes::new().routes(routes!(download)).routes(routes!(list))
}

#[derive(Deserialize, utoipa::IntoParams)]
pub(crate) struct WorkspaceQuery {
    session_id: String,
}

#[derive(Serialize, utoipa::ToSchema)]
pub(crate) struct WorkspaceFiles {
    /// Sorted by path, at most 1000.
    files: Vec<WorkspaceFile>,
    total_count: usize,
}

/// List the files of a session.
#[utoipa::path(
    get, path = "/workspace/files", operation_id = "list_workspace_files", tag = "workspace",
    params(WorkspaceQuery),
    responses((status = 200, description = "The files", body = WorkspaceFiles), NotFound, InvalidField)
)]
async fn list(
    State(app): State<Arc<AppState>>,
    identity: CallerIdentity,
    Query(query): Query<WorkspaceQuery>,
) -> ApiResult<Json<WorkspaceFiles>> {
    let workspace = workspace(&app, &identity.owner, query).await?;
    let listing = app.ports.files.list(&workspace, "", LISTED).await?;
    Ok(Json(WorkspaceFiles { files: listing.files, total_count: listing.total }))
}

/// Download a file of a session.
#[utoipa::path(
    get, path = "/workspace/files/{file_id}/download", operation_id = "download_workspace_file", tag = "workspace",
    params(("file_id" = String, Path), WorkspaceQuery),
    responses((status = 200, description = "The file", body = Vec<u8>, content_type = "application/octet-stream"), NotFound, InvalidField)
)]
async fn download(
    State(app): State<Arc<AppState>>,
    identity: CallerIdentity,
    PathId(file_id): PathId<String>,
    Query(query): Query<WorkspaceQuery>,
) -> ApiResult<Response> {
    let workspace = workspace(&app, &identity.owner, query).await?;
    let opened = app.ports.files.open(&workspace, &FileRef::Id(file_id)).await?;
    let (file, pieces) = opened.map_err(|_| no_file())?;
    let mut response = Body::from_stream(exact_length(file.size_bytes, pieces)).into_response();
    set_headers(response.headers_mut(), &file);
    Ok(response)
}

/// The workspace of a session that the caller may see.
async fn workspace(
    app: &AppState,
    caller: &Owner,
    query: WorkspaceQuery,
) -> ApiResult<SessionWorkspace> {
    let session = SessionId::from(query.session_id);
    if !is_id(session.as_str()) {
        return Err(ApiProblem::no_session());
    }
    let session = app.ports.sessions.get(caller, &session).await?;
    let session = session.ok_or_else(ApiProblem::no_session)?;
    let owner = session.user_id.map_or(Owner::Anonymous, Owner::User);
    Ok(SessionWorkspace { owner, session: session.id })
}

/// Exactly the announced number of bytes. A file that has become shorter aborts the response: a clean end would look like
/// the whole file.
fn exact_length(size: u64, pieces: FileStream) -> impl Stream<Item = io::Result<Bytes>> {
    stream::try_unfold((pieces, size), |(mut pieces, left)| async move {
        if left == 0 {
            return Ok(None);
        }
        let changed = || io::Error::other("the file changed while it was being sent");
        let mut piece = pieces.next().await.unwrap_or_else(|| Err(changed()))?;
        piece.truncate(usize::try_from(left).unwrap_or(usize::MAX));
        let left = left - piece.len() as u64;
        Ok(Some((piece, (pieces, left))))
    })
}

fn set_headers(headers: &mut HeaderMap, file: &WorkspaceFile) {
    let kind = SAFE_TYPES.into_iter().find(|kind| *kind == file.mime_type);
    let kind = match kind {
        Some("text/plain") => "text/plain; charset=utf-8",
        Some(kind) => kind,
        None => "application/octet-stream",
    };
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(header::CONTENT_LENGTH, HeaderValue::from(file.size_bytes));
    headers.insert(header::CONTENT_DISPOSITION, disposition(&file.name));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    let policy = HeaderValue::from_static("default-src 'none'; sandbox");
    headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
}

/// The name twice: percent-encoded for current browsers, and reduced to safe ASCII characters for all others.
fn disposition(name: &str) -> HeaderValue {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || " -_.".contains(letter);
    let plain: String =
        name.chars().map(|letter| if is_plain(letter) { letter } else { '_' }).collect();
    let encoded: String = name
        .bytes()
        .map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' => {
                char::from(byte).to_string()
            }
            _ => format!("%{byte:02X}"),
        })
        .collect();
    let value = format!("attachment; filename=\"{plain}\"; filename*=UTF-8''{encoded}");
    HeaderValue::try_from(value).unwrap_or(HeaderValue::from_static("attachment"))
}

fn no_file() -> ApiProblem {
    ApiProblem::new(ProblemCode::FileNotFound, "File not found in the workspace.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_file_is_sent_with_its_announced_length_or_aborted() {
        for (size, sent) in [(0, ""), (3, "abc"), (4, "abcd"), (6, "abcdef"), (7, "aborted")] {
            let pieces = ["abc", "def"].map(|piece| Ok(Bytes::from_static(piece.as_bytes())));
            let pieces: Vec<_> = exact_length(size, stream::iter(pieces).boxed()).collect().await;
            let pieces: io::Result<Vec<Bytes>> = pieces.into_iter().collect();
            let text = pieces.map(|pieces| String::from_utf8(pieces.concat()).expect("text"));
            assert_eq!(text.unwrap_or_else(|_| "aborted".into()), sent, "{size}");
        }
    }

    #[test]
    fn a_file_name_cannot_break_out_of_its_header() {
        for (name, expected) in [
            ("plan.md", "attachment; filename=\"plan.md\"; filename*=UTF-8''plan.md"),
            (
                "a\"; x=\r\n.sh",
                "attachment; filename=\"a__ x___.sh\"; filename*=UTF-8''a%22%3B%20x%3D%0D%0A.sh",
            ),
            ("Übung.txt", "attachment; filename=\"_bung.txt\"; filename*=UTF-8''%C3%9Cbung.txt"),
        ] {
            assert_eq!(disposition(name), expected, "{name:?}");
        }
    }

    #[test]
    fn only_passive_types_keep_their_media_type() {
        for (mime_type, sent) in [
            ("image/png", "image/png"),
            ("text/plain", "text/plain; charset=utf-8"),
            ("text/html", "application/octet-stream"),
            ("image/svg+xml", "application/octet-stream"),
            ("text/javascript", "application/octet-stream"),
        ] {
            let file = WorkspaceFile {
                file_id: "wf-1".into(),
                path: "a".into(),
                name: "a".into(),
                mime_type: mime_type.into(),
                size_bytes: 1,
            };
            let mut headers = HeaderMap::new();
            set_headers(&mut headers, &file);
            assert_eq!(headers[header::CONTENT_TYPE], sent);
            assert_eq!(headers[header::X_CONTENT_TYPE_OPTIONS], "nosniff");
        }
    }
}
