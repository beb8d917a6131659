//! Seals the literal header values that older versions of the Worker have stored as they were given.

use super::definition::handler_json;
use super::handler::Handler;
use super::store::unsealed;
use crate::app::App;
use crate::error::Result;
use worker::console_error;

/// Seals the values of some versions. The next run continues where this run stopped. The change log gets no row,
/// because the log shows no header value: nothing that the log tells has changed.
#[expect(clippy::disallowed_methods, reason = "upkeep is about no workspace, and nobody calls it")]
pub async fn seal_headers(app: &App) -> Result<()> {
    let Some(sealer) = &app.settings().sealer else { return Ok(()) };
    let rows = app.db()?.batch(&[unsealed::find()]).await?;
    let versions = rows.first().map(unsealed::read).transpose()?.unwrap_or_default();
    let mut statements = Vec::new();
    for version in &versions {
        match version.handler.as_deref().map(serde_json::from_str::<Handler>).transpose() {
            Ok(handler) => {
                let sealed = handler.map(|it| handler_json(&it.sealed(Some(sealer))?)).transpose()?;
                statements.extend(sealed.map(|it| unsealed::put_handler(version, it.get())));
            }
            Err(cause) => console_error!("the version {} has a broken handler: {cause}", version.version_key),
        }
        statements.push(unsealed::forget(version));
    }
    if !statements.is_empty() {
        app.db()?.batch(&statements).await?;
    }
    Ok(())
}
