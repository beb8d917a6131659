//! The HTTP face: the table of all routes, and what every request and answer has in common.
//! Handlers take typed arguments, call one function of a room, and wrap what it gives.

mod agents;
mod approvals;
mod attachments;
mod benchmarks;
mod calls;
mod cors;
mod credentials;
mod execute;
mod extract;
mod files;
mod formats;
mod history;
mod mcp;
#[cfg(not(target_arch = "wasm32"))]
pub mod openapi;
mod origin;
mod oversight;
mod registry;
mod respond;
mod sessions;
mod site;
mod tokens;
mod tool_calls;
mod tools;
mod versions;
mod wire;

use crate::app::App;
use crate::error::Error;
use axum::Router;
use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodFilter, on};
use std::cell::OnceCell;
use std::sync::Arc;
use tower_service::Service;
use utoipa::openapi::HttpMethod;
use worker::{Env, console_error, web_sys};

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const COST: HeaderName = HeaderName::from_static("x-d1-cost");

/// Makes the router and the API's description from one list of handlers, each of which carries its
/// path and method in its own attribute. So no route can go undescribed.
macro_rules! routes {
    ($($module:ident::$handler:ident),+ $(,)?) => {
        pastey::paste! {
            fn routes() -> Router {
                Router::new()$(.route(
                    &route(<$module::[<__path_ $handler>] as utoipa::Path>::path()),
                    on(methods::<$module::[<__path_ $handler>]>(), $module::$handler),
                ))+
            }
        }

        /// What the attributes say.
        #[cfg(not(target_arch = "wasm32"))]
        #[derive(utoipa::OpenApi)]
        #[openapi(paths($($module::$handler),+))]
        struct Described;
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
    tokens::list_tokens,
    tokens::create_token,
    tokens::revoke_token,
    execute::execute_tool,
    tool_calls::run_tool_calls,
    calls::list_tool_calls,
    calls::get_call_summary,
    calls::get_tool_call,
    calls::get_call_result,
    calls::get_call_arguments,
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
    site::health,
    site::openapi,
    site::docs,
];

/// Answers one request.
pub async fn serve(request: web_sys::Request, env: Env) -> worker::Result<web_sys::Response> {
    let response = match App::new(env) {
        Ok(app) => answer(Arc::new(app), &request).await,
        Err(error) => finish("", error.into_response()),
    };
    wire::to_worker(response).await
}

async fn answer(app: Arc<App>, request: &web_sys::Request) -> Response {
    let response = match wire::from_worker(request).await {
        Ok(mut request) => {
            request.extensions_mut().insert(app.clone());
            let Ok(response) = router(&app).call(request).await;
            response
        }
        Err(cause) => Error::query("", format!("The request cannot be read: {cause}")).into_response(),
    };
    let mut response = finish(app.request_id(), response);
    if app.settings().cost_header
        && let Ok(cost) = HeaderValue::try_from(app.cost().to_string())
    {
        response.headers_mut().insert(COST, cost);
    }
    response
}

/// The router, built once per isolate: a clone is one reference more.
fn router(app: &App) -> Router {
    thread_local! {
        static ROUTER: OnceCell<Router> = const { OnceCell::new() };
    }
    ROUTER.with(|router| {
        router
            .get_or_init(|| {
                routes()
                    .fallback(async || Error::NoRoute)
                    .method_not_allowed_fallback(async || Error::MethodNotAllowed)
                    .layer(cors::layer(app.settings()))
            })
            .clone()
    })
}

/// Writes the envelope of a refusal, and the headers that every answer has.
fn finish(request_id: &str, mut response: Response) -> Response {
    if let Some(error) = response.extensions_mut().remove::<Arc<Error>>() {
        if let Error::Internal(cause) = &*error {
            console_error!("request {request_id} failed: {cause}");
        }
        *response.body_mut() = Body::from(error.envelope(request_id).to_string());
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.remove(header::CONTENT_LENGTH);
    }
    let headers = response.headers_mut();
    if let Ok(id) = HeaderValue::try_from(request_id) {
        headers.insert(REQUEST_ID, id);
    }
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}

/// A path of the description as the router writes it. The parameter `path` is the rest of the URL, slashes and all,
/// which OpenAPI has no sign for.
fn route(path: String) -> String {
    path.replace("{path}", "{*path}")
}

/// A handler's methods, as its attribute names them.
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
