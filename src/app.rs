//! What one request has to work with: the bindings, the settings, the clock and its own id.

use crate::db::Db;
use crate::error::{Error, Result};
use crate::ids;
use crate::settings::Settings;
use crate::time::Timestamp;
use worker::{Date, Env, ObjectNamespace};

pub struct App {
    env: Env,
    db: Db,
    settings: &'static Settings,
    now: Timestamp,
    request_id: String,
}

impl App {
    pub fn new(env: Env) -> Result<Self> {
        let database = env.d1("DB").map_err(|_| Error::Unavailable("DB binding not configured: see wrangler.toml"))?;
        let now = Timestamp::from_millis(Date::now().as_millis())
            .ok_or_else(|| Error::Internal("the clock is out of range".into()))?;
        Ok(Self { db: Db::new(database), settings: Settings::of(&env), now, request_id: ids::random_hex::<16>()?, env })
    }

    pub fn db(&self) -> &Db {
        &self.db
    }

    pub fn settings(&self) -> &Settings {
        self.settings
    }

    /// The time at which the request came in.
    pub fn now(&self) -> Timestamp {
        self.now
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
