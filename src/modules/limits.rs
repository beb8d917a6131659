//! How long modules may take.

use super::module::ModuleSettings;
use crate::settings::Settings;

/// How long a discovery waits for one module, from the sending of the request to the last byte of the answer.
pub const DISCOVERY_SECONDS: u32 = 10;

/// How long the description of a module is good, in the database and in the cache.
pub const FRESH_SECONDS: u32 = 3_600;

/// After how many seconds a module that failed is asked again.
pub const RETRY_SECONDS: u32 = 60;

/// How long a discovery may hold modules. It is longer than any discovery takes, so that a lease ends by itself only if
/// the Worker died.
pub const LEASE_SECONDS: u32 = 120;

const DEFAULT_TIMEOUT_SECONDS: u32 = 30;

/// The timeout of the module's tools that name none themselves.
pub fn timeout_seconds(settings: &Settings, module: &ModuleSettings) -> u32 {
    let by_speed = if module.slow { settings.slow_module_seconds } else { DEFAULT_TIMEOUT_SECONDS };
    module.timeout_seconds.unwrap_or(by_speed)
}
