//! Runs hostile Python for Pegboard. docs/sandbox.md explains the threats and the protection.
//!
//! One binary has three roles, and each process starts the next. The keeper holds the port, and restarts the supervisor
//! if it dies. The supervisor serves HTTP and enforces timeouts. The launcher locks itself in, starts Python and ends.
//! Then comes Python (`python/`): the zygote, which forks one child for each call.

mod answer;
mod body;
mod call;
mod config;
mod files;
mod filter;
mod folder;
#[cfg(test)]
mod fuzz;
mod gate;
mod http;
mod intake;
mod json;
mod keep;
mod launch;
mod limits;
mod log;
mod output;
mod pool;
mod probe;
mod random;
mod refusal;
mod request;
mod scratch;
mod serve;
mod slot_size;
mod zygote;

use crate::log::say;
use config::Config;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let part = match arguments.first().map(String::as_str) {
        Some(word @ (keep::SERVE | launch::LAUNCH)) => Some(word.to_owned()),
        _ => None,
    };
    let ended = match part.as_deref() {
        Some(launch::LAUNCH) => launch::main(&arguments),
        Some(_) => Config::read(&arguments.split_off(1)).and_then(serve::run),
        None => Config::read(&arguments).and_then(|config| keep::main(&config, &arguments)),
    };
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(cause) => {
            say(cause);
            ExitCode::FAILURE
        }
    }
}
