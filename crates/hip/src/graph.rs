//! Graphs: launches that were recorded once and are queued again as one.

use crate::api::{Api, CAPTURE_RELAXED};
use crate::{CallError, Runtime, Stream};
use std::ffi::c_void;

/// Recorded work that can be queued any number of times. The memory that it works on must live as long.
pub struct Graph {
    runtime: Runtime,
    executable: *mut c_void,
}

// SAFETY: the handle is opaque, and the runtime's functions may be called from any thread.
unsafe impl Send for Graph {}
// SAFETY: as above.
unsafe impl Sync for Graph {}

impl Api {
    fn has_graphs(&self) -> bool {
        self.stream_begin_capture.is_some()
            && self.stream_end_capture.is_some()
            && self.graph_instantiate.is_some()
            && self.graph_launch.is_some()
            && self.graph_destroy.is_some()
            && self.graph_exec_destroy.is_some()
    }
}

impl Runtime {
    /// Whether this runtime can record and replay work.
    pub fn has_graphs(&self) -> bool {
        self.api.has_graphs()
    }
}

impl Stream {
    /// Records what `work` queues on this stream instead of running it; `failed` makes an error of the runtime one of `work`. `None`: this runtime has no graphs, and `work` was not called.
    ///
    /// # Errors
    /// What `work` or the runtime returns; the stream is no longer recording then.
    pub fn record<T, E>(
        &self,
        work: impl FnOnce() -> Result<T, E>,
        failed: impl Fn(CallError) -> E,
    ) -> Result<Option<(Graph, T)>, E> {
        let api = &self.runtime.api;
        let (true, Some(begin), Some(end), Some(instantiate)) =
            (api.has_graphs(), api.stream_begin_capture, api.stream_end_capture, api.graph_instantiate)
        else {
            return Ok(None);
        };
        // SAFETY: the stream lives.
        api.check(unsafe { begin(self.handle, CAPTURE_RELAXED) }, "hipStreamBeginCapture")
            .map_err(&failed)?;
        let done = work();
        let mut recorded = std::ptr::null_mut();
        // SAFETY: the stream is recording; the pointer is to a live pointer.
        let ended = api.check(unsafe { end(self.handle, &raw mut recorded) }, "hipStreamEndCapture");
        let mut executable = std::ptr::null_mut();
        let done = done.and_then(|done| {
            ended.map_err(&failed)?;
            // SAFETY: the graph was recorded above; the node and the log are optional.
            let code = unsafe {
                instantiate(&raw mut executable, recorded, std::ptr::null_mut(), std::ptr::null_mut(), 0)
            };
            api.check(code, "hipGraphInstantiate").map_err(&failed).map(|()| done)
        });
        if let (Some(destroy), false) = (api.graph_destroy, recorded.is_null()) {
            // SAFETY: the recording is no longer needed: the executable has its own copy.
            unsafe { destroy(recorded) };
        }
        let done = done?;
        Ok(Some((Graph { runtime: self.runtime.clone(), executable }, done)))
    }
}

impl Graph {
    /// Queues all of it on a stream.
    ///
    /// # Errors
    /// What the runtime returns.
    pub fn launch(&self, stream: &Stream) -> Result<(), CallError> {
        let api = &self.runtime.api;
        // A graph is made where all functions are there.
        let Some(launch) = api.graph_launch else { return Ok(()) };
        // SAFETY: graph and stream live.
        api.check(unsafe { launch(self.executable, stream.handle) }, "hipGraphLaunch")
    }
}

impl Drop for Graph {
    fn drop(&mut self) {
        if let Some(destroy) = self.runtime.api.graph_exec_destroy {
            // SAFETY: the handle came from hipGraphInstantiate and is destroyed once. A failure leaves nothing to do.
            unsafe { destroy(self.executable) };
        }
    }
}
