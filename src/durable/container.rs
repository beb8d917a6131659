//! The container that a Durable Object owns. It is started when it is needed, without internet access, and waited for until
//! the server in it listens. It is stopped after some idle time.

use crate::outgoing::{OutgoingRequest, Route};
use std::cell::Cell;
use std::time::Duration;
use worker::js_sys::{Function, Object, Reflect};
use worker::wasm_bindgen::{JsCast, JsValue};
use worker::{Container, Date, Delay, Fetcher, State};

/// The response status of an object that has no container.
pub const NO_CONTAINER: u16 = 501;

/// What the runtime says if a container did not take a connection. Any other failure may have come after the server began
/// to work.
pub const NOT_LISTENING: &str = "container is not listening";

/// The port on which the server listens inside the container.
const PORT: u16 = 8080;
const HEALTH: &str = "http://container/health";

/// How long a container may take to start. A container that takes longer counts as hung.
const START: Duration = Duration::from_secs(20);
const ATTEMPT: Duration = Duration::from_secs(1);
const BETWEEN_ATTEMPTS: Duration = Duration::from_millis(100);

pub struct OwnedContainer {
    idle: Duration,
    /// Whether the server has answered since the container was started.
    ready: Cell<bool>,
    /// When the container is to be stopped, in milliseconds since 1970; 0 if this time is unknown.
    stops_at: Cell<u64>,
    /// How many requests use the container now.
    held: Cell<u32>,
    /// How often the container was started.
    starts: Cell<u32>,
}

/// The container is not stopped for idleness while this value lives.
pub struct Held<'a>(&'a OwnedContainer);

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.0.held.set(self.0.held.get().saturating_sub(1));
    }
}

impl OwnedContainer {
    pub fn new(idle: Duration) -> Self {
        let (ready, stops_at) = (Cell::new(false), Cell::new(0));
        Self { idle, ready, stops_at, held: Cell::new(0), starts: Cell::new(0) }
    }

    /// Begins a request: the idle time begins anew.
    pub async fn hold(&self, state: &State) -> worker::Result<Held<'_>> {
        self.held.set(self.held.get() + 1);
        let held = Held(self);
        self.put_off_the_stop(state).await?;
        Ok(held)
    }

    /// Postpones the alarm that stops the container. The alarm survives the object's eviction; a time of the last call in
    /// memory would not. The alarm is moved only a few times per idle time, not at each call, because each move is a write
    /// that costs money.
    async fn put_off_the_stop(&self, state: &State) -> worker::Result<()> {
        let millis = |span: Duration| u64::try_from(span.as_millis()).unwrap_or(u64::MAX);
        let now = Date::now().as_millis();
        if self.stops_at.get() < now + millis(self.idle - self.idle / 8) {
            state.storage().set_alarm(self.idle).await?;
            self.stops_at.set(now + millis(self.idle));
        }
        Ok(())
    }

    /// The alarm: stops the container, unless a request takes longer than the idle time.
    pub async fn idle_time_is_over(&self, state: &State) -> worker::Result<()> {
        self.stops_at.set(0);
        if self.held.get() > 0 {
            return self.put_off_the_stop(state).await;
        }
        match state.container().filter(Container::running) {
            Some(container) => self.stop(&container).await,
            None => Ok(()),
        }
    }

    /// Returns the server in the container, once the server listens. A dead container is reported as dead only after a
    /// while.
    pub async fn server(&self, container: &Container, begun: u64) -> worker::Result<Option<Fetcher>> {
        loop {
            if !container.running() {
                self.ready.set(false);
                start(container)?;
                self.starts.set(self.starts.get().wrapping_add(1));
            }
            let server = container.get_tcp_port(PORT)?;
            if self.ready.get() || is_well(&server).await {
                self.ready.set(true);
                return Ok(Some(server));
            }
            if Duration::from_millis(Date::now().as_millis().saturating_sub(begun)) > START {
                return Ok(None);
            }
            Delay::from(BETWEEN_ATTEMPTS).await;
        }
    }

    /// The server has not answered: the next request waits for it again.
    pub fn is_lost(&self) {
        self.ready.set(false);
    }

    pub async fn stop(&self, container: &Container) -> worker::Result<()> {
        self.ready.set(false);
        container.destroy(None).await
    }

    /// A number that changes with each start of the container by this object.
    pub fn starts(&self) -> u32 {
        self.starts.get()
    }
}

/// Starts the container with a plain object as options. The options class of `worker` always sends an entry point, and
/// an empty entry point replaces the one in the image.
fn start(container: &Container) -> worker::Result<()> {
    let options = Object::new();
    Reflect::set(&options, &"enableInternet".into(), &JsValue::FALSE)?;
    let container: &JsValue = container.as_ref();
    let start = Reflect::get(container, &"start".into())?.dyn_into::<Function>()?;
    start.call1(container, &options)?;
    Ok(())
}

/// Whether the server responds that it is healthy. An attempt can hang while the container starts.
async fn is_well(server: &Fetcher) -> bool {
    let request = OutgoingRequest { time: Some(ATTEMPT), ..OutgoingRequest::get(HEALTH) };
    request.send(Route::Container(server)).await.is_ok_and(|it| (200..300).contains(&it.status()))
}
