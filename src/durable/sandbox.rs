//! The sandbox's containers. Each object owns one container. The object starts the container at the first call, without
//! internet access, and waits until the server in the container listens. The object then passes calls on, and stops the
//! container after some idle time.
//!
//! Code that works on no files leaves no trace outside the sandbox, so a call whose container died is simply retried. Code
//! that works on files may have acted, and what it got to see may have been told: such a run is never sent twice.

use crate::app::App;
use crate::durable::container::{NO_CONTAINER, NOT_LISTENING, OwnedContainer};
use crate::ids::WorkspaceId;
use crate::outgoing::{OutgoingFailure, OutgoingRequest, OutgoingResponse, Route};
use crate::settings::Settings;
use sha2::{Digest, Sha256};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use worker::{
    Container, Date, DurableObject, Env, Request, Response, State, console_error, durable_object, wasm_bindgen,
};

const NOT_STARTED: u16 = 503;
const BUSY: u16 = 429;

/// The status of an object whose container broke off: the job may have begun.
pub const BROKEN_OFF: u16 = 502;

/// What a sandbox is asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SandboxRoute {
    Run,
    /// Looks at the code without running it.
    Check,
    /// Runs code on files.
    FilesRun,
    /// Takes contents of files for a run that is to come.
    FilesContents,
    /// Returns contents of files that a run has left behind.
    FilesRead,
    /// Loads modules, and describes their functions.
    Inspect,
}

impl SandboxRoute {
    const ALL: [Self; 6] =
        [Self::Run, Self::Check, Self::FilesRun, Self::FilesContents, Self::FilesRead, Self::Inspect];

    pub const fn path(self) -> &'static str {
        match self {
            Self::Run => "/run",
            Self::Check => "/check",
            Self::FilesRun => "/files/run",
            Self::FilesContents => "/files/contents",
            Self::FilesRead => "/files/read",
            Self::Inspect => "/inspect",
        }
    }

    const fn url(self) -> &'static str {
        match self {
            Self::Run => "http://sandbox/run",
            Self::Check => "http://sandbox/check",
            Self::FilesRun => "http://sandbox/files/run",
            Self::FilesContents => "http://sandbox/files/contents",
            Self::FilesRead => "http://sandbox/files/read",
            Self::Inspect => "http://sandbox/inspect",
        }
    }

    /// The route of a job that came to an object.
    fn of(path: &str) -> Self {
        Self::ALL.into_iter().find(|it| it.path() == path).unwrap_or(Self::Run)
    }

    /// Whether a container that died during the request may be asked again. A container that has started anew knows nothing
    /// of contents that were sent or left behind before.
    const fn is_repeatable(self) -> bool {
        match self {
            Self::Run | Self::Check => true,
            // An inspection needs contents that were sent before, as a run on files does.
            Self::FilesRun | Self::FilesContents | Self::FilesRead | Self::Inspect => false,
        }
    }

    /// Whether a busy container may be passed over. What follows a run must go to the container of the run.
    const fn may_go_elsewhere(self) -> bool {
        match self {
            Self::Run | Self::Check | Self::FilesRun | Self::Inspect => true,
            Self::FilesContents | Self::FilesRead => false,
        }
    }

    /// How long a container may take to respond. A container that takes longer counts as hung.
    const fn answer_time(self) -> Duration {
        match self {
            Self::Run | Self::Check | Self::FilesContents | Self::FilesRead => Duration::from_secs(30),
            // The longest timeout of code that works on files, and the time to wait for its slot.
            Self::FilesRun | Self::Inspect => Duration::from_secs(120 + 25),
        }
    }
}

/// How long a call keeps trying other containers while containers are busy.
const ROUND_MILLIS: u32 = 5_000;

/// How many containers the calls of one workspace use at most. The calls of one workspace then never fill the
/// containers of all others.
const CONTAINERS_PER_WORKSPACE: u32 = 2;

/// Known after the first request, and constant for the life of the isolate: this deployment has no containers.
static NO_CONTAINERS: AtomicBool = AtomicBool::new(false);

/// Whether Python has somewhere to run, as far as this isolate knows. No container is asked.
pub fn is_configured(app: &App) -> bool {
    let has_containers = || app.sandboxes().is_some() && !NO_CONTAINERS.load(Ordering::Relaxed);
    app.settings().sandbox_url.is_some() || has_containers()
}

/// The requests that belong to one call. They all go to one container, because a container keeps the contents of files
/// that it was sent. Only a busy container, which has begun nothing, is left for the next one.
pub struct SandboxConversation {
    /// The containers that have not been asked yet.
    containers: VecDeque<u32>,
    /// The container that is asked now.
    container: u32,
}

impl SandboxConversation {
    pub fn new(app: &App, workspace: &WorkspaceId) -> Self {
        let mut containers = containers(workspace, app.settings().sandbox_instances).collect::<VecDeque<_>>();
        // There is at least one container.
        let container = containers.pop_front().unwrap_or(0);
        Self { containers, container }
    }

    /// Sends a job to the container of the conversation, or to the next container if that one is busy. A workspace uses no
    /// further container. Returns none if this deployment has no containers.
    pub async fn send(
        &mut self,
        app: &App,
        route: SandboxRoute,
        asked: &str,
        time: Option<Duration>,
    ) -> Result<Option<OutgoingResponse>, OutgoingFailure> {
        let Some(sandboxes) = app.sandboxes().filter(|_| !NO_CONTAINERS.load(Ordering::Relaxed)) else {
            return Ok(None);
        };
        let begun = app.clock();
        loop {
            let sandbox = sandboxes.get_by_name(&format!("sandbox-{}", self.container));
            let sandbox = sandbox.map_err(|cause| OutgoingFailure::Unreachable(cause.to_string()))?;
            let request = OutgoingRequest { time, ..OutgoingRequest::post(route.url(), asked) };
            let answer = request.send(Route::Object(&sandbox)).await?;
            if answer.status() == NO_CONTAINER {
                NO_CONTAINERS.store(true, Ordering::Relaxed);
                return Ok(None);
            }
            let may_go_on =
                answer.status() == BUSY && route.may_go_elsewhere() && app.clock().millis_since(begun) < ROUND_MILLIS;
            match self.containers.front() {
                Some(next) if may_go_on => self.container = *next,
                Some(_) | None => return Ok(Some(answer)),
            }
            self.containers.pop_front();
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
            let request =
                OutgoingRequest { time: Some(route.answer_time()), ..OutgoingRequest::post(route.url(), asked) };
            let cause = match request.send(Route::Container(&server)).await {
                Ok(response) => return response.into_response(),
                Err(OutgoingFailure::Unusable(cause)) => return Err(cause.into()),
                Err(OutgoingFailure::Unreachable(cause) | OutgoingFailure::BrokenOff(cause)) => cause,
                Err(OutgoingFailure::TimedOut | OutgoingFailure::TooLarge | OutgoingFailure::NotText) => {
                    let status = if route.is_repeatable() { NOT_STARTED } else { BROKEN_OFF };
                    return self.give_up(container, status).await;
                }
            };
            // The container has died. The loop starts it again.
            console_error!("a sandbox container broke off: {cause}");
            self.container.is_lost();
            if !route.is_repeatable() && !cause.to_ascii_lowercase().contains(NOT_LISTENING) {
                return Response::error("The sandbox container broke off, and the job may have begun", BROKEN_OFF);
            }
        }
        self.give_up(container, NOT_STARTED).await
    }

    /// Stops the container, which may hang for good. The next call gets a new container.
    async fn give_up(&self, container: &Container, status: u16) -> worker::Result<Response> {
        console_error!("a sandbox container does not answer, and is stopped");
        self.container.stop(container).await?;
        Response::error("The sandbox container did not answer in time", status)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_passes_a_job_on_to_its_own_route() {
        for route in SandboxRoute::ALL {
            assert_eq!(route.url(), format!("http://sandbox{}", route.path()));
            assert_eq!(SandboxRoute::of(route.path()), route);
        }
    }

    #[test]
    fn a_run_on_files_is_never_repeated_and_has_its_whole_time() {
        assert!(!SandboxRoute::FilesRun.is_repeatable());
        assert!(SandboxRoute::FilesRun.answer_time() > Duration::from_secs(120));
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
