//! The files of a session: listed, and given to whoever may see the session. Always as something to keep and never as
//! something to open here, because nobody knows what a model or a shell has put into them.

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

use super::App;
use super::auth::Identity;
use super::json::Query;
use super::path::{Id, is_id};
use super::problem::{Answer, Problem, ProblemBody};

/// Files that are listed; a workspace can hold more, and the count says so.
const LISTED: usize = 1_000;
/// Kinds that a browser may show in a page without running anything. All others are bytes.
const SHOWN: [&str; 8] = [
    "application/pdf",
    "image/avif",
    "image/bmp",
    "image/gif",
    "image/jpeg",
    "image/png",
    "image/webp",
    "text/plain",
];

#[derive(Deserialize, utoipa::IntoParams)]
pub(crate) struct WorkspaceQuery {
    session_id: String,
}

#[derive(Serialize, utoipa::ToSchema)]
pub(crate) struct WorkspaceFiles {
    /// By path, a thousand at most.
    files: Vec<WorkspaceFile>,
    total_count: usize,
}

/// The files of a session.
#[utoipa::path(
    get, path = "/workspace/files", operation_id = "list_workspace_files", tag = "workspace",
    params(WorkspaceQuery),
    responses((status = 200, description = "Done", body = WorkspaceFiles), (status = 404, description = "There is no such thing of yours", body = ProblemBody), (status = 422, description = "Not valid", body = ProblemBody))
)]
pub(crate) async fn list(
    State(app): State<Arc<App>>,
    identity: Identity,
    Query(query): Query<WorkspaceQuery>,
) -> Answer<Json<WorkspaceFiles>> {
    let place = place(&app, &identity.owner, query).await?;
    let listing = app.ports.files.list(&place, "", LISTED).await?;
    Ok(Json(WorkspaceFiles { files: listing.files, total_count: listing.total }))
}

/// A file of a session, to be kept.
#[utoipa::path(
    get, path = "/workspace/files/{file_id}/download", operation_id = "download_workspace_file", tag = "workspace",
    params(("file_id" = String, Path), WorkspaceQuery),
    responses((status = 200, description = "The file", body = Vec<u8>, content_type = "application/octet-stream"), (status = 404, description = "There is no such thing of yours", body = ProblemBody), (status = 422, description = "Not valid", body = ProblemBody))
)]
pub(crate) async fn download(
    State(app): State<Arc<App>>,
    identity: Identity,
    Id(file_id): Id<String>,
    Query(query): Query<WorkspaceQuery>,
) -> Answer<Response> {
    let place = place(&app, &identity.owner, query).await?;
    let opened = app.ports.files.open(&place, &FileRef::Id(file_id)).await?;
    let (file, pieces) = opened.map_err(|_| no_file())?;
    let mut response = Body::from_stream(whole(file.size_bytes, pieces)).into_response();
    set_headers(response.headers_mut(), &file);
    Ok(response)
}

/// Whose files: those of a session that the caller may see.
async fn place(app: &App, caller: &Owner, query: WorkspaceQuery) -> Answer<SessionWorkspace> {
    let session = SessionId::from(query.session_id);
    if !is_id(session.as_str()) {
        return Err(Problem::no_session());
    }
    let session = app.ports.sessions.get(caller, &session).await?;
    let session = session.ok_or_else(Problem::no_session)?;
    let owner = session.user_id.map_or(Owner::Anonymous, Owner::User);
    Ok(SessionWorkspace { owner, session: session.id })
}

/// As many bytes as were promised. A file that has become shorter meanwhile breaks the answer off: a clean end would pass
/// for the whole file.
fn whole(size: u64, pieces: FileStream) -> impl Stream<Item = io::Result<Bytes>> {
    stream::try_unfold((pieces, size), |(mut pieces, left)| async move {
        if left == 0 {
            return Ok(None);
        }
        let changed = || io::Error::other("the file was changed while it was sent");
        let mut piece = pieces.next().await.unwrap_or_else(|| Err(changed()))?;
        piece.truncate(usize::try_from(left).unwrap_or(usize::MAX));
        let left = left - piece.len() as u64;
        Ok(Some((piece, (pieces, left))))
    })
}

fn set_headers(headers: &mut HeaderMap, file: &WorkspaceFile) {
    let kind = SHOWN.into_iter().find(|kind| *kind == file.mime_type);
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

/// The name twice: as it is, for browsers of today, and in letters that no reader of a header can take for anything
/// else.
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

fn no_file() -> Problem {
    Problem::new(ProblemCode::FileNotFound, "There is no such file in the workspace.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_file_is_sent_as_long_as_it_was_promised_or_broken_off() {
        for (size, sent) in [(0, ""), (3, "abc"), (4, "abcd"), (6, "abcdef"), (7, "broken off")] {
            let pieces = ["abc", "def"].map(|piece| Ok(Bytes::from_static(piece.as_bytes())));
            let pieces: Vec<_> = whole(size, stream::iter(pieces).boxed()).collect().await;
            let pieces: io::Result<Vec<Bytes>> = pieces.into_iter().collect();
            let text = pieces.map(|pieces| String::from_utf8(pieces.concat()).expect("text"));
            assert_eq!(text.unwrap_or_else(|_| "broken off".into()), sent, "{size}");
        }
    }

    #[test]
    fn no_name_of_a_file_leaves_its_place_in_the_header() {
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
    fn only_what_runs_nothing_keeps_its_kind() {
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
