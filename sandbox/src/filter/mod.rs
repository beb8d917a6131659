//! The system calls that a call's process may use, as programs for the kernel. All system calls that a room does not list
//! fail with EPERM, which Python turns into an exception. System calls of another architecture kill the process.

mod code;
mod files;

pub use code::code;
pub use files::files;

use nix::libc;
use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch,
};
use std::collections::BTreeMap;
use std::io::{Error, Result};

/// A system call that is meant if one of the conditions on an argument holds: the system call, the argument, the
/// conditions.
type Conditional = (libc::c_long, u8, &'static [(SeccompCmpOp, u64)]);

/// Some system calls: some always, some only with certain arguments.
struct Calls<'a> {
    always: &'a [&'a [libc::c_long]],
    sometimes: &'a [&'a [Conditional]],
}

impl Calls<'_> {
    /// A filter that allows these system calls, and denies all others.
    fn allowed(&self) -> Result<Vec<u8>> {
        self.bytes(SeccompAction::Errno(libc::EPERM as u32), SeccompAction::Allow)
    }

    /// A filter that answers these system calls itself, with this error number or with success (0), and has no opinion
    /// about all others.
    fn answered(&self, error: i32) -> Result<Vec<u8>> {
        self.bytes(SeccompAction::Allow, SeccompAction::Errno(error.unsigned_abs()))
    }

    /// The filter in the kernel's format: 8 bytes for each instruction.
    fn bytes(&self, others: SeccompAction, these: SeccompAction) -> Result<Vec<u8>> {
        let program = self
            .compile(others, these)
            .map_err(|cause| Error::other(format!("the seccomp filter cannot be built: {cause}")))?;
        let mut bytes = Vec::with_capacity(program.len() * 8);
        for instruction in &program {
            bytes.extend(instruction.code.to_ne_bytes());
            bytes.extend([instruction.jt, instruction.jf]);
            bytes.extend(instruction.k.to_ne_bytes());
        }
        Ok(bytes)
    }

    fn compile(&self, others: SeccompAction, these: SeccompAction) -> std::result::Result<BpfProgram, BackendError> {
        let mut rules: BTreeMap<i64, Vec<SeccompRule>> =
            self.always.concat().into_iter().map(|call| (call, Vec::new())).collect();
        for (call, argument, conditions) in self.sometimes.concat() {
            let of_call = rules.entry(call).or_default();
            for (comparison, value) in conditions {
                // All these arguments have 32 bits; the kernel ignores the upper bits.
                let condition = SeccompCondition::new(argument, SeccompCmpArgLen::Dword, comparison.clone(), *value)?;
                of_call.push(SeccompRule::new(vec![condition])?);
            }
        }
        let architecture: TargetArch = std::env::consts::ARCH.try_into()?;
        SeccompFilter::new(rules, others, these, architecture)?.try_into()
    }

    #[cfg(test)]
    fn name(&self, call: libc::c_long) -> bool {
        self.always.concat().contains(&call) || self.sometimes.concat().iter().any(|each| each.0 == call)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_filters_are_ones_that_the_kernel_takes() {
        for bytes in [code().unwrap(), files().unwrap()].concat() {
            assert_eq!(bytes.len() % 8, 0);
            // BPF_MAXINSNS
            assert!((1..4096).contains(&(bytes.len() / 8)));
        }
    }
}
