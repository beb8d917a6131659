//! Names that nobody can guess.

use rustix::rand::{GetRandomFlags, getrandom};
use std::fmt::Write;
use std::io::{Error, Result};

/// A name of 128 random bits.
pub fn name() -> Result<String> {
    let mut bytes = [0_u8; 16];
    if getrandom(&mut bytes, GetRandomFlags::empty())? != bytes.len() {
        return Err(Error::other("the system gives no random bytes"));
    }
    let mut name = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        let _ = write!(name, "{byte:02x}");
    }
    Ok(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_comes_twice() {
        let names: std::collections::BTreeSet<_> = (0..100).map(|_| name().unwrap()).collect();
        assert!(names.len() == 100 && names.iter().all(|name| name.len() == 32));
    }
}
