//! The way into the sandbox container. Each object owns one container: it starts it at the first
//! request, without internet, waits until it listens, and passes requests on as they are.

use futures_util::future::{Either, select};
use std::time::Duration;
use worker::{
    Container, ContainerStartupOptions, Delay, DurableObject, Env, Fetcher, Request, Response, State, durable_object,
    wasm_bindgen,
};

/// Where the sandbox's server listens inside the container.
const PORT: u16 = 8080;
const START_ATTEMPTS: u32 = 50;
const ATTEMPT: Duration = Duration::from_secs(1);
const BETWEEN_ATTEMPTS: Duration = Duration::from_millis(100);

#[durable_object]
pub struct Sandbox {
    state: State,
}

impl DurableObject for Sandbox {
    fn new(state: State, _env: Env) -> Self {
        Self { state }
    }

    async fn fetch(&self, request: Request) -> worker::Result<Response> {
        let Some(container) = self.state.container() else {
            return Response::error("This deployment has no sandbox container", 503);
        };
        match ready(&container).await? {
            Some(server) => server.fetch_request(request).await?.try_into(),
            None => Response::error("The sandbox container did not start in time", 503),
        }
    }
}

/// The server in the container, once it listens.
async fn ready(container: &Container) -> worker::Result<Option<Fetcher>> {
    if !container.running() {
        let mut options = ContainerStartupOptions::new();
        options.enable_internet(false);
        container.start(Some(options))?;
    }
    for _ in 0..START_ATTEMPTS {
        let server = container.get_tcp_port(PORT)?;
        if is_well(&server).await {
            return Ok(Some(server));
        }
        Delay::from(BETWEEN_ATTEMPTS).await;
    }
    Ok(None)
}

/// Whether the server answers that it is well; an attempt can hang while the container starts.
async fn is_well(server: &Fetcher) -> bool {
    let answer = Box::pin(server.fetch("http://sandbox/health", None));
    let deadline = Box::pin(Delay::from(ATTEMPT));
    match select(answer, deadline).await {
        Either::Left((Ok(response), _)) => response.status().is_success(),
        Either::Left((Err(_), _)) | Either::Right(_) => false,
    }
}
