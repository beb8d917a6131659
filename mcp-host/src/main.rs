//! Runs MCP servers that speak over stdio, and offers each of them by Streamable HTTP. docs/mcp-host.md has the wire, the
//! limits and the threats.
//!
//! One binary has three roles, and each process starts the next. The host serves HTTP, and bridges. A warden, one for each
//! running server, holds all processes of its server together. The entrant sets the limits of the server, and becomes the
//! server.

mod backoff;
mod body;
mod bounded_line;
mod bridge;
mod command;
mod config;
mod configuration;
mod connection;
mod enter;
mod error;
mod file_set;
mod handshake;
mod home;
mod http;
mod key;
mod log;
mod message;
mod packages;
mod process;
mod process_table;
mod reply;
mod secret;
mod serve;
mod server;
mod servers;
mod stderr_tail;
mod tree;
mod warden;
mod wardens;
mod watch;

use crate::log::say;
use config::Config;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let ended = match arguments.split_first() {
        Some((role, rest)) if role == warden::ROLE => warden::main(rest),
        Some((role, rest)) if role == enter::ROLE => enter::main(rest),
        _ => Config::read(&arguments).and_then(serve::run),
    };
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(cause) => {
            say(cause);
            ExitCode::FAILURE
        }
    }
}
