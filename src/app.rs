//! What one request has to work with: the bindings, the settings, the clock and its own id.

use crate::db::{Cost, Db};
use crate::error::{Error, Result};
use crate::ids;
use crate::settings::Settings;
use crate::time::Timestamp;
use worker::{Date, Env, ObjectNamespace};

pub struct App {
    env: Env,
    db: Option<Db>,
    settings: &'static Settings,
    now: Timestamp,
    request_id: String,
}

impl App {
    pub fn new(env: Env) -> Result<Self> {
        let now = Timestamp::from_millis(Date::now().as_millis())
            .ok_or_else(|| Error::Internal("the clock is out of range".into()))?;
        let request_id = ids::random_hex::<16>()?;
        Ok(Self { db: env.d1("DB").ok().map(Db::new), settings: Settings::of(&env), now, request_id, env })
    }

    /// The database. Only a [`crate::callers::Scope`], which checks the caller, and upkeep may ask for it.
    pub fn db(&self) -> Result<&Db> {
        self.db.as_ref().ok_or(Error::Unavailable("DB binding not configured: see wrangler.toml"))
    }

    /// What the request has cost in D1 so far.
    pub fn cost(&self) -> Option<&Cost> {
        self.db.as_ref().map(Db::cost)
    }

    pub fn settings(&self) -> &Settings {
        self.settings
    }

    /// The time at which the request came in.
    pub fn now(&self) -> Timestamp {
        self.now
    }

    /// How long the request has taken so far. The clock of a Worker stands still between its waits.
    pub fn elapsed_millis(&self) -> u32 {
        let millis = Date::now().as_millis().saturating_sub(self.now.millis());
        u32::try_from(millis).unwrap_or(u32::MAX)
    }

    pub fn request_id(&self) -> &str {
        &self.request_id
    }

    /// The Durable Objects that keep the rate limits.
    pub fn limiters(&self) -> Result<ObjectNamespace> {
        self.env
            .durable_object("LIMITER")
            .map_err(|_| Error::Unavailable("LIMITER binding not configured: see wrangler.toml"))
    }
}
