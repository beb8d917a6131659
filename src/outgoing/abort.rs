//! Ends requests that nobody waits for any more.

use worker::web_sys::{AbortController, AbortSignal};

/// Ends the requests that it was given to, and their responses, when it is dropped. To most servers a connection that
/// is closed early says that the answer is not wanted any more.
pub struct AbortOnDrop(Option<AbortController>);

impl AbortOnDrop {
    pub fn new() -> Self {
        // Without a controller a request merely ends later.
        Self(AbortController::new().ok())
    }

    pub(super) fn signal(&self) -> Option<AbortSignal> {
        self.0.as_ref().map(AbortController::signal)
    }
}

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        if let Some(controller) = &self.0 {
            controller.abort();
        }
    }
}
