//! The attacks on the second room: those of `file_attacks/*.py`, those that are generated, and all attacks on the first
//! room. After each attack plain calls in both rooms must find everything unchanged, also a call on the files that the
//! attack has left in its session.

use crate::attacks::{self, Attack, GRACE, OnFiles, Targets, must_be_plain, parse};
use crate::client::{Client, named};
use crate::generated;
use nix::libc;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

const FILES: [&str; 15] = [
    include_str!("file_attacks/links.py"),
    include_str!("file_attacks/paths.py"),
    include_str!("file_attacks/outside.py"),
    include_str!("file_attacks/neighbours.py"),
    include_str!("file_attacks/special.py"),
    include_str!("file_attacks/sizes.py"),
    include_str!("file_attacks/names.py"),
    include_str!("file_attacks/traces.py"),
    include_str!("file_attacks/bundles.py"),
    include_str!("file_attacks/native.py"),
    include_str!("file_attacks/memory.py"),
    include_str!("file_attacks/processes.py"),
    include_str!("file_attacks/output.py"),
    include_str!("file_attacks/tools.py"),
    include_str!("file_attacks/metadata.py"),
];

/// Every module has this function, so that an attack whose code runs while it is loaded needs none of its own.
const ANY_FUNCTION: &str = "__sizeof__";

/// A plain call that uses everything that attacks like to spoil.
const PLAIN: &str = r#"
import asyncio, json, os, pathlib, sqlite3, sys, tempfile
import pydantic
import plain_help
from covalt_toolset import get_context, tool

class Point(pydantic.BaseModel):
    x: int
    tags: list[str] = []

@tool
async def run(point: Point, workspace: pathlib.Path):
    await asyncio.sleep(0)
    text = (workspace / "plain.txt").read_text()
    (workspace / "plain-new.txt").write_text(text * 2)
    os.remove("plain-old.txt")
    with tempfile.NamedTemporaryFile() as file:
        file.write(b"x")
        file.flush()
        length = os.stat(file.name).st_size
    print(len("abc"), sorted({3, 1}), isinstance(1, int), sys.getrecursionlimit(), os.getcwd() == str(workspace))
    one, = sqlite3.connect(":memory:").execute("select 1").fetchone()
    strange = [name for name in ("sitecustomize", "usercustomize", "conftest") if name in sys.modules]
    context = get_context()
    return [point.model_dump(), json.loads("[1]"), length, one, plain_help.double(4), context.chat_id, context.extra, strange]
"#;
const PLAIN_HELP: &str = "def double(x): return 2 * x";
const PLAINLY: &str = "3 [1, 3] True 1000 True\n";

pub fn file_attacks(targets: Targets) -> Vec<Attack> {
    FILES.iter().flat_map(|file| parse(file, targets)).chain(generated()).collect()
}

/// The attacks on the first room, with the outcomes that they have in the second one.
pub fn attacks_on_both(targets: Targets) -> Vec<Attack> {
    let mut attacks = attacks::attacks(targets);
    // The second room has a list of system calls of its own.
    attacks.retain(|attack| attack.name != "all_system_calls");
    for attack in &mut attacks {
        // The limits of the first room, which the outcomes are made for.
        attack.limits = json!({
            "timeout_seconds": attack.limits["timeout_seconds"].as_f64().unwrap_or(5.0),
            "memory_mb": attack.limits["memory_mb"].as_u64().unwrap_or(50),
        });
        attack.on_files.request = json!({"function": ANY_FUNCTION});
    }
    for Different { names, place, outcome, prints, .. } in DIFFERENT {
        for name in *names {
            let attack = attacks.iter_mut().find(|attack| attack.name == *name).unwrap_or_else(|| panic!("{name}"));
            if place.is(targets) {
                attack.code = attack.code.replace("ESCAPED", "EXPECTED");
                attack.outcomes = vec![(*outcome).to_owned()];
                attack.prints = prints.map(str::to_owned);
            }
        }
    }
    attacks
}

/// Attacks on the first room that end differently in the second one. They print EXPECTED instead of ESCAPED.
struct Different {
    names: &'static [&'static str],
    place: Place,
    outcome: &'static str,
    /// None stands for any output.
    prints: Option<&'static str>,
    #[expect(dead_code, reason = "for readers")]
    why: &'static str,
}

/// Where an attack ends differently.
enum Place {
    Everywhere,
    WithoutLandlock,
    WithoutPrivateRoot,
}

impl Place {
    fn is(&self, targets: Targets) -> bool {
        match self {
            Self::Everywhere => true,
            Self::WithoutLandlock => !targets.landlock,
            Self::WithoutPrivateRoot => !targets.private_root,
        }
    }
}

/// All differences between the rooms that attacks on the first room show.
const DIFFERENT: &[Different] = &[
    Different {
        names: &[
            "import_os",
            "import_sys",
            "import_from",
            "import_as",
            "import_star",
            "import_submodule",
            "import_relative",
            "import_dunder",
            "import_in_function",
            "import_in_exec",
            "import_in_eval",
            "import_in_class_body",
            "import_in_lambda_default",
            "import_inside_try_except",
            "import_error_says_what_is_allowed",
            "import_part_that_needs_a_file",
        ],
        place: Place::Everywhere,
        outcome: "ok",
        prints: Some(""),
        why: "the standard library can be imported",
    },
    Different {
        names: &["import_by_importlib", "import_by_meta_path", "import_replaced_hook"],
        place: Place::Everywhere,
        outcome: "ok",
        prints: None,
        why: "the standard library can be imported, and its files can be read",
    },
    Different {
        names: &["import_dunder_positional"],
        place: Place::Everywhere,
        outcome: "exception",
        prints: Some(""),
        why: "there is no import hook, so that the import fails with a KeyError of Python's own",
    },
    Different {
        names: &["traceback_frames"],
        place: Place::Everywhere,
        outcome: "ok",
        prints: Some("False"),
        why: "the harness has other modules",
    },
    Different {
        names: &["zygote_module"],
        place: Place::Everywhere,
        outcome: "exception",
        prints: Some(""),
        why: "the modules of the harness are not among those that can be imported, whose names a bundle may use",
    },
    Different {
        names: &["poison_builtins"],
        place: Place::Everywhere,
        outcome: "exception",
        prints: Some(""),
        why: "a function is called after the code was loaded, by a harness without len() and isinstance()",
    },
    Different {
        names: &["poison_own_builtins"],
        place: Place::Everywhere,
        outcome: "killed",
        prints: Some(""),
        why: "the code has no builtins of its own, and the harness cannot report without the real ones",
    },
    Different {
        names: &["exit_zero", "exit_by_name"],
        place: Place::Everywhere,
        outcome: "exception",
        prints: Some(""),
        why: "code that ends itself has not called its function; exit() is for interactive use, and does not exist",
    },
    Different {
        names: &["environment", "working_directory"],
        place: Place::Everywhere,
        outcome: "ok",
        prints: None,
        why: "a call has a directory of its own, and HOME and TMPDIR in it",
    },
    Different {
        names: &["change_mode", "change_mode_of_a_pipe", "change_owner", "set_times"],
        place: Place::Everywhere,
        outcome: "ok",
        prints: Some("EXPECTED None"),
        why: "changes of metadata are answered with success, and do nothing",
    },
    Different {
        names: &["change_directory", "file_system_size"],
        place: Place::Everywhere,
        outcome: "ok",
        prints: None,
        why: "neither landlock nor the filter tells harmless paths from others; there is nothing to see at this path",
    },
    Different {
        names: &["duplicate"],
        place: Place::Everywhere,
        outcome: "ok",
        prints: Some("EXPECTED 4"),
        why: "a call has files, and so may have copies of descriptors",
    },
    Different {
        names: &["other_descriptors"],
        place: Place::Everywhere,
        outcome: "ok",
        prints: Some("[0,1,2,3]"),
        why: "standard input is a pipe at its end, because SQLite refuses the first descriptors for its files",
    },
    Different {
        names: &["wait_for_native_input"],
        place: Place::Everywhere,
        outcome: "ok",
        prints: Some(""),
        why: "standard input is a pipe at its end",
    },
    Different {
        names: &["builtin_importer", "open_directory", "list_directory", "scan_directory"],
        place: Place::WithoutLandlock,
        outcome: "ok",
        prints: None,
        why: "the private root can be listed, and holds nothing but Python and the libraries of the system",
    },
    Different {
        names: &["load_library"],
        place: Place::WithoutLandlock,
        outcome: "ok",
        prints: None,
        why: "this library is loaded already; its file can be opened, and so can be found out to be the same",
    },
    Different {
        names: &["stat", "exists", "access", "read_link"],
        place: Place::WithoutPrivateRoot,
        outcome: "ok",
        prints: None,
        why: "landlock does not hide the metadata of files",
    },
];

impl Attack {
    pub fn run_on_files(&self, server: &Client) -> Result<(), String> {
        let OnFiles { files, bundle, request, .. } = &self.on_files;
        let mut body =
            json!({"share": "attack", "code": self.code, "limits": {"timeout_seconds": 5, "memory_mb": 128}});
        for (name, value) in self.limits.as_object().into_iter().flatten() {
            body["limits"][name] = value.clone();
        }
        body["files"] = server.put_all("attack", files);
        body["bundle"] = server.put_all("attack", bundle);
        body["function"] = if self.code.contains("def run(") { "run".into() } else { ANY_FUNCTION.into() };
        for (name, value) in request.as_object().into_iter().flatten() {
            body[name] = value.clone();
        }
        if !body["module"].is_null() {
            body.as_object_mut().unwrap().remove("code");
        }
        let begun = Instant::now();
        let (status, answer, length) = server.try_exchange("/files/run", &body)?;
        let took = begun.elapsed();
        if status != 200 || length > 6 << 20 {
            return Err(format!("{status}, {length} bytes: {answer:.600}"));
        }
        self.must_be_stopped(&answer)?;
        if self.on_files.result.as_ref().is_some_and(|result| answer["result"] != *result) {
            return Err(format!("it returned something else: {answer:.600}"));
        }
        self.must_leave_only(&answer["files"])?;
        self.must_be_over(Duration::from_millis(answer["duration_ms"].as_u64().unwrap()))?;
        // Reading the files takes seconds if the server is built without optimisation, as it is for tests.
        if took > Duration::from_secs(130) {
            return Err(format!("it took {took:?}: {answer:.600}"));
        }
        must_be_plain(server)?;
        must_be_plain_on_files(server, "plain", Vec::new())?;
        let left = left(&body["files"], &answer["files"]);
        // A call on a large session takes its time, and a session may have no room for the files of a plain call.
        let bytes: u64 = left.iter().map(|file| file[2].as_u64().unwrap()).sum();
        if left.is_empty() || left.len() > 100 || bytes > 16 << 20 {
            return Ok(());
        }
        must_be_plain_on_files(server, "attack", left)
    }

    fn must_leave_only(&self, told: &Value) -> Result<(), String> {
        let OnFiles { changed, deleted, fault, .. } = &self.on_files;
        let is_fine = match (fault.as_deref(), told["fault"].as_str()) {
            (Some("*"), _) => true,
            (Some(expected), Some(got)) => got.contains(expected),
            (None, None) => true,
            _ => false,
        };
        let paths = |list: &Value| list.as_array().unwrap().iter().map(path_of).collect::<Vec<_>>();
        let (really_changed, really_deleted) = (paths(&told["changed"]), paths(&told["deleted"]));
        let is_as = |expected: &Option<Vec<String>>, got: &[String]| match (expected, &told["fault"]) {
            (_, Value::String(_)) => got.is_empty(),
            (Some(expected), _) => expected == got,
            (None, _) => true,
        };
        if is_fine && is_as(changed, &really_changed) && is_as(deleted, &really_deleted) {
            return Ok(());
        }
        Err(format!("it left something else: {:.600}", told.to_string()))
    }
}

/// The path of a changed or deleted file.
fn path_of(told: &Value) -> String {
    told["path"].as_str().or(told.as_str()).unwrap().to_owned()
}

/// The session's files after a run, as the next request names them.
fn left(before: &Value, told: &Value) -> Vec<Value> {
    let gone: Vec<String> =
        ["changed", "deleted"].iter().flat_map(|list| told[list].as_array().unwrap()).map(path_of).collect();
    let kept = before.as_array().unwrap().iter().filter(|file| !gone.contains(&file[0].as_str().unwrap().to_owned()));
    let changed = told["changed"].as_array().unwrap();
    kept.cloned().chain(changed.iter().map(|file| json!([file["path"], file["sha256"], file["size"]]))).collect()
}

/// A plain call in the second room, which finds everything unchanged, whatever else is in its session.
pub fn must_be_plain_on_files(server: &Client, share: &str, mut files: Vec<Value>) -> Result<(), String> {
    let text = |path: &str, text: &str| (path.to_owned(), text.to_owned());
    let own = [text("/plain.txt", "plain"), text("/plain-old.txt", "old")];
    let help = text("plain_help.py", PLAIN_HELP);
    files.extend(own.iter().map(|(path, text)| named(path, text.as_bytes())));
    let body = json!({
        "share": share, "files": files, "bundle": [named(&help.0, help.1.as_bytes())], "code": PLAIN, "function": "run",
        "arguments": {"point": {"x": "3"}}, "context": {"chat_id": "c", "extra": {"a": 1}}
    });
    let begun = Instant::now();
    let (mut status, mut plain, _) = server.try_exchange("/files/run", &body)?;
    if status == 409 {
        server.put_all(share, &[own[0].clone(), own[1].clone(), help]);
        (status, plain, _) = server.try_exchange("/files/run", &body)?;
    }
    let took = begun.elapsed();
    let told = &plain["files"];
    let is_plain = status == 200
        && plain["stdout"] == PLAINLY
        && plain["stderr"] == ""
        && plain["result"] == json!([{"x": 3, "tags": []}, [1], 1, 1, 8, "c", {"a": 1}, []])
        && told["changed"].as_array().is_some_and(|list| list.len() == 1)
        && told["changed"][0]["path"] == "/plain-new.txt"
        && told["changed"][0]["content"] == json!({"encoding": "utf8", "data": "plainplain"})
        && told["deleted"] == json!(["/plain-old.txt"])
        && told["fault"].is_null();
    if !is_plain || took > GRACE {
        return Err(format!("the next call on files of share {share}, after {took:?}: {status} {plain:.1500}"));
    }
    Ok(())
}

/// Attacks that would be unreadable as files.
fn generated() -> Vec<Attack> {
    let attack = |name: &str, code: String, outcomes: &[&str]| Attack {
        name: name.into(),
        code,
        outcomes: outcomes.iter().map(|&each| each.to_owned()).collect(),
        prints: None,
        limits: json!({}),
        on_files: OnFiles { changed: Some(Vec::new()), deleted: Some(Vec::new()), ..OnFiles::default() },
    };
    vec![attack("all_system_calls_on_files", generated::all_system_calls(&allowed()), &["ok"])]
}

/// The system calls that are expected to work in the second room.
fn allowed() -> Vec<libc::c_long> {
    [generated::ALLOWED, ON_FILES, BY_OLD_NAMES].concat()
}

const ON_FILES: &[libc::c_long] = &[
    libc::SYS_chdir,
    libc::SYS_copy_file_range,
    libc::SYS_dup,
    libc::SYS_dup3,
    libc::SYS_faccessat,
    libc::SYS_faccessat2,
    libc::SYS_fadvise64,
    libc::SYS_fallocate,
    libc::SYS_fchdir,
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    libc::SYS_fchmodat2,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_fcntl,
    libc::SYS_fdatasync,
    libc::SYS_fgetxattr,
    libc::SYS_flistxattr,
    libc::SYS_flock,
    libc::SYS_fremovexattr,
    libc::SYS_fsetxattr,
    libc::SYS_fstatfs,
    libc::SYS_fsync,
    libc::SYS_ftruncate,
    libc::SYS_getcwd,
    libc::SYS_getdents64,
    libc::SYS_getegid,
    libc::SYS_geteuid,
    libc::SYS_getgid,
    libc::SYS_getuid,
    libc::SYS_getxattr,
    libc::SYS_lgetxattr,
    libc::SYS_listxattr,
    libc::SYS_llistxattr,
    libc::SYS_lremovexattr,
    libc::SYS_lsetxattr,
    libc::SYS_mkdirat,
    libc::SYS_msync,
    libc::SYS_newfstatat,
    libc::SYS_openat,
    libc::SYS_ppoll,
    libc::SYS_pread64,
    libc::SYS_preadv,
    libc::SYS_pselect6,
    libc::SYS_pwrite64,
    libc::SYS_pwritev,
    libc::SYS_readlinkat,
    libc::SYS_readv,
    libc::SYS_removexattr,
    libc::SYS_renameat,
    libc::SYS_renameat2,
    libc::SYS_sendfile,
    libc::SYS_setxattr,
    libc::SYS_statfs,
    libc::SYS_statx,
    libc::SYS_sync,
    libc::SYS_sync_file_range,
    libc::SYS_syncfs,
    libc::SYS_truncate,
    libc::SYS_umask,
    libc::SYS_unlinkat,
    libc::SYS_utimensat,
];

#[cfg(target_arch = "x86_64")]
const BY_OLD_NAMES: &[libc::c_long] = &[
    libc::SYS_access,
    libc::SYS_chmod,
    libc::SYS_chown,
    libc::SYS_dup2,
    libc::SYS_futimesat,
    libc::SYS_lchown,
    libc::SYS_lstat,
    libc::SYS_mkdir,
    libc::SYS_poll,
    libc::SYS_readlink,
    libc::SYS_rename,
    libc::SYS_rmdir,
    libc::SYS_select,
    libc::SYS_stat,
    libc::SYS_unlink,
    libc::SYS_utime,
    libc::SYS_utimes,
];
#[cfg(not(target_arch = "x86_64"))]
const BY_OLD_NAMES: &[libc::c_long] = &[];
