//! The methods of MCP that Pegboard knows.

use crate::text_enum::text_enum;

text_enum! {
    McpMethod {
        /// Until 2025-11-25: the handshake.
        Initialize = "initialize",
        /// Until 2025-11-25.
        Ping = "ping",
        /// Since 2026-07-28: what the server offers, without a handshake.
        Discover = "server/discover",
        ListTools = "tools/list",
        CallTool = "tools/call",
        ListResources = "resources/list",
        ReadResource = "resources/read",
        ListResourceTemplates = "resources/templates/list",
        Complete = "completion/complete",
        GetPrompt = "prompts/get",
    }
}

impl McpMethod {
    /// The parameter that names the subject of the request. Since 2026-07-28 the header `Mcp-Name` repeats it.
    pub const fn named_by(self) -> Option<&'static str> {
        match self {
            Self::CallTool | Self::GetPrompt => Some("name"),
            Self::ReadResource => Some("uri"),
            Self::Initialize
            | Self::Ping
            | Self::Discover
            | Self::ListTools
            | Self::ListResources
            | Self::ListResourceTemplates
            | Self::Complete => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text_enum::TextEnum;

    #[test]
    fn a_method_is_known_by_its_text() {
        assert_eq!(McpMethod::parse("tools/call"), Some(McpMethod::CallTool));
        assert_eq!(McpMethod::parse(McpMethod::Discover.as_str()), Some(McpMethod::Discover));
        for other in ["", "tools/Call", "tools", "notifications/initialized"] {
            assert_eq!(McpMethod::parse(other), None, "{other}");
        }
    }
}
