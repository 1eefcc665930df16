//! Collects text that another process or thread is still writing.

use std::io::Read;
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use super::TEST_TIMEOUT;

#[derive(Clone, Default)]
pub(crate) struct OutputLog(Arc<(Mutex<String>, Condvar)>);

impl OutputLog {
    pub(crate) fn follow(&self, from: impl Read + Send + 'static) {
        let log = self.clone();
        std::thread::spawn(move || {
            let mut from = from;
            let mut buffer = [0; 4096];
            while let Ok(read @ 1..) = from.read(&mut buffer) {
                let text = String::from_utf8_lossy(&buffer[..read]).into_owned();
                log.0.0.lock().unwrap_or_else(PoisonError::into_inner).push_str(&text);
                log.0.1.notify_all();
            }
        });
    }

    pub(crate) fn text(&self) -> String {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn wait_for(&self, part: &str) {
        let text = self.0.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (text, timeout) = self
            .0
            .1
            .wait_timeout_while(text, TEST_TIMEOUT, |text| !text.contains(part))
            .unwrap_or_else(PoisonError::into_inner);
        assert!(!timeout.timed_out(), "{part:?} did not appear in:\n{}", *text);
    }
}
