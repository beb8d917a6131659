//! Names of fields that MCP reserves, for code that writes or reads them.

use crate::json_rpc::RpcParams;
use serde_json::Value;

/// The field of `params` and of results that holds data about the message itself.
pub const META: &str = "_meta";

/// The prefix of the names in `_meta` that the protocol itself defines.
pub const PROTOCOL_PREFIX: &str = "io.modelcontextprotocol/";

/// In the `_meta` of each request since 2026-07-28: the revision, and what the client can do.
pub const META_REVISION: &str = "io.modelcontextprotocol/protocolVersion";
pub const META_CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

/// In the `_meta` of each request since 2026-07-28: the client's name and version.
pub const META_CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";

/// In the `_meta` of each result since 2026-07-28: the server's name and version.
pub const META_SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";

/// Since 2026-07-28, this field of a result says whether the result is complete ([`RESULT_COMPLETE`]) or asks for input
/// first ([`RESULT_INPUT_REQUIRED`]).
pub const RESULT_TYPE: &str = "resultType";
pub const RESULT_COMPLETE: &str = "complete";
pub const RESULT_INPUT_REQUIRED: &str = "input_required";

/// A result that asks for input has a state, and perhaps questions. The client's next request repeats the state, and
/// holds the answers under the keys of the questions.
pub const REQUEST_STATE: &str = "requestState";
pub const INPUT_REQUESTS: &str = "inputRequests";
pub const INPUT_RESPONSES: &str = "inputResponses";

/// A field of the request's `_meta`.
pub fn meta<'a>(params: &'a RpcParams, name: &str) -> Option<&'a Value> {
    params.0.get(META)?.get(name)
}

/// Whether the client shows its user a form, when a result asks for input.
pub fn client_shows_forms(params: &RpcParams) -> bool {
    let capabilities = meta(params, META_CLIENT_CAPABILITIES);
    let elicitation = capabilities.and_then(|it| it.get("elicitation")).and_then(Value::as_object);
    // A client that names neither mode means forms: the mode `url` came later.
    elicitation.is_some_and(|it| it.contains_key("form") || !it.contains_key("url"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn forms_are_shown_by_clients_that_say_so() {
        let shows = |capabilities: Value| {
            let params = json!({"_meta": {META_CLIENT_CAPABILITIES: capabilities}});
            client_shows_forms(&RpcParams(params.as_object().unwrap().clone()))
        };
        assert!(shows(json!({"elicitation": {}})) && shows(json!({"elicitation": {"form": {}, "url": {}}})));
        assert!(
            !shows(json!({})) && !shows(json!({"elicitation": {"url": {}}})) && !shows(json!({"elicitation": true}))
        );
    }
}
