//! The context of one request: the bindings, the settings, the clock and the request's own id.

use crate::bucket::Bucket;
use crate::db::{Cost, Db, Freshness};
use crate::error::{Error, Result};
use crate::ids::{self, UpstreamId, WorkspaceId};
use crate::outgoing::UrlRules;
use crate::settings::{Settings, Storage};
use crate::time::Timestamp;
use std::sync::{Arc, Mutex, OnceLock};
use worker::js_sys::{Date, Reflect, Symbol};
use worker::wasm_bindgen::JsValue;
use worker::{Env, KvStore, ObjectNamespace};

/// The symbol under which the upkeep of a workspace's object finds the object itself (`workspace.js`). No variable of a deployment
/// has a symbol for its name.
const OBJECT: &str = "pegboard.object";

const NO_DB: Error = Error::Unavailable("DB binding not configured: see wrangler.toml");

pub struct App {
    env: Env,
    db: Option<Db>,
    /// Whether [`App::db`] is the database of one workspace, whose upkeep this is.
    is_in_object: bool,
    /// Opened at its first use, because most requests never use this database.
    benchmarks: OnceLock<Option<Db>>,
    cost: Arc<Cost>,
    /// The host that the request names, perhaps with a port. Work that no request asked for has none.
    own_host: Option<String>,
    settings: &'static Settings,
    now: Timestamp,
    request_id: String,
    /// The upstreams that are to be discovered after the response.
    due_upstreams: Mutex<Vec<(WorkspaceId, UpstreamId)>>,
}

impl App {
    pub fn new(env: Env) -> Result<Self> {
        let now = present().ok_or_else(|| Error::Internal("the clock is out of range".into()))?;
        let request_id = ids::random_hex::<16>()?;
        let cost = Arc::<Cost>::default();
        let settings = Settings::of(&env);
        let app = Self {
            db: None,
            is_in_object: false,
            benchmarks: OnceLock::new(),
            cost,
            own_host: None,
            settings,
            now,
            request_id,
            due_upstreams: Mutex::default(),
            env,
        };
        Ok(app.reading(&Freshness::Latest))
    }

    /// The context of the upkeep of a workspace's object: the object stands in the place of the database of all workspaces.
    pub fn in_object(env: Env) -> Result<Self> {
        let mut app = Self::new(env)?;
        let object = app.binding(&Symbol::for_(OBJECT)).ok_or_else(|| Error::Internal("there is no object".into()))?;
        app.db = Some(Db::of_object(object, app.cost.clone(), app.settings.d1_faults.as_deref()));
        app.is_in_object = true;
        Ok(app)
    }

    /// Whether this is the upkeep of a workspace's object, whose rows are in [`App::db`].
    pub fn is_in_object(&self) -> bool {
        self.is_in_object
    }

    /// Tells the workspace's object, if this is its upkeep, that a part of the upkeep has failed.
    pub fn note_failure_in_object(&self) {
        if let Some(object) = self.binding(&Symbol::for_(OBJECT)) {
            let _ = Reflect::set(&object, &"hasFailed".into(), &JsValue::TRUE);
        }
    }

    /// The same context, for a request that may read data of this freshness. A deployment without read replicas always
    /// reads the latest.
    pub fn reading(mut self, freshness: &Freshness) -> Self {
        self.db = self.open("DB", freshness);
        self
    }

    fn open(&self, binding: &str, freshness: &Freshness) -> Option<Db> {
        let freshness = Some(freshness).filter(|_| self.settings.read_replicas);
        self.binding(&binding.into()).map(|it| self.database(it, freshness))
    }

    fn database(&self, database: JsValue, freshness: Option<&Freshness>) -> Db {
        Db::new(database, freshness, self.cost.clone(), self.settings.d1_faults.as_deref())
    }

    /// A binding as JavaScript sees it. `Env::d1` also compares the name of the class, for which every request would cross to
    /// JavaScript four times more.
    fn binding(&self, name: &JsValue) -> Option<JsValue> {
        Reflect::get(self.env.as_ref(), name).ok().filter(|it| !it.is_undefined())
    }

    /// The database `DB`; within the upkeep of a workspace's object, that object. Only two kinds of code may use it: a
    /// [`crate::callers::Scope`], which checks the caller, and code about all workspaces, which is upkeep and the metrics.
    pub fn db(&self) -> Result<&Db> {
        self.db.as_ref().ok_or(NO_DB)
    }

    /// A database that holds only the rows of one workspace. None if all workspaces share [`App::db`], or if that is the
    /// workspace's own already.
    pub fn own_db(&self, workspace: &WorkspaceId) -> Result<Option<Db>> {
        let storage = self.settings.storage.ok_or(Error::Unavailable("STORAGE must be \"d1\" or \"objects\""))?;
        if storage == Storage::D1 || self.is_in_object {
            return Ok(None);
        }
        let no_objects = Error::Unavailable("WORKSPACES binding not configured: see wrangler.toml");
        let objects = self.binding(&"WORKSPACES".into()).ok_or(no_objects)?;
        Ok(Some(Db::of_workspace(&objects, workspace, self.cost.clone(), self.settings.d1_faults.as_deref())))
    }

    /// The directory of all workspaces that have objects, in D1.
    pub fn directory(&self) -> Result<Db> {
        self.open("DB", &Freshness::Latest).ok_or(NO_DB)
    }

    /// The database of the benchmarks, if there is one. It belongs to no workspace. Only a [`crate::callers::Scope`]
    /// may use it.
    /// Requests only read there, so that any replica will do.
    pub fn benchmarks(&self) -> Option<&Db> {
        self.benchmarks.get_or_init(|| self.open("BENCHMARKS_DB", &Freshness::Any)).as_ref()
    }

    /// The bookmark of the newest state of the database that the request has read or written. None without read
    /// replicas, or if the request has asked the database nothing.
    pub fn bookmark(&self) -> Option<String> {
        self.db.as_ref().and_then(Db::bookmark)
    }

    /// The cost of the request in D1 so far, over both databases.
    pub fn cost(&self) -> &Cost {
        &self.cost
    }

    pub fn settings(&self) -> &'static Settings {
        self.settings
    }

    /// The time at which the request arrived. Everything that the request changes in the registry has this one time.
    pub fn now(&self) -> Timestamp {
        self.now
    }

    /// The present time, for calls and their runs: one request may make many calls, for minutes. The clock of a Worker
    /// advances only while the Worker waits.
    pub fn clock(&self) -> Timestamp {
        present().unwrap_or(self.now)
    }

    /// The same context, for a request that came to this host.
    pub fn at_host(mut self, host: Option<&str>) -> Self {
        self.own_host = host.map(str::to_owned);
        self
    }

    /// The rules for the URLs that tools may have.
    pub fn url_rules(&self) -> UrlRules<'_> {
        let Settings { private_urls, open, .. } = self.settings;
        UrlRules { private: *private_urls, open: *open, own_host: self.own_host.as_deref() }
    }

    pub fn request_id(&self) -> &str {
        &self.request_id
    }

    /// The value of a secret that tools of the workspace may send to this host.
    pub fn credential(&self, workspace: &WorkspaceId, name: &str, host: &str) -> Option<String> {
        self.settings.lends_to_host(name, workspace, host).then(|| self.secret(name)).flatten()
    }

    /// Whether there is a secret that tools of the workspace may send to some host.
    pub fn has_credential(&self, workspace: &WorkspaceId, name: &str) -> bool {
        self.settings.lends(name, workspace) && self.secret(name).is_some()
    }

    fn secret(&self, name: &str) -> Option<String> {
        // A binding that is not text, such as a database, has no value to lend.
        let value = Reflect::get(self.env.as_ref(), &name.into()).ok()?;
        value.as_string().filter(|it| !it.is_empty())
    }

    /// Has an upstream discovered after the response.
    pub fn ask_again(&self, workspace: WorkspaceId, id: UpstreamId) {
        if let Ok(mut due) = self.due_upstreams.lock() {
            due.push((workspace, id));
        }
    }

    /// The upstreams that are to be discovered now that the response is made.
    pub fn take_due_upstreams(&self) -> Vec<(WorkspaceId, UpstreamId)> {
        self.due_upstreams.lock().map(|mut it| std::mem::take(&mut *it)).unwrap_or_default()
    }

    /// The cache of what upstreams say about their tools, if the deployment has one.
    pub fn manifests(&self) -> Option<KvStore> {
        self.env.kv("MANIFESTS").ok()
    }

    /// The bucket into which old calls go, if the deployment has one.
    pub fn archive(&self) -> Option<Bucket> {
        self.binding(&"ARCHIVE".into()).map(Bucket::new)
    }

    /// The Durable Objects that keep the rate limits.
    pub fn limiters(&self) -> Result<ObjectNamespace> {
        self.env
            .durable_object("LIMITER")
            .map_err(|_| Error::Unavailable("LIMITER binding not configured: see wrangler.toml"))
    }

    /// The Durable Objects that own calls of tools with a long timeout.
    pub fn long_calls(&self) -> Result<ObjectNamespace> {
        self.env
            .durable_object("LONG_CALLS")
            .map_err(|_| Error::Unavailable("LONG_CALLS binding not configured: see wrangler.toml"))
    }

    /// The Durable Objects that own the turns of chats.
    pub fn chats(&self) -> Result<ObjectNamespace> {
        self.env
            .durable_object("CHATS")
            .map_err(|_| Error::Unavailable("CHATS binding not configured: see wrangler.toml"))
    }

    /// The Durable Objects that own the sandbox's containers, if the deployment has any.
    pub fn sandboxes(&self) -> Option<ObjectNamespace> {
        self.env.durable_object("SANDBOX").ok()
    }

    /// The Durable Objects that own the containers of stdio MCP servers, if the deployment has any.
    pub fn mcp_hosts(&self) -> Option<ObjectNamespace> {
        self.env.durable_object("MCP_HOST").ok()
    }
}

/// The present time. JavaScript's `Date.now` gives a whole number of milliseconds, without making an object.
fn present() -> Option<Timestamp> {
    Timestamp::from_millis(Date::now() as u64)
}
