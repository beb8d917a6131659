//! The filter of the first room: enough for a computation with three open pipes.

use super::{Calls, Conditional};
use nix::libc;
use seccompiler::SeccompCmpOp;
use std::io::Result;

/// The filters, in the order in which they are installed.
pub fn code() -> Result<Vec<Vec<u8>>> {
    Ok(vec![CALLS.allowed()?])
}

const CALLS: Calls<'static> = Calls { always: &[COMPUTATION], sometimes: &[COMPUTATION_IF] };

pub(super) const COMPUTATION: &[libc::c_long] = &[
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

pub(super) const COMPUTATION_IF: &[Conditional] = &[
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

#[cfg(test)]
mod tests {
    use super::*;

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
            assert!(!CALLS.name(call), "{call}");
        }
    }
}
