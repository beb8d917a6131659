//! The sandbox's containers. Each object owns one container. The object starts the container at the first call, without
//! internet access, and waits until the server in the container listens. The object then passes calls on, and stops the
//! container after some idle time.
//!
//! Code in a sandbox leaves no trace outside the sandbox. A call whose container died is therefore simply retried.

use crate::app::App;
use crate::durable::container::{NO_CONTAINER, OwnedContainer};
use crate::ids::WorkspaceId;
use crate::outgoing::{OutgoingFailure, OutgoingRequest, OutgoingResponse, Route};
use crate::settings::Settings;
use sha2::{Digest, Sha256};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use worker::{
    Container, Date, DurableObject, Env, Request, Response, State, console_error, durable_object, wasm_bindgen,
};

const NOT_STARTED: u16 = 503;
const BUSY: u16 = 429;

/// What a sandbox does with the code of a job.
#[derive(Clone, Copy)]
pub enum SandboxRoute {
    Run,
    /// Looks at the code without running it.
    Check,
}

impl SandboxRoute {
    pub const fn path(self) -> &'static str {
        match self {
            Self::Run => "/run",
            Self::Check => "/check",
        }
    }

    const fn url(self) -> &'static str {
        match self {
            Self::Run => "http://sandbox/run",
            Self::Check => "http://sandbox/check",
        }
    }

    /// The route of a job that came to an object.
    fn of(path: &str) -> Self {
        if path == Self::Check.path() { Self::Check } else { Self::Run }
    }
}

/// How long a container may take to respond to a call. A container that takes longer counts as hung.
const ANSWER: Duration = Duration::from_secs(30);

/// How long a call keeps trying other containers while containers are busy.
const ROUND_MILLIS: u32 = 5_000;

/// How many containers the calls of one workspace use at most. The calls of one workspace then never fill the
/// containers of all others.
const CONTAINERS_PER_WORKSPACE: u32 = 2;

/// Sends a job to the container of the workspace, or to the next container if that one is busy. A workspace uses no
/// further container. Returns none if this deployment has no containers.
pub async fn send(
    app: &App,
    workspace: &WorkspaceId,
    route: SandboxRoute,
    asked: &str,
) -> Result<Option<OutgoingResponse>, OutgoingFailure> {
    // Known after the first request, and constant for the life of the isolate.
    static NONE: AtomicBool = AtomicBool::new(false);
    let Some(sandboxes) = app.sandboxes().filter(|_| !NONE.load(Ordering::Relaxed)) else { return Ok(None) };
    let instances = app.settings().sandbox_instances;
    let mut containers = containers(workspace, instances);
    let begun = app.clock();
    loop {
        // There is at least one container.
        let instance = containers.next().unwrap_or(0);
        let sandbox = sandboxes.get_by_name(&format!("sandbox-{instance}"));
        let sandbox = sandbox.map_err(|cause| OutgoingFailure::Unreachable(cause.to_string()))?;
        let answer = OutgoingRequest::post(route.url(), asked).send(Route::Object(&sandbox)).await?;
        match answer.status() {
            NO_CONTAINER => {
                NONE.store(true, Ordering::Relaxed);
                return Ok(None);
            }
            BUSY if containers.len() > 0 && app.clock().millis_since(begun) < ROUND_MILLIS => {}
            _ => return Ok(Some(answer)),
        }
    }
}

/// The numbers of the containers that may run the calls of a workspace, in the order in which they are asked.
fn containers(workspace: &WorkspaceId, instances: u32) -> impl ExactSizeIterator<Item = u32> {
    let home = home(workspace, instances);
    (0..CONTAINERS_PER_WORKSPACE.min(instances)).map(move |next| (home + next) % instances)
}

/// The number of a workspace's first container. All calls of a workspace go to one container, which keeps that container
/// warm. The workspaces are spread over all containers.
fn home(workspace: &WorkspaceId, instances: u32) -> u32 {
    let digest = Sha256::digest(workspace.as_str());
    let number = digest.iter().take(4).fold(0, |number, byte| number << 8 | u32::from(*byte));
    number % instances
}

#[durable_object(alarm)]
pub struct Sandbox {
    state: State,
    container: OwnedContainer,
}

impl DurableObject for Sandbox {
    fn new(state: State, env: Env) -> Self {
        let idle = Duration::from_secs(Settings::of(&env).sandbox_idle_seconds.into());
        Self { state, container: OwnedContainer::new(idle) }
    }

    async fn fetch(&self, mut request: Request) -> worker::Result<Response> {
        let Some(container) = self.state.container() else {
            return Response::error("This deployment has no sandbox container", NO_CONTAINER);
        };
        let route = SandboxRoute::of(&request.path());
        let asked = request.text().await?;
        let _held = self.container.hold(&self.state).await?;
        self.pass_on(&container, route, &asked).await
    }

    async fn alarm(&self) -> worker::Result<Response> {
        self.container.idle_time_is_over(&self.state).await?;
        Response::empty()
    }
}

impl Sandbox {
    async fn pass_on(&self, container: &Container, route: SandboxRoute, asked: &str) -> worker::Result<Response> {
        let begun = Date::now().as_millis();
        while let Some(server) = self.container.server(container, begun).await? {
            let request = OutgoingRequest { time: Some(ANSWER), ..OutgoingRequest::post(route.url(), asked) };
            match request.send(Route::Container(&server)).await {
                Ok(response) => return response.into_response(),
                Err(OutgoingFailure::Unusable(cause)) => return Err(cause.into()),
                // The container has died. The loop starts it again.
                Err(OutgoingFailure::Unreachable(cause) | OutgoingFailure::BrokenOff(cause)) => {
                    console_error!("a sandbox container broke off: {cause}");
                }
                Err(OutgoingFailure::TimedOut | OutgoingFailure::TooLarge | OutgoingFailure::NotText) => break,
            }
            self.container.is_lost();
        }
        // The container may hang for good. The next call gets a new container.
        console_error!("a sandbox container does not answer, and is stopped");
        self.container.stop(container).await?;
        Response::error("The sandbox container did not answer in time", NOT_STARTED)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_passes_a_job_on_to_its_own_route() {
        for route in [SandboxRoute::Run, SandboxRoute::Check] {
            assert!(route.url().ends_with(route.path()));
            assert_eq!(SandboxRoute::of(route.path()).path(), route.path());
        }
    }

    #[test]
    fn a_workspace_uses_two_containers_at_most() {
        let workspace = WorkspaceId::parse("ws").unwrap();
        for (instances, expected) in [(1, 1), (2, 2), (5, 2)] {
            let asked = containers(&workspace, instances).collect::<std::collections::BTreeSet<_>>();
            assert_eq!(asked.len(), expected);
            assert!(asked.contains(&home(&workspace, instances)));
        }
    }

    #[test]
    fn workspaces_are_spread_over_all_containers_and_stay() {
        let homes = |instances| {
            let mut calls = vec![0; 5];
            for number in 0..1_000 {
                let workspace = WorkspaceId::parse(&format!("ws_{number}")).unwrap();
                assert_eq!(home(&workspace, instances), home(&workspace, instances));
                calls[home(&workspace, instances) as usize] += 1;
            }
            calls
        };
        assert!(homes(5).iter().all(|calls| (150..250).contains(calls)), "{:?}", homes(5));
        assert_eq!(homes(1), [1_000, 0, 0, 0, 0]);
    }
}
