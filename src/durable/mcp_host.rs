//! The containers of stdio MCP servers: one object, and one container, for each server of a workspace. A configuration that
//! is put starts the container. The object passes requests on to the host in it (docs/mcp-host.md).
//!
//! A call of a tool may act, so no request is sent twice once the container has taken it. A container has no internet. If
//! the server may reach some hosts, requests to them come to this object, which sends them on.

use crate::app::App;
use crate::durable::container::{NO_CONTAINER, NOT_LISTENING, OwnedContainer};
use crate::ids::WorkspaceId;
use crate::settings::Settings;
use serde_json::json;
use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::time::Duration;
use worker::js_sys::{Function, Promise, Reflect, Uint8Array};
use worker::wasm_bindgen::{JsCast, JsValue};
use worker::wasm_bindgen_futures::JsFuture;
use worker::web_sys::{self, RequestRedirect};
use worker::{
    Container, Date, DurableObject, Env, Fetch, Headers, Method, Request, Response, State, Stub, console_error,
    durable_object, wasm_bindgen,
};

/// The host part of the URLs that the Worker asks an object for. A request with another host comes from the container.
pub const ORIGIN: &str = "http://mcp-host.internal";
const HOST: &str = "mcp-host.internal";

/// The hosts that the server may reach, separated by commas. The object keeps the header to itself.
pub const ALLOWED_HOSTS: &str = "Mcp-Host-Allowed-Hosts";

const BINDING: &str = "MCP_HOST";
const NO_CONTENT: u16 = 204;
const FORBIDDEN: u16 = 403;
const NOT_FOUND: u16 = 404;
const NO_CONFIGURATION: u16 = 412;
const BROKEN_OFF: u16 = 502;
const NOT_STARTED: u16 = 503;
const RETRY_SECONDS: &str = "5";

/// What the runtime says if there is no container to be had.
const NONE_LEFT: &str = "there is no container instance";

/// The object of a server, if the deployment has such objects. The object answers 501 if it has no container.
pub fn object(app: &App, workspace: &WorkspaceId, server: &str) -> worker::Result<Option<Stub>> {
    let Some(objects) = app.mcp_hosts() else { return Ok(None) };
    // No workspace has a colon in its name, so no two servers share an object.
    objects.get_by_name(&format!("{workspace}:{server}")).map(Some)
}

#[durable_object(alarm)]
pub struct McpHost {
    state: State,
    env: Env,
    container: OwnedContainer,
    /// The hosts that the last request allowed. Nothing is allowed before a request says so.
    allowed: RefCell<BTreeSet<String>>,
    /// The hosts whose requests come to this object, and the start of the container for which this holds.
    intercepted: RefCell<BTreeSet<String>>,
    intercepted_start: Cell<u32>,
}

impl DurableObject for McpHost {
    fn new(state: State, env: Env) -> Self {
        let idle = Duration::from_secs(Settings::of(&env).mcp_host_idle_seconds.into());
        Self {
            state,
            env,
            container: OwnedContainer::new(idle),
            allowed: RefCell::default(),
            intercepted: RefCell::default(),
            intercepted_start: Cell::new(0),
        }
    }

    async fn fetch(&self, request: Request) -> worker::Result<Response> {
        let Some(container) = self.state.container() else {
            return Response::error("This deployment has no container for MCP servers", NO_CONTAINER);
        };
        if request.url()?.host_str() != Some(HOST) {
            return self.send_out(&request).await;
        }
        let method = request.method();
        if !container.running() && method != Method::Put {
            return without_container(&method);
        }
        if removes_server(&method, &request.path()) {
            self.container.stop(&container).await?;
            return without_container(&method);
        }
        // A look at a server does not keep it up.
        let _held = match method {
            Method::Get => None,
            _ => Some(self.container.hold(&self.state).await?),
        };
        self.pass_on(&container, request).await
    }

    async fn alarm(&self) -> worker::Result<Response> {
        self.container.idle_time_is_over(&self.state).await?;
        Response::empty()
    }
}

impl McpHost {
    async fn pass_on(&self, container: &Container, mut request: Request) -> worker::Result<Response> {
        let hosts = allowed_hosts(&request.headers().get(ALLOWED_HOSTS)?.unwrap_or_default());
        // Other requests say nothing about hosts, and must not cut off a call.
        if request.method() == Method::Post {
            *self.allowed.borrow_mut() = hosts.clone();
        }
        let body = request.bytes().await?;
        let begun = Date::now().as_millis();
        while let Some(server) = self.container.server(container, begun).await? {
            self.intercept(container, &hosts).await;
            let passed_on = server.fetch_request(copy(&request, &body)?).await;
            let cause = match passed_on.and_then(TryInto::try_into) {
                Ok(response) => return Ok(response),
                Err(cause) => cause.to_string(),
            };
            console_error!("a container of an MCP server broke off: {cause}");
            self.container.is_lost();
            let words = cause.to_ascii_lowercase();
            if words.contains(NONE_LEFT) {
                return told(NOT_STARTED, "All containers of MCP servers are taken: try again in a few seconds");
            }
            // Anything else may have come after the server began to work.
            if !words.contains(NOT_LISTENING) {
                return told(BROKEN_OFF, "The container broke off before it answered");
            }
        }
        // The container may hang for good. The next request gets a new container.
        console_error!("a container of an MCP server does not start, and is stopped");
        self.container.stop(container).await?;
        told(NOT_STARTED, "The container did not start in time: try again in a few seconds")
    }

    /// Has requests of the container to these hosts sent to this object. If that fails, they go nowhere.
    async fn intercept(&self, container: &Container, hosts: &BTreeSet<String>) {
        let start = self.container.starts();
        if self.intercepted_start.replace(start) != start {
            self.intercepted.borrow_mut().clear();
        }
        let new: Vec<String> = hosts.difference(&self.intercepted.borrow()).cloned().collect();
        for host in new {
            match self.intercept_host(container, &host).await {
                Ok(()) => drop(self.intercepted.borrow_mut().insert(host)),
                Err(cause) => console_error!("an MCP server cannot reach {host}: {cause}"),
            }
        }
    }

    async fn intercept_host(&self, container: &Container, host: &str) -> worker::Result<()> {
        let objects = self.env.durable_object(BINDING)?;
        let own: JsValue = objects.id_from_string(&self.state.id().to_string())?.get_stub()?.into_rpc();
        let container: &JsValue = container.as_ref();
        for method in ["interceptOutboundHttp", "interceptOutboundHttps"] {
            let intercept = Reflect::get(container, &method.into())?.dyn_into::<Function>()?;
            let done = intercept.call2(container, &host.into(), &own)?;
            JsFuture::from(done.dyn_into::<Promise>()?).await?;
        }
        Ok(())
    }

    /// Sends a request of the container to the network, if its host is allowed. A redirect goes back to the container, which
    /// would have to ask again.
    async fn send_out(&self, request: &Request) -> worker::Result<Response> {
        let url = request.url()?;
        let host = url.host_str().unwrap_or_default();
        if !self.allowed.borrow().contains(host) {
            return told(FORBIDDEN, "The MCP server may not reach this host");
        }
        let options = web_sys::RequestInit::new();
        options.set_redirect(RequestRedirect::Manual);
        let request = web_sys::Request::new_with_request_and_init(request.inner(), &options)?;
        Fetch::Request(request.into()).send().await
    }
}

/// What a host without any configuration would answer.
fn without_container(method: &Method) -> worker::Result<Response> {
    match method {
        Method::Delete => Ok(Response::empty()?.with_status(NO_CONTENT)),
        Method::Post => told(NO_CONFIGURATION, "configuration needed"),
        _ => told(NOT_FOUND, "there is nothing here"),
    }
}

/// Whether a request deletes the server, and with it everything in the container. A session is not deleted like this.
fn removes_server(method: &Method, path: &str) -> bool {
    *method == Method::Delete && !path.ends_with("/mcp")
}

/// The host names of a list, in lower case. What is no host name is left out.
fn allowed_hosts(list: &str) -> BTreeSet<String> {
    let hosts = list.split(',').map(|it| it.trim().to_ascii_lowercase());
    let is_name = |it: &String| it.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-".contains(&byte));
    hosts.filter(|it| !it.is_empty() && it != HOST && is_name(it)).collect()
}

/// The same request with its body, which can be sent again as long as the container has not taken it.
fn copy(request: &Request, body: &[u8]) -> worker::Result<Request> {
    let headers = Headers::new();
    for (name, value) in request.headers() {
        if !name.eq_ignore_ascii_case(ALLOWED_HOSTS) {
            headers.append(&name, &value)?;
        }
    }
    let options = web_sys::RequestInit::new();
    options.set_method(request.method().as_ref());
    options.set_redirect(RequestRedirect::Manual);
    options.set_headers(headers.as_ref());
    if !body.is_empty() {
        options.set_body(&Uint8Array::from(body));
    }
    Ok(web_sys::Request::new_with_str_and_init(request.url()?.as_str(), &options)?.into())
}

/// A refusal in the form of the host's own.
fn told(status: u16, words: &str) -> worker::Result<Response> {
    let response = Response::from_json(&json!({"error": words}))?.with_status(status);
    if status == NOT_STARTED {
        response.headers().set("Retry-After", RETRY_SECONDS)?;
    }
    Ok(response)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_session_is_not_the_end_of_its_server() {
        assert!(removes_server(&Method::Delete, "/servers/ws:time"));
        assert!(!removes_server(&Method::Delete, "/servers/ws:time/mcp"));
        assert!(!removes_server(&Method::Put, "/servers/ws:time"));
    }

    #[test]
    fn hosts_are_plain_names() {
        let hosts = |list: &str| allowed_hosts(list).into_iter().collect::<Vec<_>>();
        assert_eq!(hosts("API.example.com, b.example,,"), ["api.example.com", "b.example"]);
        assert_eq!(hosts("*, *.example, a b, http://x, x:8080, mcp-host.internal"), Vec::<String>::new());
    }
}
