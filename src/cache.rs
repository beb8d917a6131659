//! The cache: texts in KV that may be gone at any time. A failure of the cache is logged, and never fails a request.

use crate::app::App;
use worker::console_warn;

/// Keeps a text for some time.
pub async fn put(app: &App, key: &str, text: &str, seconds: u32) {
    let Some(store) = app.manifests() else { return };
    let kept = match store.put(key, text) {
        Ok(put) => put.expiration_ttl(seconds.into()).execute().await,
        Err(cause) => Err(cause),
    };
    if let Err(cause) = kept {
        console_warn!("the cache did not keep {key}: {cause}");
    }
}

/// The text, if the cache still has it.
pub async fn get(app: &App, key: &str) -> Option<String> {
    match app.manifests()?.get(key).text().await {
        Ok(text) => text,
        Err(cause) => {
            console_warn!("the cache did not give {key}: {cause}");
            None
        }
    }
}

/// Forgets a text.
pub async fn delete(app: &App, key: &str) {
    let Some(store) = app.manifests() else { return };
    if let Err(cause) = store.delete(key).await {
        console_warn!("the cache did not forget {key}: {cause}");
    }
}
