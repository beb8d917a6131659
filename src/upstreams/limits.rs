//! How long upstreams may take.

/// How long a discovery waits for one upstream, from the sending of the request to the last byte of the answer.
pub const DISCOVERY_SECONDS: u32 = 10;

/// How long the description of an upstream is good, in the database and in the cache.
pub const FRESH_SECONDS: u32 = 3_600;

/// After how many seconds an upstream that failed is asked again.
pub const RETRY_SECONDS: u32 = 60;

/// How long a discovery may hold upstreams. It is longer than any discovery takes, so that a lease ends by itself only if
/// the Worker died.
pub const LEASE_SECONDS: u32 = 120;

/// The timeout of a tool that neither names one nor belongs to an upstream that does.
pub const DEFAULT_TIMEOUT_SECONDS: u32 = 30;
