//! The whole client against scripted servers: eras, sessions, streams and failures.

mod answers;
mod eras;
mod event_streams;
mod lists;
mod rounds;
mod sessions;

use super::conversation::Conversation;
use super::exchange::{Exchange, Verb};
use super::failure::FailureCause;
use super::memory::{PeerEra, PeerMemory};
use super::peer::McpTransport;
use super::scripted::{Answer, Events, ScriptedPeer, Seen, event, run};
use super::{PeerAnswer, ToolCall, ToolListing, calling, listing};
use crate::json_rpc::RpcErrorCode;
use crate::mcp_protocol::CallToolResult;
use crate::memory_turn::MemoryTurn;
use serde_json::{Value, json};
use std::time::Duration;

const TIME: Duration = Duration::from_secs(30);

fn list<F: FnMut(&Seen) -> Answer>(
    peer: &ScriptedPeer<F>,
    transport: McpTransport,
    memory: Option<PeerMemory>,
) -> PeerAnswer<ToolListing> {
    let turn = MemoryTurn::default();
    let mut talk = Conversation::new(peer, transport, &turn, memory);
    run(async {
        let done = peer.within(TIME, listing::list(&mut talk)).await;
        talk.end(done).await
    })
}

fn call<F: FnMut(&Seen) -> Answer>(peer: &ScriptedPeer<F>, memory: Option<PeerMemory>) -> PeerAnswer<CallToolResult> {
    let schema = json!({"properties": {"city": {"type": "string", "x-mcp-header": "City"}}});
    let arguments = json!({"city": "Köln"});
    let call = ToolCall { name: "weather", arguments: arguments.as_object().unwrap(), schema: &schema };
    let turn = MemoryTurn::default();
    let mut talk = Conversation::new(peer, McpTransport::StreamableHttp, &turn, memory);
    run(async {
        let done = peer.within(TIME, calling::call(&mut talk, call)).await;
        talk.end(done).await
    })
}

fn list_by_http<F: FnMut(&Seen) -> Answer>(peer: &ScriptedPeer<F>) -> PeerAnswer<ToolListing> {
    list(peer, McpTransport::StreamableHttp, None)
}

fn remembered(era: PeerEra, session: Option<&str>) -> Option<PeerMemory> {
    let revision = if era == PeerEra::Modern { "2026-07-28" } else { "2025-11-25" };
    Some(PeerMemory { era, revision: revision.into(), session: session.map(str::to_owned), server_info: None })
}

fn tools(names: &[&str]) -> Value {
    json!({"tools": names.iter().map(|it| json!({"name": it})).collect::<Vec<_>>()})
}

fn modern_tools(names: &[&str]) -> Value {
    let mut result = tools(names);
    result["resultType"] = "complete".into();
    result["ttlMs"] = 5_000.into();
    result["_meta"] = json!({"io.modelcontextprotocol/serverInfo": {"name": "m", "version": "1"}});
    result
}

fn text_result(text: &str) -> Value {
    json!({"content": [{"type": "text", "text": text}]})
}

/// A server of the older era with one session. It refuses requests without a handshake.
fn legacy(seen: &Seen) -> Answer {
    let unknown = || {
        Answer::Json(
            400,
            json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32000, "message": "Bad Request: No valid session ID provided"}}),
        )
    };
    match seen.method() {
        "initialize" => {
            let revision = seen.body["params"]["protocolVersion"].clone();
            let info = json!({"name": "l", "version": "2"});
            Answer::Session(
                seen.result(json!({"protocolVersion": revision, "capabilities": {}, "serverInfo": info})),
                "s-1",
            )
        }
        _ if seen.header("Mcp-Session-Id") != Some("s-1") => unknown(),
        "tools/list" => Answer::Json(200, seen.result(tools(&["a"]))),
        "tools/call" => Answer::Json(200, seen.result(text_result("sunny"))),
        _ => Answer::Text(202, ""),
    }
}

#[track_caller]
fn cause<T>(answer: PeerAnswer<T>) -> FailureCause {
    match answer.outcome {
        Ok(_) => panic!("there is a result"),
        Err(failure) => failure.cause,
    }
}

#[track_caller]
fn names(answer: PeerAnswer<ToolListing>) -> Vec<String> {
    let tools = answer.outcome.unwrap().tools;
    let name = |it: &str| serde_json::from_str::<Value>(it).unwrap()["name"].as_str().unwrap().to_owned();
    tools.iter().map(|it| name(it.get())).collect()
}
