//! Pegboard: the tool registry that AI agents run on, at the edge. ARCHITECTURE.md is the map.

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
mod json_size;
pub mod mail;
pub mod mcp;
mod outgoing;
pub mod oversight;
pub mod page;
mod random;
pub mod registry;
pub mod runners;
mod seal;
pub mod search_text;
pub mod settings;
mod text_enum;
pub mod time;
mod upkeep;

use worker::{Context, Env, ScheduleContext, ScheduledEvent, event, web_sys};

#[event(start)]
fn start() {
    console_error_panic_hook::set_once();
}

#[event(fetch)]
async fn fetch(request: web_sys::Request, env: Env, _context: Context) -> worker::Result<web_sys::Response> {
    http::serve(request, env).await
}

#[event(scheduled)]
async fn scheduled(_event: ScheduledEvent, env: Env, _context: ScheduleContext) {
    if let Err(cause) = upkeep::run(env).await {
        // The event counts as failed, and its cause stands in the log.
        wasm_bindgen::throw_str(&format!("upkeep failed: {cause:?}"));
    }
}
