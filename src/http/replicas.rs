//! The header `X-D1-Bookmark`, by which a caller in a deployment with read replicas reads what it has just written. This
//! file serves no route.

use crate::app::App;
use crate::db::Freshness;
use crate::error::{Error, Result};
use crate::settings::Settings;
use axum::http::{HeaderMap, HeaderName, HeaderValue};

pub const BOOKMARK: HeaderName = HeaderName::from_static("x-d1-bookmark");

/// The freshness that a request asks for. None means the latest data: a caller that knows nothing of bookmarks must find
/// what it wrote a moment ago. Without read replicas the header means nothing.
pub fn requested(settings: &Settings, headers: &HeaderMap) -> Result<Option<Freshness>> {
    let Some(value) = headers.get(BOOKMARK).filter(|_| settings.read_replicas) else { return Ok(None) };
    let freshness = value.to_str().ok().and_then(Freshness::parse);
    freshness.map(Some).ok_or_else(|| {
        Error::header(
            "X-D1-Bookmark",
            "Expected the X-D1-Bookmark of an earlier response, first-primary or first-unconstrained",
        )
    })
}

/// Tells the caller the bookmark of the newest state that the request has seen.
pub fn tell(app: &App, headers: &mut HeaderMap) {
    if let Some(bookmark) = app.bookmark().and_then(|it| HeaderValue::try_from(it).ok()) {
        headers.insert(BOOKMARK, bookmark);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bookmark_counts_only_with_read_replicas() {
        let [with, without] = [&[("D1_READ_REPLICAS", "on")][..], &[]].map(Settings::of_vars);
        let mut headers = HeaderMap::new();
        assert_eq!(requested(&with, &headers), Ok(None));
        headers.insert(BOOKMARK, HeaderValue::from_static("0-1-2-3"));
        assert_eq!(requested(&with, &headers), Ok(Some(Freshness::Since("0-1-2-3".into()))));
        assert_eq!(requested(&without, &headers), Ok(None));
        headers.insert(BOOKMARK, HeaderValue::from_static("yesterday"));
        assert_eq!(requested(&without, &headers), Ok(None));
        assert_eq!(requested(&with, &headers).unwrap_err().code(), "VALIDATION_ERROR");
    }
}
