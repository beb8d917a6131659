//! Pegboard is a tool registry for AI agents, as one Cloudflare Worker. ARCHITECTURE.md is the map of this crate.

pub mod agents;
pub mod app;
pub mod backup;
pub mod callers;
pub mod changes;
pub mod db;
#[cfg(test)]
mod dice;
pub mod durable;
pub mod error;
pub mod execution;
pub mod files;
pub mod formats;
pub mod hex;
pub mod history;
pub mod http;
pub mod ids;
mod json_object;
mod json_rpc;
mod json_size;
pub mod mail;
pub mod mcp;
mod mcp_protocol;
mod model_calls;
mod outgoing;
pub mod oversight;
pub mod page;
pub mod registry;
pub mod runners;
mod seal;
pub mod search_text;
pub mod settings;
mod text_enum;
pub mod time;
mod upkeep;

use worker::{Context, Env, Response, ScheduleContext, ScheduledEvent, event, web_sys};

#[event(start)]
fn start() {
    console_error_panic_hook::set_once();
}

#[event(fetch)]
async fn fetch(request: web_sys::Request, env: Env, _context: Context) -> worker::Result<Response> {
    http::serve(request, env).await
}

#[event(scheduled)]
async fn scheduled(_event: ScheduledEvent, env: Env, _context: ScheduleContext) {
    if let Err(cause) = upkeep::run(env).await {
        // The throw marks the event as failed and writes the cause to the log.
        wasm_bindgen::throw_str(&format!("upkeep failed: {cause:?}"));
    }
}
