//! Random input for tests, the same in every run.

/// Bytes that often break parsers.
const TELLING: &[u8] = b"{}[]\",:\\u0-e.x\0\xff";

/// A random number generator that is good enough for fuzzing, and the same in every run.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % bound
    }

    /// Changes, adds, removes or repeats a few bytes.
    pub fn mutate(&mut self, bytes: &mut Vec<u8>) {
        let at = self.below(bytes.len() + 1);
        match self.below(5) {
            0 if at < bytes.len() => bytes[at] = self.below(256) as u8,
            1 => bytes.insert(at, TELLING[self.below(TELLING.len())]),
            2 => bytes.truncate(at),
            3 => {
                let end = (at + self.below(8)).min(bytes.len());
                bytes.drain(at..end);
            }
            _ => {
                let copy = bytes[at..(at + 8).min(bytes.len())].to_vec();
                bytes.splice(at..at, copy);
            }
        }
    }
}
