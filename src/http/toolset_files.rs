//! `/api/toolsets/{toolset_id}/files/{path}`: the stored files of a toolset.

use super::extract::{FileAt, Named, User};
use crate::error::Result;
use crate::files::BlobContent;
use crate::ids::ToolsetId;
use crate::toolsets;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};

/// Whoever opens the file in a browser gets a page without scripts, without an origin, and without a way to load anything.
const POLICY: &str = "sandbox; default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The types of files by the ends of their names. All others are plain text or bytes.
const TYPES: [(&str, &str); 24] = [
    ("css", "text/css; charset=utf-8"),
    ("csv", "text/csv; charset=utf-8"),
    ("gif", "image/gif"),
    ("htm", "text/html; charset=utf-8"),
    ("html", "text/html; charset=utf-8"),
    ("ico", "image/x-icon"),
    ("jpeg", "image/jpeg"),
    ("jpg", "image/jpeg"),
    ("js", "text/javascript; charset=utf-8"),
    ("json", "application/json"),
    ("md", "text/markdown; charset=utf-8"),
    ("mjs", "text/javascript; charset=utf-8"),
    ("mp3", "audio/mpeg"),
    ("mp4", "video/mp4"),
    ("pdf", "application/pdf"),
    ("png", "image/png"),
    ("svg", "image/svg+xml"),
    ("ttf", "font/ttf"),
    ("wasm", "application/wasm"),
    ("webp", "image/webp"),
    ("woff", "font/woff"),
    ("woff2", "font/woff2"),
    ("xml", "application/xml"),
    ("zip", "application/zip"),
];

fn type_of(path: &str, content: &BlobContent) -> &'static str {
    let end = path.rsplit('/').next().and_then(|name| name.rsplit_once('.')).map(|(_, end)| end.to_ascii_lowercase());
    let known = TYPES.iter().find(|(name, _)| end.as_deref() == Some(name)).map(|(_, kind)| *kind);
    known.unwrap_or(match content {
        BlobContent::Text(_) => "text/plain; charset=utf-8",
        BlobContent::Base64(_) => "application/octet-stream",
    })
}

/// Read a file of a toolset
///
/// The response is the bytes of the file, with its type by the end of its name and `ETag` (its SHA-256). The policy of the
/// response lets no script run, whatever the type is: `GET /api/tool-calls/{call_id}/render` gives pages that are to run.
#[utoipa::path(get, path = "/api/toolsets/{toolset_id}/files/{path}", tag = "toolsets",
    params(("toolset_id" = String, Path), ("path" = String, Path)),
    responses((status = 200, description = "The file", content(
        (String = "application/octet-stream"), (String = "text/html"), (String = "text/plain")))))]
#[worker::send]
pub async fn get_toolset_file(
    User(scope): User,
    FileAt(path): FileAt,
    Named(toolset): Named<ToolsetId>,
) -> Result<Response> {
    let path = path.as_str().trim_start_matches('/');
    let file = toolsets::read_file(&scope, &toolset, path).await?;
    let kind = type_of(path, &file.content);
    let etag = format!("\"{}\"", file.sha256);
    let mut response = file.content.into_bytes()?.into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.extend(HeaderValue::try_from(etag).ok().map(|it| (header::ETAG, it)));
    Ok(response)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_the_name_tells_the_type() {
        let check = |path: &str, text: &str, bytes: &str| {
            let kinds = [BlobContent::Text(String::new()), BlobContent::Base64(String::new())];
            assert_eq!(kinds.map(|it| type_of(path, &it)), [text, bytes], "{path}");
        };
        let html = "text/html; charset=utf-8";
        check("a/b.HTML", html, html);
        check("a.b/c", "text/plain; charset=utf-8", "application/octet-stream");
        check("tools/a.py", "text/plain; charset=utf-8", "application/octet-stream");
        check(".png", "image/png", "image/png");
        check("html", "text/plain; charset=utf-8", "application/octet-stream");
    }
}
