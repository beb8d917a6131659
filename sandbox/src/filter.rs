//! The system calls that are left to a call's process: those of a computation with three open pipes. All others fail
//! with EPERM, which Python turns into an exception; those of another architecture kill.

use nix::libc;
use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch,
};
use std::collections::BTreeMap;
use std::io::{Error, Result};

const ALLOWED: &[libc::c_long] = &[
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

/// Memory may be had, but not made executable.
const ALLOWED_WITHOUT_EXEC: [libc::c_long; 2] = [libc::SYS_mmap, libc::SYS_mprotect];
const PROTECTION_ARGUMENT: u8 = 2;

/// The filter as the kernel takes it: 8 bytes for each instruction.
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
    for call in ALLOWED_WITHOUT_EXEC {
        let not_executable = SeccompCondition::new(
            PROTECTION_ARGUMENT,
            SeccompCmpArgLen::Dword,
            SeccompCmpOp::MaskedEq(libc::PROT_EXEC as u64),
            0,
        )?;
        rules.insert(call, vec![SeccompRule::new(vec![not_executable])?]);
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
            assert!(!ALLOWED.contains(&call), "{call}");
        }
    }
}
