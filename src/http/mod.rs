//! Serves every route. This file holds the list of all routes, and the code that every request and response shares. A
//! handler takes typed arguments, calls one function of a room, and wraps the result.

mod address;
mod agents;
mod approvals;
mod attachments;
mod benchmarks;
mod body;
mod call_log;
mod chat;
mod cors;
mod credentials;
mod execute;
mod extract;
mod files;
mod formats;
mod history;
mod known_query;
mod mcp;
mod mcp_servers;
mod model_calls;
mod module_calls;
mod modules;
#[cfg(test)]
mod openapi;
mod origin;
mod oversight;
mod playground;
mod queries;
mod registry;
mod replicas;
mod respond;
mod restore_hint;
mod sessions;
mod site;
mod suggest;
mod tokens;
mod tools;
mod toolset_files;
mod toolset_overrides;
mod toolsets;
mod versions;
mod whoami;
mod wire;
mod workspace;

use crate::app::App;
use crate::error::Error;
use crate::ids::{UpstreamId, WorkspaceId};
use axum::Router;
use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, Request, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodFilter, MethodRouter, on};
use origin::RequestOrigin;
use std::cell::{OnceCell, RefCell};
use std::sync::Arc;
use tower_service::Service;
use utoipa::openapi::HttpMethod;
use worker::{Context, Env, console_error, web_sys};

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const COST: HeaderName = HeaderName::from_static("x-d1-cost");

/// The header with the bytes of the isolate's WebAssembly memory. This memory never shrinks, so the bytes are the most that
/// any request of the isolate has needed.
#[cfg(target_arch = "wasm32")]
const MEMORY: HeaderName = HeaderName::from_static("x-wasm-bytes");
#[cfg(target_arch = "wasm32")]
const WASM_PAGE_BYTES: usize = 64 * 1024;

/// Makes the router and the API's description from one list of handlers. Each handler carries its path and method in
/// its own attribute. So every route is described.
macro_rules! routes {
    ($($module:ident::$handler:ident),+ $(,)?) => {
        pastey::paste! {
            fn routes(guard: QueryGuard) -> Router {
                Router::new()$(.route(
                    &path_of(<$module::[<__path_ $handler>] as utoipa::Path>::path()),
                    guard(
                        &<$module::[<__path_ $handler>] as utoipa::Path>::path(),
                        &<$module::[<__path_ $handler>] as utoipa::Path>::methods(),
                        on(methods::<$module::[<__path_ $handler>]>(), $module::$handler),
                    ),
                ))+
            }
        }

        /// The description that utoipa makes from the attributes.
        #[cfg(test)]
        #[derive(utoipa::OpenApi)]
        #[openapi(paths($($module::$handler),+))]
        struct DescribedRoutes;
    };
}

routes![
    tools::list_tools,
    tools::get_tool,
    tools::describe_tool,
    tools::validate_arguments,
    tools::get_rate_limit,
    versions::register_tool,
    versions::list_versions,
    versions::get_version,
    versions::compare_versions,
    versions::roll_back_tool,
    versions::deactivate_version,
    versions::activate_version,
    credentials::list_credentials,
    credentials::create_credential,
    credentials::delete_credential,
    history::list_changes,
    history::get_state,
    registry::check_invariants,
    registry::take_backup,
    registry::restore_backup,
    agents::list_agents,
    agents::create_agent,
    agents::get_agent,
    agents::update_agent,
    agents::delete_agent,
    agents::get_toolbox,
    attachments::list_attached_tools,
    attachments::attach_tool,
    attachments::configure_tool,
    attachments::detach_tool,
    modules::list_modules,
    modules::create_module,
    modules::get_module,
    modules::update_module,
    modules::delete_module,
    modules::refresh_tools,
    modules::list_held_back,
    modules::accept_held_back,
    mcp_servers::list_mcp_servers,
    mcp_servers::create_mcp_server,
    mcp_servers::get_mcp_server,
    mcp_servers::update_mcp_server,
    mcp_servers::delete_mcp_server,
    mcp_servers::refresh_mcp_server,
    mcp_servers::list_held_back_of_mcp_server,
    mcp_servers::accept_held_back_of_mcp_server,
    toolsets::list_toolsets,
    toolsets::import_toolset,
    toolsets::get_toolset,
    toolsets::uninstall_toolset,
    toolsets::export_toolset,
    toolsets::enable_toolset,
    toolsets::disable_toolset,
    toolset_files::get_toolset_file,
    toolset_overrides::get_override,
    toolset_overrides::put_override,
    toolset_overrides::delete_override,
    whoami::get_caller,
    workspace::get_workspace,
    workspace::update_workspace,
    tokens::list_tokens,
    tokens::create_token,
    tokens::revoke_token,
    execute::execute_tool,
    module_calls::execute_module_tool,
    model_calls::run_tool_calls,
    chat::chat,
    chat::resume_chat,
    chat::stop_chat,
    playground::list_messages,
    playground::check_out_message,
    call_log::list_tool_calls,
    call_log::get_call_summary,
    call_log::get_call_series,
    call_log::get_tool_call,
    call_log::get_call_result,
    call_log::get_call_arguments,
    call_log::render_call,
    approvals::list_approvals,
    approvals::get_approval,
    approvals::approve_call,
    approvals::deny_call,
    sessions::list_sessions,
    sessions::get_session,
    sessions::delete_session,
    sessions::list_manifests,
    sessions::get_manifest,
    sessions::diff_manifests,
    sessions::check_out,
    sessions::branch_session,
    files::list_root,
    files::get_file,
    files::put_file,
    files::delete_file,
    benchmarks::list_inboxes,
    oversight::get_stats,
    oversight::get_health,
    oversight::get_metrics,
    mcp::speak,
    mcp::speak_in_workspace,
    mcp::speak_as_agent,
    site::welcome,
    site::health,
    site::openapi,
    site::docs,
];

/// Serves one request. `index.js` carries requests that write on when their client has left.
pub async fn serve(request: web_sys::Request, env: Env, context: &Context) -> worker::Result<web_sys::Response> {
    let due = DueUpstreams::default();
    let discovery_env = env.clone();
    let response = respond_to(&request, env, &due).await;
    let due = due.take();
    if !due.is_empty() {
        context.wait_until(crate::upkeep::refresh_noted(discovery_env, due));
    }
    response
}

/// The upstreams that the request has found to be due.
type DueUpstreams = RefCell<Vec<(WorkspaceId, UpstreamId)>>;

async fn respond_to(request: &web_sys::Request, env: Env, due: &DueUpstreams) -> worker::Result<web_sys::Response> {
    let response = match App::new(env) {
        Ok(app) => answer(app, request, due).await,
        Err(error) => finish("", error.into_response()),
    };
    wire::to_worker(response).await
}

async fn answer(app: App, js_request: &web_sys::Request, due: &DueUpstreams) -> Response {
    let (app, response) = match wire::from_worker(js_request).await {
        Ok(request) => route(app, js_request, request).await,
        Err(cause) => {
            let error = Error::query("", format!("The request cannot be read: {cause}"));
            (Arc::new(app), error.into_response())
        }
    };
    due.replace(app.take_due_upstreams());
    let mut response = finish(app.request_id(), response);
    replicas::tell(&app, response.headers_mut());
    if app.settings().cost_header
        && let Ok(cost) = HeaderValue::try_from(app.cost().to_string())
    {
        response.headers_mut().insert(COST, cost);
        #[cfg(target_arch = "wasm32")]
        response.headers_mut().insert(MEMORY, HeaderValue::from(core::arch::wasm32::memory_size(0) * WASM_PAGE_BYTES));
    }
    response
}

/// Gives the request its context, and hands it to its handler.
async fn route(app: App, js_request: &web_sys::Request, mut request: Request<Body>) -> (Arc<App>, Response) {
    let origin = RequestOrigin::of(request.headers(), request.uri());
    let app = app.at_host(origin.host);
    if !origin.host_is_answered(app.settings()) {
        return (Arc::new(app), Error::Misdirected.into_response());
    }
    match replicas::requested(app.settings(), request.headers()) {
        Err(error) => (Arc::new(app), error.into_response()),
        Ok(freshness) => {
            let app = Arc::new(match freshness {
                None => app,
                Some(it) => app.reading(&it),
            });
            request.extensions_mut().insert(app.clone());
            address::drop_trailing_slash(&mut request);
            let has_query = request.uri().query().is_some();
            let Ok(mut response) = router(&app, has_query).call(request).await;
            address::name_methods(&mut response);
            let response = suggest::nearest(&app, js_request, response).await;
            (app, response)
        }
    }
}

/// Guards the endpoint of a path and its methods against unknown query parameters.
type QueryGuard = fn(&str, &[HttpMethod], MethodRouter) -> MethodRouter;

/// The router for a request with or without a query. Each is built once per isolate, and a clone only counts one more
/// reference. Most requests have no query, and a guard on each route would cost them a twentieth of their time.
fn router(app: &App, has_query: bool) -> Router {
    thread_local! {
        static GUARDED: OnceCell<Router> = const { OnceCell::new() };
        static PLAIN: OnceCell<Router> = const { OnceCell::new() };
    }
    let (router, guard): (_, QueryGuard) = match has_query {
        true => (&GUARDED, known_query::guarded),
        false => (&PLAIN, |_, _, endpoint| endpoint),
    };
    router.with(|router| {
        router
            .get_or_init(|| {
                routes(guard)
                    .fallback(async || Error::NoRoute)
                    .method_not_allowed_fallback(address::method_not_allowed)
                    .layer(cors::layer(app.settings()))
            })
            .clone()
    })
}

/// Logs the cause of a failure, writes the envelope of an error, and sets the headers that every response has. A
/// response to an MCP request has its body already: the error as JSON-RPC writes it.
fn finish(request_id: &str, mut response: Response) -> Response {
    if let Some(error) = response.extensions_mut().remove::<Arc<Error>>() {
        if let Error::Internal(cause) = &*error {
            console_error!("request {request_id} failed: {cause}");
        }
        if !response.headers().contains_key(header::CONTENT_TYPE) {
            *response.body_mut() = Body::from(error.envelope(request_id).to_string());
            let headers = response.headers_mut();
            headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
            headers.remove(header::CONTENT_LENGTH);
        }
    }
    let headers = response.headers_mut();
    if let Ok(id) = HeaderValue::try_from(request_id) {
        headers.insert(REQUEST_ID, id);
    }
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}

/// The path of a route as the router spells it. The parameter `path` is the rest of the URL with its slashes. OpenAPI
/// has no notation for such a parameter.
fn path_of(path: String) -> String {
    path.replace("{path}", "{*path}")
}

/// The methods that the attribute of a handler names.
fn methods<P: utoipa::Path>() -> MethodFilter {
    P::methods()
        .into_iter()
        .map(|method| match method {
            HttpMethod::Get => MethodFilter::GET,
            HttpMethod::Post => MethodFilter::POST,
            HttpMethod::Put => MethodFilter::PUT,
            HttpMethod::Delete => MethodFilter::DELETE,
            HttpMethod::Options => MethodFilter::OPTIONS,
            HttpMethod::Head => MethodFilter::HEAD,
            HttpMethod::Patch => MethodFilter::PATCH,
            HttpMethod::Trace => MethodFilter::TRACE,
        })
        .reduce(MethodFilter::or)
        .unwrap_or(MethodFilter::GET)
}
