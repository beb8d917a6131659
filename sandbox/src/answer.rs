//! The response to a call that was run. The supervisor itself knows the time, the kill and the exit status. The child's
//! own report is data that may be forged, and can only be about the child itself.

use crate::json;
use crate::limits::Limits;
use crate::output::{self, Captured, FLOOD_BYTES, KEPT_BYTES};
use nix::libc;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::time::Duration;

/// The longest result, including the JSON around it.
pub const MAX_FRAME_BYTES: usize = (1 << 20) + (64 << 10);

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorKind {
    Timeout,
    Memory,
    Import,
    Killed,
    Exception,
    Syntax,
}

#[derive(Debug, Serialize)]
pub struct Answer {
    pub ok: bool,
    pub error_kind: Option<ErrorKind>,
    pub error: Option<String>,
    pub stdout: String,
    pub stderr: String,
    pub result: Option<Box<RawValue>>,
    /// The exit status, or the signal that ended the child, as a negative number.
    pub exit: Option<i32>,
    pub truncated: Truncated,
    pub duration_ms: u64,
    /// How long the fork took.
    #[serde(skip)]
    pub forked: Duration,
    /// Whether the child is known to be dead.
    #[serde(skip)]
    pub is_dead: bool,
    /// The changes of a call on files, and how long the parts of the call took.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files: Option<FileChanges>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timing: Option<Timing>,
}

/// How long the parts of a call on files took, in milliseconds.
#[derive(Debug, PartialEq, Serialize)]
pub struct Timing {
    /// Making and filling the folder.
    pub folder_ms: f64,
    pub fork_ms: f64,
    /// Reading the folder afterwards.
    pub snapshot_ms: f64,
}

#[derive(Debug, Serialize)]
pub struct Truncated {
    pub stdout: bool,
    pub stderr: bool,
}

/// What a call has done to the files of its session.
#[derive(Debug, Default, PartialEq, Serialize)]
pub struct FileChanges {
    pub changed: Vec<ChangedFile>,
    pub deleted: Vec<String>,
    /// Why the files cannot be kept; then there are no changes.
    pub fault: Option<String>,
}

#[derive(Debug, PartialEq, Serialize)]
pub struct ChangedFile {
    pub path: String,
    pub sha256: String,
    pub size: usize,
    /// None if the contents would make the response too long.
    pub content: Option<FileContent>,
}

/// Contents as text, or in base64.
#[derive(Debug, PartialEq, Serialize)]
pub struct FileContent {
    pub encoding: Encoding,
    pub data: String,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Encoding {
    Utf8,
    Base64,
}

/// Why the supervisor ended the child, if it did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Stopped {
    TimedOut,
    Flooded,
    /// The client no longer waits for the response.
    Abandoned,
    /// The files of the call take more room than they may.
    Overfull,
}

/// Everything that is known about a finished call.
pub struct Ended {
    pub stopped: Option<Stopped>,
    /// `None` if the zygote died, and the child with it.
    pub exit: Option<i32>,
    pub stdout: Captured,
    pub stderr: Captured,
    pub frame: Captured,
    pub duration: Duration,
    pub forked: Duration,
    pub is_dead: bool,
}

/// The child's report on its result pipe.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Frame {
    kind: Option<ErrorKind>,
    error: Option<String>,
    result: Option<Box<RawValue>>,
}

impl Answer {
    pub fn of(ended: Ended, limits: Limits) -> Self {
        let (stdout, stdout_cut) = output::text(&ended.stdout);
        let (stderr, stderr_cut) = output::text(&ended.stderr);
        let (failure, result) = match verdict(&ended, limits) {
            Ok(result) => (None, result),
            Err(failure) => (Some(failure), None),
        };
        let (error_kind, error) = failure.unzip();
        Self {
            ok: error_kind.is_none(),
            error_kind,
            error,
            stdout,
            stderr,
            result,
            exit: ended.exit,
            truncated: Truncated { stdout: stdout_cut, stderr: stderr_cut },
            duration_ms: u64::try_from(ended.duration.as_millis()).unwrap_or(u64::MAX),
            forked: ended.forked,
            is_dead: ended.is_dead,
            files: None,
            timing: None,
        }
    }
}

/// The result, or the error.
fn verdict(ended: &Ended, limits: Limits) -> Result<Option<Box<RawValue>>, (ErrorKind, String)> {
    let killed = |why: String| Err((ErrorKind::Killed, why));
    let late = || Err((ErrorKind::Timeout, format!("Timed out after {} s", limits.timeout.as_secs_f64())));
    match ended.stopped {
        Some(Stopped::TimedOut) => return late(),
        Some(Stopped::Flooded) => return killed(format!("Killed: it wrote more than {} MiB", FLOOD_BYTES >> 20)),
        Some(Stopped::Overfull) => return killed("Killed: its files took more room than a call may have".into()),
        Some(Stopped::Abandoned) => return killed("Killed: nobody waits for it".into()),
        None => {}
    }
    match ended.exit {
        Some(exit) if exit == -libc::SIGXCPU => return late(),
        Some(exit) if exit < 0 => return killed(format!("Killed by signal {}: {}", -exit, named(-exit))),
        Some(_) => {}
        None => return killed("Killed: the sandbox was restarted".into()),
    }
    let told = match serde_json::from_slice::<Frame>(&ended.frame.bytes) {
        Ok(frame) if !ended.frame.cut => frame,
        _ => return killed("Killed: it ended without a result".into()),
    };
    match (told.kind, told.error, told.result) {
        (None, None, None) => Ok(None),
        (None, None, Some(result)) => match json::check(&result) {
            Ok(()) => Ok(Some(result)),
            Err(cause) => Err((ErrorKind::Exception, format!("what was returned cannot be passed on: {cause}"))),
        },
        (Some(ErrorKind::Memory), Some(error), None) => {
            Err((ErrorKind::Memory, format!("{}\n(the limit is {} MB)", cut(error), limits.memory_bytes >> 20)))
        }
        // The child may not report these kinds itself.
        (Some(ErrorKind::Timeout | ErrorKind::Killed), ..) => killed("Killed: it ended without a result".into()),
        (Some(kind), Some(error), None) => Err((kind, cut(error))),
        _ => killed("Killed: it ended without a result".into()),
    }
}

fn cut(mut text: String) -> String {
    text.truncate(text.floor_char_boundary(KEPT_BYTES));
    text
}

fn named(signal: i32) -> &'static str {
    match signal {
        libc::SIGSEGV => "the interpreter crashed, as by endless recursion",
        libc::SIGABRT | libc::SIGILL | libc::SIGBUS | libc::SIGFPE => "the interpreter crashed",
        libc::SIGSYS => "a forbidden system call",
        libc::SIGKILL => "by the system, as for want of memory",
        _ => "not by us",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits { timeout: Duration::from_millis(500), memory_bytes: 50 << 20 };

    fn ended(frame: &[u8], exit: Option<i32>, stopped: Option<Stopped>) -> Answer {
        let ended = Ended {
            stopped,
            exit,
            stdout: Captured::default(),
            stderr: Captured::default(),
            frame: Captured { bytes: frame.into(), cut: false },
            duration: Duration::from_millis(3),
            forked: Duration::ZERO,
            is_dead: true,
        };
        Answer::of(ended, LIMITS)
    }

    fn kind(frame: &[u8]) -> Option<ErrorKind> {
        ended(frame, Some(1), None).error_kind
    }

    #[test]
    fn results_are_passed_on_verbatim() {
        let answer = ended(br#"{"result":[1.50,100000000000000000000]}"#, Some(0), None);
        assert!(answer.ok);
        assert_eq!(answer.result.unwrap().get(), "[1.50,100000000000000000000]");
        let nothing = ended(br#"{"result":null}"#, Some(0), None);
        assert!(nothing.ok && nothing.result.is_none());
    }

    #[test]
    fn errors_have_their_kinds() {
        assert_eq!(kind(br#"{"kind":"memory","error":"x"}"#), Some(ErrorKind::Memory));
        assert_eq!(kind(br#"{"kind":"import","error":"x"}"#), Some(ErrorKind::Import));
        assert_eq!(kind(br#"{"kind":"syntax","error":"x"}"#), Some(ErrorKind::Syntax));
        assert_eq!(kind(br#"{"kind":"exception","error":"x"}"#), Some(ErrorKind::Exception));
        assert_eq!(kind(br#"{"result":"\ud800"}"#), Some(ErrorKind::Exception));
    }

    #[test]
    fn the_supervisor_knows_better_than_the_child() {
        let fine = br#"{"result":null}"#;
        for (exit, stopped, told) in [
            (Some(-9), Some(Stopped::TimedOut), ErrorKind::Timeout),
            (Some(0), Some(Stopped::TimedOut), ErrorKind::Timeout),
            (Some(-9), Some(Stopped::Flooded), ErrorKind::Killed),
            (Some(-11), None, ErrorKind::Killed),
            (Some(-libc::SIGXCPU), None, ErrorKind::Timeout),
            (None, None, ErrorKind::Killed),
        ] {
            assert_eq!(ended(fine, exit, stopped).error_kind, Some(told));
        }
    }

    #[test]
    fn what_is_forged_is_no_result() {
        for frame in [
            &b""[..],
            b"null",
            b"{\"result\":1}{\"result\":2}",
            br#"{"kind":"timeout","error":"x"}"#,
            br#"{"kind":"killed","error":"x"}"#,
            br#"{"kind":"exception"}"#,
            br#"{"kind":"exception","error":"x","result":1}"#,
            br#"{"result":1,"ok":true}"#,
            b"\xff\xfe",
        ] {
            assert_eq!(kind(frame), Some(ErrorKind::Killed), "{frame:?}");
        }
    }

    /// Mutations of good frames, from a fixed seed: whatever the child reports, the response is readable JSON.
    #[test]
    fn any_frame_gives_an_answer() {
        let seeds = [r#"{"result":{"a":[1,2.5,"\u00e9"]}}"#, r#"{"kind":"exception","error":"Value\nError"}"#];
        let mut random = crate::fuzz::Random(11);
        for round in 0..15_000 {
            let mut bytes = seeds[round % seeds.len()].as_bytes().to_vec();
            for _ in 0..random.below(4) {
                random.mutate(&mut bytes);
            }
            let answer = serde_json::to_vec(&ended(&bytes, Some(0), None)).unwrap();
            let read: serde_json::Value = serde_json::from_slice(&answer).unwrap();
            assert_eq!(read["ok"].as_bool().unwrap(), read["error"].is_null());
        }
    }
}
