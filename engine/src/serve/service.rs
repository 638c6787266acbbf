//! One request of HTTP: where it goes, whether it may, and what it gets.

use super::answer::{Head, Interface};
use super::failure::Failure;
use super::metrics::Metrics;
use super::request::{Ask, Prompt, random};
use super::stream::Events;
use super::worker::{Connection, Place};
use crate::generate::{Event, Refused, Request, check};
use crate::loaded::Language;
use http_body_util::{BodyExt, Either, Full, LengthLimitError, Limited};
use hyper::StatusCode;
use hyper::body::{Bytes, Incoming};
use hyper::header::{ALLOW, AUTHORIZATION, CACHE_CONTROL, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::Sender;
use std::time::{Duration, SystemTime};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

/// The body of an answer.
pub(super) type Answer = hyper::Response<Either<Full<Bytes>, Events>>;

/// What every request needs.
pub(super) struct Service {
    pub(super) language: Language,
    pub(super) name: String,
    pub(super) context: usize,
    pub(super) vocabulary: usize,
    pub(super) api_key: Option<String>,
    pub(super) body_limit: usize,
    /// Requests that may wait for a slot.
    pub(super) queue_limit: usize,
    /// Requests that may be taken and not ended: those of the slots and of the queue.
    pub(super) most_open: usize,
    pub(super) open: Arc<AtomicUsize>,
    pub(super) requests: Sender<Request>,
    pub(super) metrics: Arc<Metrics>,
    pub(super) is_stopping: AtomicBool,
}

/// How long a client may take to send its body.
const BODY_TIME: Duration = Duration::from_secs(30);

impl Service {
    /// Answers a request.
    pub(super) async fn answer(&self, request: hyper::Request<Incoming>) -> Answer {
        let path = request.uri().path().to_owned();
        match self.route(request, &path).await {
            Ok(answer) => answer,
            Err(failure) => {
                self.metrics.refused.fetch_add(1, Relaxed);
                let mut answer = json_answer(failure.status, &failure.json());
                let header = match failure.status {
                    StatusCode::METHOD_NOT_ALLOWED => allowed(&path).map(|method| (ALLOW, method)),
                    StatusCode::UNAUTHORIZED => Some((WWW_AUTHENTICATE, "Bearer")),
                    StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => {
                        Some((RETRY_AFTER, "1"))
                    }
                    _ => None,
                };
                if let Some((name, value)) = header {
                    answer.headers_mut().insert(name, hyper::header::HeaderValue::from_static(value));
                }
                answer
            }
        }
    }

    async fn route(&self, request: hyper::Request<Incoming>, path: &str) -> Result<Answer, Failure> {
        if path == "/health" {
            return Ok(self.health());
        }
        self.expect_key(&request)?;
        if allowed(path).is_some_and(|method| request.method() != method) {
            let said = format!("{} is not for {path}", request.method());
            return Err(Failure::new(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", said));
        }
        match path {
            "/metrics" => Ok(text_answer(self.metrics.text())),
            "/v1/models" => {
                Ok(json_answer(StatusCode::OK, &json!({"object": "list", "data": [self.model()]})))
            }
            "/v1/chat/completions" => self.complete(request, Interface::Chat).await,
            "/v1/completions" => self.complete(request, Interface::Text).await,
            _ if path.strip_prefix(MODEL) == Some(&self.name) => {
                Ok(json_answer(StatusCode::OK, &self.model()))
            }
            _ => Err(Failure::new(StatusCode::NOT_FOUND, "not_found", format!("there is nothing at {path}"))),
        }
    }

    fn health(&self) -> Answer {
        let (status, word) = match self.is_stopping.load(Relaxed) {
            false => (StatusCode::OK, "ok"),
            true => (StatusCode::SERVICE_UNAVAILABLE, "stopping"),
        };
        json_answer(status, &json!({"status": word, "version": env!("CARGO_PKG_VERSION")}))
    }

    fn model(&self) -> serde_json::Value {
        json!({"id": self.name, "object": "model", "created": 0, "owned_by": "strata"})
    }

    fn expect_key(&self, request: &hyper::Request<Incoming>) -> Result<(), Failure> {
        let Some(key) = &self.api_key else { return Ok(()) };
        let given = request.headers().get(AUTHORIZATION).and_then(|value| bearer(value.as_bytes()));
        if given.is_some_and(|given| is_same(given, key.as_bytes())) {
            return Ok(());
        }
        Err(Failure::new(StatusCode::UNAUTHORIZED, "invalid_api_key", "the API key is missing or wrong"))
    }

    async fn complete(
        &self,
        request: hyper::Request<Incoming>,
        interface: Interface,
    ) -> Result<Answer, Failure> {
        self.metrics.requests.fetch_add(1, Relaxed);
        if self.is_stopping.load(Relaxed) {
            let said = "the server stops: it takes no more requests";
            return Err(Failure::new(StatusCode::SERVICE_UNAVAILABLE, "stopping", said));
        }
        let body = self.body(request).await?;
        let ask = match interface {
            Interface::Chat => Ask::chat(&body)?,
            Interface::Text => Ask::text(&body)?,
        };
        let (streams, wants_usage) = (ask.streams, ask.wants_usage);
        let receiver = self.submit(ask).await?;
        let head = self.head(interface);
        if streams {
            let answer = hyper::Response::new(Either::Right(Events::new(head, wants_usage, receiver)));
            return Ok(with_headers(answer, "text/event-stream"));
        }
        let whole = whole(&head, receiver).await?;
        Ok(json_answer(StatusCode::OK, &whole))
    }

    async fn body(&self, request: hyper::Request<Incoming>) -> Result<Bytes, Failure> {
        let kind =
            request.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        // A web page may send other types anywhere without being asked.
        if !kind.to_ascii_lowercase().starts_with("application/json") {
            let said = "the content type should be application/json";
            return Err(Failure::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type", said));
        }
        let body = Limited::new(request.into_body(), self.body_limit).collect();
        match tokio::time::timeout(BODY_TIME, body).await {
            Ok(Ok(body)) => Ok(body.to_bytes()),
            Ok(Err(error)) if error.is::<LengthLimitError>() => Err(Failure::new(
                StatusCode::PAYLOAD_TOO_LARGE,
                "too_large",
                format!("the body has more than {} bytes", self.body_limit),
            )),
            Ok(Err(error)) => Err(Failure::invalid(format!("the body cannot be read: {error}"), None)),
            Err(_) => Err(Failure::new(
                StatusCode::REQUEST_TIMEOUT,
                "timeout",
                "the body did not come within 30 seconds",
            )),
        }
    }

    async fn submit(&self, ask: Ask) -> Result<UnboundedReceiver<Event>, Failure> {
        let Some(place) = Place::take(&self.open, self.most_open) else {
            let said = format!("{} requests wait already: try again later", self.queue_limit);
            return Err(Failure::new(StatusCode::TOO_MANY_REQUESTS, "queue_full", said));
        };
        // A long text takes its time, in which this thread answers others.
        let language = self.language.clone();
        let prompt = tokio::task::spawn_blocking(move || tokens(&language, ask.prompt));
        let prompt = prompt.await.map_err(|_| failed("the prompt could not be turned into tokens"))??;
        check(&prompt, self.context, self.vocabulary).map_err(|refused| match refused {
            Refused::TooLong { .. } => {
                Failure::new(StatusCode::BAD_REQUEST, "context_length_exceeded", refused.to_string())
            }
            _ => Failure::invalid(refused.to_string(), None),
        })?;
        let (sender, receiver) = unbounded_channel();
        let sink = Connection { sender, metrics: self.metrics.clone(), place: Some(place) };
        let request = Request {
            prompt,
            limit: ask.limit.unwrap_or(self.context),
            sampling: ask.sampling,
            stops: ask.stops,
            ignores_end: false,
            sink: Box::new(sink),
        };
        self.requests.send(request).map_err(|_| stopped())?;
        Ok(receiver)
    }

    fn head(&self, interface: Interface) -> Head {
        let prefix = if interface == Interface::Chat { "chatcmpl" } else { "cmpl" };
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Head {
            interface,
            id: format!("{prefix}-{:016x}", random()),
            created: since.as_secs(),
            model: self.name.clone(),
        }
    }
}

/// The tokens of a prompt.
fn tokens(language: &Language, prompt: Prompt) -> Result<Vec<u32>, Failure> {
    match prompt {
        Prompt::Tokens(tokens) => Ok(tokens),
        Prompt::Text(text) => Ok(language.of_text(&text)),
        Prompt::Chat(messages) => language.of_chat(&messages).map_err(|error| {
            let cause =
                std::error::Error::source(&*error).map(|cause| format!(": {cause}")).unwrap_or_default();
            Failure::invalid(format!("{error}{cause}"), Some("messages"))
        }),
    }
}

fn stopped() -> Failure {
    Failure::new(StatusCode::INTERNAL_SERVER_ERROR, "stopped", "the engine has stopped")
}

fn failed(said: &str) -> Failure {
    Failure::new(StatusCode::INTERNAL_SERVER_ERROR, "failed", said)
}

/// Waits for all of an answer.
async fn whole(head: &Head, mut receiver: UnboundedReceiver<Event>) -> Result<serde_json::Value, Failure> {
    let mut text = String::new();
    while let Some(event) = receiver.recv().await {
        match event {
            Event::Text(part) => text += &part,
            Event::Done(finish, times) => return Ok(head.whole(&text, finish, times)),
            Event::Failed(why) => {
                return Err(Failure::new(StatusCode::INTERNAL_SERVER_ERROR, "backend", why));
            }
        }
    }
    Err(stopped())
}

/// Before the name of a model.
const MODEL: &str = "/v1/models/";

/// The method of a path, where there is something.
fn allowed(path: &str) -> Option<&'static str> {
    match path {
        "/metrics" | "/v1/models" => Some("GET"),
        "/v1/chat/completions" | "/v1/completions" => Some("POST"),
        _ => path.starts_with(MODEL).then_some("GET"),
    }
}

/// The token of `Bearer TOKEN`; schemes are the same in any case (RFC 9110, 11.1).
fn bearer(value: &[u8]) -> Option<&[u8]> {
    let (scheme, token) = value.split_at_checked(b"Bearer ".len())?;
    scheme.eq_ignore_ascii_case(b"Bearer ").then(|| token.trim_ascii_start())
}

/// Compares without telling by its time how much of a key is right.
fn is_same(given: &[u8], key: &[u8]) -> bool {
    given.len() == key.len() && given.iter().zip(key).fold(0, |different, (a, b)| different | (a ^ b)) == 0
}

fn with_headers(mut answer: Answer, kind: &'static str) -> Answer {
    let headers = answer.headers_mut();
    headers.insert(CONTENT_TYPE, hyper::header::HeaderValue::from_static(kind));
    headers.insert(CACHE_CONTROL, hyper::header::HeaderValue::from_static("no-store"));
    answer
}

fn json_answer(status: StatusCode, value: &serde_json::Value) -> Answer {
    let mut answer = hyper::Response::new(Either::Left(Full::new(value.to_string().into())));
    *answer.status_mut() = status;
    with_headers(answer, "application/json")
}

fn text_answer(text: String) -> Answer {
    with_headers(hyper::Response::new(Either::Left(Full::new(text.into()))), "text/plain; version=0.0.4")
}
