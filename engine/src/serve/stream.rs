//! The body of an answer that is streamed as server-sent events.

use super::answer::Head;
use crate::generate::Event;
use hyper::body::{Body, Bytes, Frame};
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::sync::mpsc::UnboundedReceiver;

/// Events as they come. hyper drops it when the client leaves, and with it the receiver, which ends the work.
pub(super) struct Events {
    head: Head,
    wants_usage: bool,
    opening: Option<String>,
    receiver: UnboundedReceiver<Event>,
}

impl Events {
    pub(super) fn new(head: Head, wants_usage: bool, receiver: UnboundedReceiver<Event>) -> Self {
        Self { opening: head.opening(), head, wants_usage, receiver }
    }
}

impl Body for Events {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if let Some(opening) = self.opening.take() {
            return Poll::Ready(Some(Ok(Frame::data(opening.into()))));
        }
        self.receiver.poll_recv(context).map(|event| {
            let text = self.head.events(event?, self.wants_usage);
            Some(Ok(Frame::data(text.into())))
        })
    }
}
