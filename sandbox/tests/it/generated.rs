//! Attacks that are generated, because they would be unreadable as files.

use crate::attacks::{Attack, OnFiles};
use nix::libc;
use serde_json::json;

pub fn attacks() -> Vec<Attack> {
    let mega = 1 << 20;
    let attack = |name: &str, code: String, outcomes: &[&str]| Attack {
        name: name.into(),
        code,
        outcomes: outcomes.iter().map(|&each| each.to_owned()).collect(),
        prints: None,
        limits: json!({}),
        on_files: OnFiles::default(),
    };
    vec![
        attack("empty", String::new(), &["ok"]),
        attack("blank", " \n\t\n".into(), &["ok"]),
        attack("only_a_comment", "# nothing".into(), &["ok"]),
        attack("future", "from __future__ import annotations\nx: y = 1".into(), &["ok"]),
        attack("nul", "print(1)\0print(2)".into(), &["syntax"]),
        attack("byte_order_mark", "\u{feff}print(1)".into(), &["ok", "syntax"]),
        attack("carriage_returns", "x = 1\rprint(x)\r\nprint(x)".into(), &["ok"]),
        attack("control_characters", "x = '\u{1}\u{7f}'\n\u{c}print(x)".into(), &["ok"]),
        attack("invisible_characters", "x\u{200b} = 1".into(), &["syntax"]),
        attack("mega_comment", format!("#{}", "x".repeat(mega - 1)), &["ok"]),
        attack("mega_string", format!("x='{}'", "x".repeat(mega - 5)), &["ok"]),
        attack("mega_dense", "a=1;".repeat(mega / 4), &["memory", "timeout"]),
        attack("mega_lines", "\n".repeat(mega / 8), &["ok"]),
        attack("mega_number", format!("x={}", "9".repeat(mega - 2)), &["syntax"]),
        attack("mega_identifier", format!("{}=1", "x".repeat(mega - 2)), &["ok"]),
        attack("many_parentheses", "(".repeat(100_000), &["syntax", "memory"]),
        attack("many_brackets", format!("{}{}", "[".repeat(5000), "]".repeat(5000)), &["syntax", "memory"]),
        attack("many_minuses", format!("x={}1", "-".repeat(100_000)), &["syntax", "memory", "killed"]),
        attack("many_nots", format!("x={}1", "not ".repeat(50_000)), &["syntax", "memory", "killed"]),
        attack("many_attributes", format!("x{}", ".a".repeat(50_000)), &["syntax", "memory", "exception", "killed"]),
        attack("many_lambdas", format!("x={}1", "lambda:".repeat(20_000)), &["syntax", "memory", "killed"]),
        attack("many_ifs", (0..200).map(|depth| format!("{}if 1:\n", " ".repeat(depth))).collect(), &["syntax"]),
        attack("many_arguments", format!("print({})", "1,".repeat(60_000)), &["ok", "syntax", "memory"]),
        attack("many_f_strings", format!("x={}1{}", "f'{".repeat(100), "}'".repeat(100)), &["ok", "syntax"]),
        attack("many_names", (0..20_000).map(|each| format!("a{each}=1\n")).collect(), &["ok", "memory"]),
        attack("many_imports", "import os\n".repeat(50_000), &["import", "memory"]),
        attack(
            "many_other_imports",
            (0..20_000).map(|each| format!("import a{each}\n")).collect(),
            &["import", "memory"],
        ),
        attack("many_functions", (0..5_000).map(|each| format!("def f{each}(a): pass\n")).collect(), &["ok", "memory"]),
        attack("many_parameters", format!("def run({}): pass", numbered("a", 20_000)), &["ok", "memory"]),
        attack("many_sums", format!("x={}1", "1+".repeat(20_000)), &["ok", "syntax", "memory", "killed"]),
        attack("many_targets", format!("x{}=1", ".a".repeat(20_000)), &["syntax", "memory", "exception", "killed"]),
        attack(
            "many_decorators",
            format!("{}def run(): pass", "@print\n".repeat(20_000)),
            &["ok", "exception", "memory"],
        ),
        attack("folded_powers", "x = 9 ** 9 ** 9 ** 9".into(), &["memory", "timeout", "exception"]),
        attack("folded_texts", "x = ('a' * 4096) * 4096 * 4096 * 4096".into(), &["memory"]),
        attack("folded_shifts", "x = 1 << (1 << 40)".into(), &["memory", "exception"]),
        attack("all_system_calls", all_system_calls(ALLOWED), &["ok"]),
    ]
}

/// Names with numbers, separated by commas.
fn numbered(name: &str, count: usize) -> String {
    (0..count).map(|each| format!("{name}{each}")).collect::<Vec<_>>().join(",")
}

/// The system calls that are expected to work.
pub const ALLOWED: &[libc::c_long] = &[
    // The kernel itself lets these two through, past every filter; they are fatal except from one address:
    // `uretprobe`, `uprobe`.
    335,
    336,
    libc::SYS_brk,
    libc::SYS_clock_getres,
    libc::SYS_clock_gettime,
    libc::SYS_clock_nanosleep,
    libc::SYS_close,
    libc::SYS_exit,
    libc::SYS_exit_group,
    libc::SYS_fstat,
    libc::SYS_futex,
    libc::SYS_getpid,
    libc::SYS_getrandom,
    libc::SYS_gettid,
    libc::SYS_gettimeofday,
    libc::SYS_lseek,
    libc::SYS_madvise,
    libc::SYS_mmap,
    libc::SYS_mprotect,
    libc::SYS_mremap,
    libc::SYS_munmap,
    libc::SYS_nanosleep,
    libc::SYS_read,
    libc::SYS_restart_syscall,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_sched_yield,
    libc::SYS_sigaltstack,
    libc::SYS_write,
    libc::SYS_writev,
];

/// Makes every system call that is not expected to work, also by the numbers of the x32 ABI.
pub fn all_system_calls(allowed: &[libc::c_long]) -> String {
    format!(
        "
import typing
ctypes = typing.sys.modules['ctypes']
call = ctypes.CDLL(None, use_errno=True).syscall
call.restype = ctypes.c_long
nothing = [ctypes.c_long(0)] * 6
allowed = {allowed:?}
for base in (0, 0x40000000):
    for number in range(1024):
        if base == 0 and number in allowed:
            continue
        ctypes.set_errno(0)
        got = call(ctypes.c_long(base + number), *nothing)
        if (got, ctypes.get_errno()) != (-1, 1):
            print('ESCAPED', base + number, got, ctypes.get_errno())
"
    )
}
