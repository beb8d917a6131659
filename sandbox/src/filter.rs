//! The system calls that a call's process may use: enough for a computation with three open pipes. All other system
//! calls fail with EPERM, which Python turns into an exception. System calls of another architecture kill the process.

use nix::libc;
use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch,
};
use std::collections::BTreeMap;
use std::io::{Error, Result};

const ALLOWED: &[libc::c_long] = &[
    libc::SYS_brk,
    libc::SYS_close,
    libc::SYS_exit,
    libc::SYS_exit_group,
    libc::SYS_fstat,
    libc::SYS_getpid,
    libc::SYS_getrandom,
    libc::SYS_gettid,
    libc::SYS_gettimeofday,
    libc::SYS_lseek,
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

/// A system call that is allowed if one of the conditions on an argument holds: the system call, the argument, the
/// conditions.
type Conditional = (libc::c_long, u8, &'static [(SeccompCmpOp, u64)]);

const ALLOWED_IF: &[Conditional] = &[
    // Memory may be allocated, but not made executable.
    (libc::SYS_mmap, 2, &[(NOT_EXECUTABLE, 0)]),
    (libc::SYS_mprotect, 2, &[(NOT_EXECUTABLE, 0)]),
    // Memory may be freed. The other kinds of advice are for files, or for sharing pages with other processes.
    (
        libc::SYS_madvise,
        2,
        &[(SeccompCmpOp::Eq, libc::MADV_DONTNEED as u64), (SeccompCmpOp::Eq, libc::MADV_FREE as u64)],
    ),
    // Locks may wait and wake. The kinds that inherit priorities are left out, because they have had several
    // vulnerabilities.
    (
        libc::SYS_futex,
        1,
        &[
            (FUTEX_OPERATION, libc::FUTEX_WAIT as u64),
            (FUTEX_OPERATION, libc::FUTEX_WAKE as u64),
            (FUTEX_OPERATION, libc::FUTEX_WAIT_BITSET as u64),
            (FUTEX_OPERATION, libc::FUTEX_WAKE_BITSET as u64),
        ],
    ),
    // The system's clocks. The clocks of single processes, including other processes, have negative numbers, which are
    // large here.
    (libc::SYS_clock_gettime, 0, &[(SeccompCmpOp::Le, libc::CLOCK_TAI as u64)]),
    (libc::SYS_clock_getres, 0, &[(SeccompCmpOp::Le, libc::CLOCK_TAI as u64)]),
    (libc::SYS_clock_nanosleep, 0, &[(SeccompCmpOp::Le, libc::CLOCK_TAI as u64)]),
];

const NOT_EXECUTABLE: SeccompCmpOp = SeccompCmpOp::MaskedEq(libc::PROT_EXEC as u64);
/// Ignores the flags for private locks and for the choice of a clock.
const FUTEX_OPERATION: SeccompCmpOp =
    SeccompCmpOp::MaskedEq(!((libc::FUTEX_PRIVATE_FLAG | libc::FUTEX_CLOCK_REALTIME) as u32) as u64);

/// The filter in the kernel's format: 8 bytes for each instruction.
pub fn bytes() -> Result<Vec<u8>> {
    let program = compile().map_err(|cause| Error::other(format!("the seccomp filter cannot be built: {cause}")))?;
    let mut bytes = Vec::with_capacity(program.len() * 8);
    for instruction in &program {
        bytes.extend(instruction.code.to_ne_bytes());
        bytes.extend([instruction.jt, instruction.jf]);
        bytes.extend(instruction.k.to_ne_bytes());
    }
    Ok(bytes)
}

fn compile() -> std::result::Result<BpfProgram, BackendError> {
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = ALLOWED.iter().map(|&call| (call, Vec::new())).collect();
    for &(call, argument, conditions) in ALLOWED_IF {
        let of_call = rules.entry(call).or_default();
        for (comparison, value) in conditions {
            // All these arguments have 32 bits; the kernel ignores the upper bits.
            let condition = SeccompCondition::new(argument, SeccompCmpArgLen::Dword, comparison.clone(), *value)?;
            of_call.push(SeccompRule::new(vec![condition])?);
        }
    }
    let denied = SeccompAction::Errno(libc::EPERM as u32);
    let architecture: TargetArch = std::env::consts::ARCH.try_into()?;
    SeccompFilter::new(rules, denied, SeccompAction::Allow, architecture)?.try_into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_filter_is_one_that_the_kernel_takes() {
        let bytes = bytes().unwrap();
        assert_eq!(bytes.len() % 8, 0);
        // BPF_MAXINSNS
        assert!((ALLOWED.len()..4096).contains(&(bytes.len() / 8)));
    }

    #[test]
    fn nothing_that_reaches_out_is_allowed() {
        for call in [
            libc::SYS_openat,
            libc::SYS_socket,
            libc::SYS_clone,
            libc::SYS_clone3,
            libc::SYS_execve,
            libc::SYS_kill,
            libc::SYS_ptrace,
            libc::SYS_prlimit64,
            libc::SYS_prctl,
            libc::SYS_ioctl,
            libc::SYS_sendmsg,
            libc::SYS_io_uring_setup,
            libc::SYS_pkey_mprotect,
            libc::SYS_memfd_create,
        ] {
            assert!(!ALLOWED.contains(&call) && !ALLOWED_IF.iter().any(|each| each.0 == call), "{call}");
        }
    }
}
