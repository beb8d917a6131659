//! The server inside the sandbox container. It listens where the Durable Object `Sandbox` looks for it and
//! says that it is well; running code comes to it with the sandbox itself.

use axum::Router;
use axum::routing::get;
use std::net::Ipv4Addr;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

/// The port that `src/durable/sandbox.rs` calls.
const PORT: u16 = 8080;

#[tokio::main(flavor = "current_thread")]
async fn main() -> std::io::Result<()> {
    let listener = TcpListener::bind((Ipv4Addr::UNSPECIFIED, PORT)).await?;
    let mut terminated = signal(SignalKind::terminate())?;
    let app = Router::new().route("/health", get(async || r#"{"status":"ok"}"#));
    axum::serve(listener, app)
        .with_graceful_shutdown(async move {
            terminated.recv().await;
        })
        .await
}
