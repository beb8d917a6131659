//! The error codes that MCP, and this server, add to those of JSON-RPC.

use crate::json_rpc::RpcErrorCode;

impl RpcErrorCode {
    /// This server's own code, in the range that JSON-RPC leaves to servers: the API refuses the caller, or the
    /// endpoint's agent does not exist. `data.code` has the API's error code.
    pub const REFUSED: Self = Self(-32000);
    /// Used until 2025-11-25. Since then the code for an unknown resource is [`Self::INVALID_PARAMS`].
    pub const RESOURCE_NOT_FOUND: Self = Self(-32002);
    /// A header is missing, or differs from the body.
    pub const HEADER_MISMATCH: Self = Self(-32020);
    /// The request needs a capability that the client did not declare.
    pub const MISSING_CAPABILITY: Self = Self(-32021);
    /// `data.supported` lists the revisions that the server speaks.
    pub const UNSUPPORTED_REVISION: Self = Self(-32022);
}
