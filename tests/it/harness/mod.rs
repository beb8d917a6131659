//! The harness: starts the Worker, and sends requests to it.

mod bundle;
mod chat;
mod client;
mod definition;
mod dice;
mod mcp_peer;
mod model_server;
mod module_server;
mod received;
mod sandbox;
mod seed;
mod server;
mod upstream;
mod zip;

pub use bundle::bundle;
pub use chat::ChatStream;
pub use client::{Answer, Client};
pub use definition::definition;
pub use dice::Dice;
pub use mcp_peer::{LEGACY, MODERN, McpPeer, PeerReply, SSE, answer_to};
pub use model_server::{Gate, ModelReply, ModelServer};
pub use module_server::{ModuleServer, Reply};
pub use sandbox::Sandbox;
pub use seed::{Tool, call_id};
pub use server::{ROOT_TOKEN, Server};
pub use upstream::Upstream;
pub use zip::{ZipEntry, zip, zip_that_counts};

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The Worker as it is deployed: every request needs a token.
pub fn closed() -> &'static Server {
    static SERVER: OnceLock<Server> = OnceLock::new();
    SERVER.get_or_init(|| {
        Server::start(
            "closed",
            &[
                ("ROOT_TOKEN", ROOT_TOKEN),
                ("SECRET_KEY", "the key of the closed server"),
                ("COST_HEADER", "on"),
                ("SECRET_KEY", "a secret of the tests"),
                ("HOUSE_KEY", "house-value"),
                ("OTHER_KEY", "other-value"),
                ("CREDENTIAL_WORKSPACES", "HOUSE_KEY=*@*, OTHER_KEY=*@*"),
            ],
        )
    })
}

/// The Worker as `scripts/dev` runs it. A caller without a token owns the workspace, and Python and stdio MCP servers run
/// in processes on this machine.
pub fn open() -> &'static Server {
    static SERVER: OnceLock<Server> = OnceLock::new();
    SERVER.get_or_init(|| {
        let sandbox = server::variable("PEGBOARD_SANDBOX_URL");
        let [mcp_host, mcp_host_secret] = ["PEGBOARD_MCP_HOST_URL", "PEGBOARD_MCP_HOST_SECRET"].map(server::variable);
        let vars = [
            ("AUTH", "open"),
            ("SANDBOX_URL", sandbox.as_str()),
            ("MCP_HOST_URL", mcp_host.as_str()),
            ("MCP_HOST_SECRET", mcp_host_secret.as_str()),
            ("COST_HEADER", "on"),
            ("CORS_ORIGINS", "https://console.example"),
            ("SECRET_KEY", "a secret of the tests"),
            ("PRIVATE_URLS", "allow"),
            ("GITHUB_TOKEN", "gh-value-1234"),
            ("STRIPE_KEY", "sk-value-5678"),
            ("LENT_KEY", "lent-value-90"),
            ("CREDENTIAL_WORKSPACES", "LENT_KEY=ws_of_nobody@*"),
        ];
        Server::start("open", &vars)
    })
}

/// The owner of a new workspace on the open server.
pub fn workspace() -> Client {
    open().client(&unique("ws"))
}

/// The root caller in a new workspace on the closed server.
pub fn closed_workspace() -> Client {
    closed().client(&unique("ws")).with_token(ROOT_TOKEN)
}

/// A name that no other test uses.
pub fn unique(prefix: &str) -> String {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    format!("{prefix}_{}", NEXT.fetch_add(1, Ordering::Relaxed))
}

/// Runs `each` in `runners` threads at once, and returns their results.
pub fn race<T: Send>(runners: usize, each: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let barrier = std::sync::Barrier::new(runners);
    std::thread::scope(|threads| {
        let (barrier, each) = (&barrier, &each);
        let running = (0..runners)
            .map(|index| {
                threads.spawn(move || {
                    barrier.wait();
                    each(index)
                })
            })
            .collect::<Vec<_>>();
        running.into_iter().map(|it| it.join().unwrap()).collect()
    })
}
