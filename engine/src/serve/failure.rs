//! Answers that are errors, in OpenAI's form.

use hyper::StatusCode;
use serde_json::{Value, json};

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The status of HTTP.
    pub status: StatusCode,
    /// What went wrong, for a person.
    pub message: String,
    /// The field that is wrong.
    pub param: Option<String>,
    /// A short name that does not change.
    pub code: &'static str,
}

impl Failure {
    /// Any failure.
    pub fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        Self { status, message: message.into(), param: None, code }
    }

    /// The request is wrong.
    pub fn invalid(message: String, param: Option<&str>) -> Self {
        let param = param.map(str::to_owned);
        Self { param, ..Self::new(StatusCode::BAD_REQUEST, "invalid_request", message) }
    }

    /// The body of the answer.
    pub fn json(&self) -> Value {
        let kind = match self.status.as_u16() {
            401 => "authentication_error",
            429 | 503 => "overloaded_error",
            500.. => "server_error",
            _ => "invalid_request_error",
        };
        json!({"error": {"message": self.message, "type": kind, "param": self.param, "code": self.code}})
    }
}
