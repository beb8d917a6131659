//! Asks for all pages of a server's list of tools.

use super::ToolListing;
use super::conversation::Conversation;
use super::exchange::Exchange;
use super::failure::FailureCause;
use super::question::Question;
use crate::mcp_protocol::McpMethod;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::collections::HashSet;

const MAX_TOOLS: usize = 1_000;
const MAX_BYTES: usize = 8 * 1024 * 1024;
const MAX_PAGES: usize = 100;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Page {
    tools: Vec<Box<RawValue>>,
    next_cursor: Option<String>,
    ttl_ms: Option<Value>,
}

pub async fn list<E: Exchange>(talk: &mut Conversation<'_, E>) -> Result<ToolListing, FailureCause> {
    match all_pages(talk).await? {
        Some(listing) => Ok(listing),
        // The session was lost on the way, and the cursors with it. The list is asked for anew.
        None => match all_pages(talk).await? {
            Some(listing) => Ok(listing),
            None => Err(FailureCause::Protocol("loses its session while it lists its tools".to_owned())),
        },
    }
}

/// None, if another session began after the first page.
async fn all_pages<E: Exchange>(talk: &mut Conversation<'_, E>) -> Result<Option<ToolListing>, FailureCause> {
    let mut listing = ToolListing::default();
    let (mut bytes, mut cursors, mut cursor) = (0, HashSet::new(), None);
    for number in 0..MAX_PAGES {
        let handshakes = talk.handshakes;
        let asked = talk.ask(&question(cursor.as_deref())).await;
        if number > 0 && talk.handshakes > handshakes {
            return Ok(None);
        }
        let page = serde_json::from_str::<Page>(&asked?)
            .map_err(|cause| FailureCause::Protocol(format!("sent a list of tools that cannot be read: {cause}")))?;
        bytes += page.tools.iter().map(|it| it.get().len()).sum::<usize>();
        listing.tools.extend(page.tools);
        if listing.tools.len() > MAX_TOOLS {
            return Err(FailureCause::TooLarge("tools".to_owned()));
        }
        if bytes > MAX_BYTES {
            return Err(FailureCause::TooLarge("bytes".to_owned()));
        }
        let ttl_ms = page.ttl_ms.and_then(|it| it.as_u64());
        listing.ttl_ms = listing.ttl_ms.into_iter().chain(ttl_ms).min();
        match page.next_cursor.filter(|it| !it.is_empty()) {
            None => return Ok(Some(listing)),
            Some(next) if !cursors.insert(next.clone()) => {
                return Err(FailureCause::Protocol("sent a list of tools that leads back to itself".to_owned()));
            }
            Some(next) => cursor = Some(next),
        }
    }
    Err(FailureCause::TooLarge("pages".to_owned()))
}

fn question(cursor: Option<&str>) -> Question {
    let params = cursor.map(|it| ("cursor".to_owned(), Value::from(it))).into_iter().collect::<Map<_, _>>();
    Question { method: McpMethod::ListTools, params, param_headers: Vec::new(), max_bytes: MAX_BYTES }
}
