//! The description of a module's tools, as the module gives it: its manifest, or its OpenAPI document. The text lies in
//! the cache as it came.

use super::manifest;
use super::module::{Module, ModuleKind};
use crate::cache;
use crate::callers::Scope;
use crate::hex;
use crate::ids::WorkspaceId;
use crate::outgoing::{OutgoingFailure, OutgoingRequest, Route};
use crate::registry::{Server, StoredHeaders};
use crate::upstreams::{DISCOVERY_SECONDS, FRESH_SECONDS, LookFailure, Offers};
use sha2::{Digest, Sha256};
use std::time::Duration;
use worker::Date;

const MAX_MANIFEST_BYTES: usize = 1024 * 1024;
const MAX_DOCUMENT_BYTES: usize = 8 * 1024 * 1024;

pub struct Description {
    /// The address that the text came from.
    url: String,
    text: String,
}

impl Description {
    /// Asks the module, and keeps the answer in the cache.
    pub async fn ask(scope: &Scope, module: &Module) -> Result<Self, LookFailure> {
        let urls = urls(module);
        let begun = Date::now().as_millis();
        let mut last = LookFailure::Invalid("The module has no address".to_owned());
        for url in urls {
            let spent = Duration::from_millis(Date::now().as_millis().saturating_sub(begun));
            let left = Duration::from_secs(DISCOVERY_SECONDS.into()).saturating_sub(spent);
            match fetch(scope, module, &url, left).await {
                Ok(text) if is_description(module, &text) => {
                    cache::put(scope.app(), &key(scope.workspace(), module.name()), &text, FRESH_SECONDS).await;
                    return Ok(Self { url, text });
                }
                Ok(_) => last = LookFailure::Invalid("The answer is not an OpenAPI document".to_owned()),
                // The answer at the first address says more about the module than the one at an address that was guessed.
                Err(failure) if matches!(failure, LookFailure::Unreachable(_)) => return Err(failure),
                Err(failure) => last = failure,
            }
        }
        Err(last)
    }

    /// The description that lies in the cache.
    pub async fn cached(scope: &Scope, module: &Module) -> Option<Self> {
        match module.settings.kind {
            ModuleKind::Manifest => {}
            // Relative addresses in the document depend on where the document was, and the cache does not tell.
            ModuleKind::Openapi => return None,
        }
        let text = cache::get(scope.app(), &key(scope.workspace(), module.name())).await?;
        Some(Self { url: module.settings.url.clone(), text })
    }

    /// The same text has the same fingerprint.
    pub fn fingerprint(&self) -> String {
        hex::encode(&Sha256::digest(&self.text))
    }

    /// Everything that the module offers.
    pub fn read(&self, module: &Module) -> Result<Offers, String> {
        match module.settings.kind {
            ModuleKind::Manifest => manifest::read(module.name(), &self.text),
            ModuleKind::Openapi => {
                super::openapi::read(module.name(), &self.url, &self.text, module.settings.include.as_ref())
            }
        }
    }
}

/// The key in the cache.
pub fn key(workspace: &WorkspaceId, name: &str) -> String {
    format!("module_manifest:{workspace}:{name}")
}

/// The addresses to ask, one after the other.
fn urls(module: &Module) -> Vec<String> {
    let url = &module.settings.url;
    match module.settings.kind {
        ModuleKind::Manifest => vec![format!("{url}/manifest")],
        ModuleKind::Openapi if url.contains('?') => vec![url.clone()],
        ModuleKind::Openapi => vec![url.clone(), format!("{url}/openapi.json")],
    }
}

/// Whether the text may be a description. The start page of a server is none, and then the document is at another
/// address.
fn is_description(module: &Module, text: &str) -> bool {
    match module.settings.kind {
        ModuleKind::Manifest => true,
        ModuleKind::Openapi => {
            !text.trim_start().starts_with('<') && (text.contains("openapi") || text.contains("swagger"))
        }
    }
}

async fn fetch(scope: &Scope, module: &Module, url: &str, time: Duration) -> Result<String, LookFailure> {
    use LookFailure::{Invalid, Unreachable};
    let headers = StoredHeaders { values: &module.settings.headers, url: &module.settings.url };
    let server =
        Server::of(scope, url, &[headers]).map_err(|it| Unreachable(format!("The module was not asked: {it}")))?;
    let max_bytes = match module.settings.kind {
        ModuleKind::Manifest => MAX_MANIFEST_BYTES,
        ModuleKind::Openapi => MAX_DOCUMENT_BYTES,
    };
    let failed = |failure| match failure {
        OutgoingFailure::Unusable(cause) => Unreachable(format!("The module cannot be asked: {cause}")),
        OutgoingFailure::Unreachable(_) => Unreachable("The module could not be reached".to_owned()),
        OutgoingFailure::TimedOut => {
            Unreachable(format!("The module did not answer within {DISCOVERY_SECONDS} seconds"))
        }
        OutgoingFailure::BrokenOff(_) => Unreachable("The module broke off its answer".to_owned()),
        OutgoingFailure::TooLarge => Invalid(format!("The answer has more than {max_bytes} bytes")),
        OutgoingFailure::NotText => Invalid("The answer is not UTF-8 text".to_owned()),
    };
    let request =
        OutgoingRequest { headers: server.headers.clone(), time: Some(time), ..OutgoingRequest::get(&server.url) };
    let response = request.send(Route::Network).await.map_err(failed)?;
    match response.status() {
        200 => {}
        status @ 300..400 => {
            return Err(Invalid(format!("The answer has the status {status}, and redirects are not followed")));
        }
        status => return Err(Invalid(format!("The answer has the status {status}"))),
    }
    response.text(max_bytes, scope.memory_turn()).await.map(|it| server.scrub(it)).map_err(failed)
}
