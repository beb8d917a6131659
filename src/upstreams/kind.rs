//! What the kinds of upstreams differ in.

use super::discovery::Sight;
use super::offer::Offers;
use super::upstream::Upstream;
use crate::callers::Scope;
use crate::error::Result;
use crate::ids::UpstreamId;
use crate::registry::{HeaderValue, Source, Tool};
use crate::settings::Settings;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;

/// What an admin can set for one kind of upstream.
pub trait UpstreamSettings: Clone + PartialEq + fmt::Debug + 'static {
    /// The source of the upstream's tools.
    const SOURCE: Source;
    /// The character between the upstream's name and the names of its tools.
    const SEPARATOR: char;
    /// The word for such an upstream at the beginning of a message.
    const NOUN: &'static str;
    /// The word for such an upstream in the subjects of the change log.
    const SUBJECT: &'static str;
    /// The event in the log if such an upstream answers, but not with a description of its tools.
    const INVALID_EVENT: &'static str;
    /// Whether the settings, and not the upstream, decide about the risk, the level and the approval of its tools.
    const SETS_POLICY: bool;
    /// The most upstreams of this kind in one workspace.
    const MAX: u32;

    /// Such an upstream in the change log and in backups.
    type Record: UpstreamRecord<Settings = Self>;

    fn read(columns: SettingsColumns) -> Result<Self>;
    fn columns(&self) -> SettingsColumns;
    fn is_enabled(&self) -> bool;
    /// Whether everything that the upstream offers is accepted without an admin.
    fn accepts_all(&self) -> bool;
    /// The credentials of the workspace that the settings name.
    fn credentials(&self) -> Vec<String>;
    /// Where a body names credentials.
    fn place_of_credentials(&self) -> &'static str {
        "/headers"
    }
    /// The timeout of tools that name none.
    fn timeout_seconds(&self, settings: &Settings) -> u32;
    /// Whether another server may answer under the settings `after`, or the same one differently. If not, the description
    /// in the cache is as good as a new one.
    fn is_same_server(&self, after: &Self) -> bool;

    /// A present tool with the policy of these settings. None, if the tool has this policy.
    fn with_policy(&self, tool: &Tool) -> Option<Tool>;

    /// Asks the upstream what it offers.
    fn look(scope: &Scope, upstream: &Upstream<Self>, sight: Sight) -> impl Future<Output = Seen>;

    /// What is left to do when the upstream has been deleted.
    fn forget(scope: &Scope, upstream: &Upstream<Self>) -> impl Future<Output = ()>;

    /// The subject of the upstream's changes.
    fn subject(name: impl fmt::Display) -> String {
        format!("{}:{name}", Self::SUBJECT)
    }
}

/// What is written about an upstream into the change log and into backups: what an admin has set. In the change log the
/// secret values are masked; in backups the literal ones are sealed.
pub trait UpstreamRecord: Clone + PartialEq + Serialize + DeserializeOwned {
    type Settings: UpstreamSettings<Record = Self>;

    /// The upstream as backups hold it.
    fn stored(upstream: &Upstream<Self::Settings>) -> Self;

    /// The record without the values that may be secrets.
    fn without_values(self) -> Self;

    fn name(&self) -> &str;

    /// The upstream of the record. The name of a record that was not checked may be none.
    fn id(&self) -> Option<UpstreamId> {
        UpstreamId::new(self.name(), Self::Settings::SEPARATOR)
    }

    /// The credentials that the record names.
    fn credentials(&self) -> Vec<String>;

    /// The columns of the table, by their names.
    fn row(&self) -> Result<Value>;

    /// The record as it is stored: values that were sealed before stay as they are, and other literal values are sealed.
    /// Fails with everything that is wrong with the record.
    fn checked(self, scope: &Scope) -> Result<Self>;
}

/// The columns of the table that hold settings.
#[derive(Debug)]
pub struct SettingsColumns {
    pub kind: String,
    pub url: Option<String>,
    pub slow: bool,
    pub timeout_seconds: Option<u32>,
    /// As they are stored: literal values are sealed for `url`.
    pub headers: BTreeMap<String, HeaderValue>,
    pub enabled: bool,
    pub auto_accept: bool,
    /// JSON.
    pub include: Option<String>,
    /// JSON.
    pub server: Option<String>,
    /// The toolset that brought the upstream.
    pub toolset_id: Option<String>,
    /// Whether the upstream is off only because its toolset is.
    pub paused: bool,
}

/// What was seen of one upstream.
#[derive(Debug)]
pub struct Seen {
    pub look: Look,
    /// What the client remembers of the server from now on.
    pub connection: Option<String>,
    /// For how many seconds the server itself says that its description is good.
    pub fresh_seconds: Option<u32>,
}

/// What the upstream answered.
#[derive(Debug)]
pub enum Look {
    Failed(LookFailure),
    /// The description has this fingerprint, and is the one that was put in place before.
    Unchanged(String),
    /// Everything that the upstream offers, and the fingerprint of the description.
    Offered(Offers, String),
}

impl From<Look> for Seen {
    fn from(look: Look) -> Self {
        Self { look, connection: None, fresh_seconds: None }
    }
}

/// Why there is no description.
#[derive(Debug)]
pub enum LookFailure {
    /// The server did not answer.
    Unreachable(String),
    /// The server answered something else.
    Invalid(String),
}
