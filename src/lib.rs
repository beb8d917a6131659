//! Pegboard is a tool registry for AI agents, as one Cloudflare Worker. ARCHITECTURE.md is the map of this crate.

mod agents;
mod app;
mod archive;
mod backup;
mod bucket;
mod cache;
mod callers;
mod changes;
mod chats;
mod db;
#[cfg(test)]
mod dice;
mod durable;
mod error;
mod event_reader;
mod execution;
mod federation;
mod files;
mod formats;
mod hex;
mod history;
mod http;
mod ids;
mod json_object;
mod json_rpc;
mod json_size;
mod long_calls;
mod mail;
mod mcp;
mod mcp_client;
mod mcp_protocol;
mod memory_turn;
mod model_calls;
mod modules;
mod nearest;
mod outgoing;
mod oversight;
mod page;
mod playground;
mod quota;
mod random;
mod read_only;
mod registry;
mod rendering;
mod runners;
mod seal;
mod search_text;
mod settings;
#[cfg(test)]
mod stopwatch;
mod text_enum;
mod time;
mod toolsets;
mod upkeep;
mod upstreams;
mod workspace_settings;
mod yaml;

use worker::{Context, Env, ScheduleContext, ScheduledEvent, event, web_sys};

#[event(start)]
fn start() {
    console_error_panic_hook::set_once();
}

#[event(fetch)]
async fn fetch(request: web_sys::Request, env: Env, context: Context) -> worker::Result<web_sys::Response> {
    http::serve(request, env, &context).await
}

#[event(scheduled)]
async fn scheduled(event: ScheduledEvent, env: Env, _context: ScheduleContext) {
    if let Err(cause) = upkeep::run(env, &event.cron()).await {
        // The throw marks the event as failed and writes the cause to the log.
        wasm_bindgen::throw_str(&format!("upkeep failed: {cause:?}"));
    }
}
