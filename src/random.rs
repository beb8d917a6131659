//! Random bytes for ids. They come from the runtime's own generator, some hundred at a time: asking for the 16 of one id
//! costs as much as asking for all of them.

use crate::error::{Error, Result};
use std::cell::RefCell;

/// Bytes that were asked for, and are handed out once.
struct Pool {
    bytes: [u8; 512],
    /// How many are left, at the end.
    left: usize,
}

/// Fills `bytes`, of which there are at most 512.
pub fn fill(bytes: &mut [u8]) -> Result<()> {
    thread_local! {
        static POOL: RefCell<Pool> = const { RefCell::new(Pool { bytes: [0; 512], left: 0 }) };
    }
    POOL.with_borrow_mut(|pool| {
        if pool.left < bytes.len() {
            getrandom::fill(&mut pool.bytes).map_err(|cause| Error::Internal(format!("no randomness: {cause}")))?;
            pool.left = pool.bytes.len();
        }
        let start = pool.bytes.len() - pool.left;
        let taken = pool.bytes.get_mut(start..start + bytes.len());
        let taken = taken.ok_or_else(|| Error::Internal("more random bytes than are kept".into()))?;
        bytes.copy_from_slice(taken);
        // A secret made of these bytes is not left behind here.
        taken.fill(0);
        pool.left -= bytes.len();
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn no_bytes_are_handed_out_twice() {
        let mut seen = HashSet::new();
        for _ in 0..1_000 {
            let mut bytes = [0; 24];
            fill(&mut bytes).unwrap();
            assert!(bytes.chunks(8).all(|it| it != [0; 8]));
            assert!(seen.insert(bytes));
        }
        assert!(fill(&mut [0; 513]).is_err());
    }
}
