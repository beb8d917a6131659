//! The limits of one call.

use crate::config::Config;
use std::time::Duration;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    pub timeout: Duration,
    pub memory_bytes: u64,
}

impl Limits {
    pub fn of(config: &Config) -> Self {
        Self { timeout: config.timeout, memory_bytes: config.memory_mb << 20 }
    }

    /// The upper limits of a call on files.
    pub fn of_files(config: &Config) -> Self {
        Self { timeout: config.files_timeout, memory_bytes: config.files_memory_mb << 20 }
    }

    /// Lower limits, if a request asks for them; never higher ones.
    pub fn lowered(self, timeout: Option<Duration>, memory_mb: Option<u64>) -> Self {
        Self {
            timeout: timeout.map_or(self.timeout, |asked| asked.min(self.timeout)),
            memory_bytes: memory_mb
                .map_or(self.memory_bytes, |asked| asked.saturating_mul(1 << 20).min(self.memory_bytes)),
        }
    }

    /// For RLIMIT_CPU, a little later than the supervisor's timeout. It catches processes that the supervisor's timeout
    /// misses.
    pub fn cpu_seconds(self) -> u32 {
        u32::try_from(self.timeout.as_secs()).unwrap_or(u32::MAX - 2) + 2
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_only_go_down() {
        let most = Limits { timeout: Duration::from_secs(5), memory_bytes: 50 << 20 };
        assert_eq!(most.lowered(None, None), most);
        assert_eq!(most.lowered(Some(Duration::from_secs(60)), Some(u64::MAX)), most);
        let less = most.lowered(Some(Duration::from_millis(10)), Some(1));
        assert_eq!(less, Limits { timeout: Duration::from_millis(10), memory_bytes: 1 << 20 });
    }
}
