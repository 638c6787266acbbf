//! What a client asks for: JSON of the OpenAI kind, checked field by field.

use super::failure::Failure;
use crate::chat::Message;
use crate::generate::Sampling;
use serde_json::{Map, Value};
use std::hash::{BuildHasher, Hasher};

/// What comes before the answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Prompt {
    /// A chat.
    Chat(Vec<Message>),
    /// Plain text.
    Text(String),
    /// Tokens.
    Tokens(Vec<u32>),
}

/// A request whose fields are all in their range.
#[derive(Debug, Clone, PartialEq)]
pub struct Ask {
    /// What comes before the answer.
    pub prompt: Prompt,
    /// Most tokens; `None`: as many as the context holds.
    pub limit: Option<usize>,
    /// How tokens are chosen.
    pub sampling: Sampling,
    /// Texts at which the answer ends.
    pub stops: Vec<String>,
    /// Parts as they come, instead of one answer.
    pub streams: bool,
    /// Counts at the end of a stream.
    pub wants_usage: bool,
}

/// Most stop texts, and most bytes of one.
const STOPS: usize = 16;
const STOP_BYTES: usize = 1024;

/// What other servers do and this one does not; a field that says so is refused instead of being passed over.
const UNSUPPORTED: [&str; 12] = [
    "tools",
    "functions",
    "function_call",
    "logit_bias",
    "logprobs",
    "top_logprobs",
    "echo",
    "suffix",
    "audio",
    "presence_penalty",
    "frequency_penalty",
    "prediction",
];

impl Ask {
    /// Reads the body of `/v1/chat/completions`.
    ///
    /// # Errors
    /// What is wrong, as an answer for the client.
    pub fn chat(body: &[u8]) -> Result<Self, Failure> {
        let fields = Fields::new(body)?;
        let prompt = Prompt::Chat(fields.messages()?);
        fields.ask(prompt, &["max_completion_tokens", "max_tokens"], None)
    }

    /// Reads the body of `/v1/completions`.
    ///
    /// # Errors
    /// What is wrong, as an answer for the client.
    pub fn text(body: &[u8]) -> Result<Self, Failure> {
        let fields = Fields::new(body)?;
        let prompt = fields.prompt()?;
        // OpenAI's default.
        fields.ask(prompt, &["max_tokens"], Some(16))
    }
}

/// The fields of a body. One that is null counts as missing.
struct Fields(Map<String, Value>);

fn wrong(field: &str, expected: &str) -> Failure {
    Failure::invalid(format!("`{field}` should be {expected}"), Some(field))
}

impl Fields {
    fn new(body: &[u8]) -> Result<Self, Failure> {
        match serde_json::from_slice(body) {
            Ok(Value::Object(fields)) => Ok(Self(fields)),
            Ok(_) => Err(Failure::invalid("the body should be a JSON object".to_owned(), None)),
            Err(error) => Err(Failure::invalid(format!("the body is not JSON: {error}"), None)),
        }
    }

    fn get(&self, field: &str) -> Option<&Value> {
        self.0.get(field).filter(|value| !value.is_null())
    }

    fn ask(&self, prompt: Prompt, limits: &[&str], default: Option<usize>) -> Result<Ask, Failure> {
        self.refuse_unsupported()?;
        let mut limit = default;
        for field in limits.iter().rev() {
            limit = self.count(field)?.or(limit);
        }
        let options = self.get("stream_options").and_then(|options| options.get("include_usage"));
        Ok(Ask {
            prompt,
            limit,
            sampling: self.sampling()?,
            stops: self.stops()?,
            streams: self.bool("stream")?,
            wants_usage: options.and_then(Value::as_bool).unwrap_or(false),
        })
    }

    fn refuse_unsupported(&self) -> Result<(), Failure> {
        let says_something = |value: &&Value| match value {
            Value::Bool(is_set) => *is_set,
            Value::Number(number) => number.as_f64() != Some(0.0),
            Value::Array(list) => !list.is_empty(),
            Value::Object(fields) => !fields.is_empty(),
            Value::String(text) => !text.is_empty() && text != "none",
            Value::Null => false,
        };
        let named = UNSUPPORTED.into_iter().find(|field| self.get(field).filter(says_something).is_some());
        if let Some(field) = named {
            return Err(Failure::invalid(format!("`{field}` is not supported"), Some(field)));
        }
        for field in ["n", "best_of"] {
            if self.count(field)?.is_some_and(|count| count != 1) {
                return Err(wrong(field, "1"));
            }
        }
        let kind = self.get("response_format").and_then(|format| format.get("type"));
        if kind.is_some_and(|kind| kind != "text") {
            return Err(wrong("response_format", "of the type `text`"));
        }
        Ok(())
    }

    fn bool(&self, field: &str) -> Result<bool, Failure> {
        match self.get(field) {
            None => Ok(false),
            Some(Value::Bool(value)) => Ok(*value),
            Some(_) => Err(wrong(field, "a bool")),
        }
    }

    fn count(&self, field: &str) -> Result<Option<usize>, Failure> {
        let Some(value) = self.get(field) else { return Ok(None) };
        let count = value.as_u64().filter(|count| (1..=u64::from(u32::MAX)).contains(count));
        count.map(|count| Some(count as usize)).ok_or_else(|| wrong(field, "an integer from 1"))
    }

    fn float(&self, field: &str, default: f32) -> Result<f32, Failure> {
        let Some(value) = self.get(field) else { return Ok(default) };
        value.as_f64().map(|value| value as f32).ok_or_else(|| wrong(field, "a number"))
    }

    fn sampling(&self) -> Result<Sampling, Failure> {
        let top_k = match self.get("top_k") {
            None => 0,
            // Others write -1 for all.
            Some(value) if value.as_i64() == Some(-1) => 0,
            Some(value) => value.as_u64().ok_or_else(|| wrong("top_k", "an integer from 0"))? as usize,
        };
        let seed = match self.get("seed") {
            None => random(),
            Some(value) => value.as_i64().ok_or_else(|| wrong("seed", "an integer"))? as u64,
        };
        let sampling = Sampling {
            temperature: self.float("temperature", 1.0)?,
            top_k,
            top_p: self.float("top_p", 1.0)?,
            min_p: self.float("min_p", 0.0)?,
            repetition: self.float("repetition_penalty", 1.0)?,
            seed,
            ..Sampling::GREEDY
        };
        sampling.check().map_err(|invalid| wrong(name_of(invalid.name), invalid.expected))?;
        Ok(sampling)
    }

    fn stops(&self) -> Result<Vec<String>, Failure> {
        let list = match self.get("stop") {
            None => Vec::new(),
            Some(Value::String(stop)) => vec![stop.clone()],
            Some(Value::Array(list)) => {
                let texts = list.iter().map(|stop| stop.as_str().map(str::to_owned));
                texts.collect::<Option<_>>().ok_or_else(|| wrong("stop", "a text or a list of texts"))?
            }
            Some(_) => return Err(wrong("stop", "a text or a list of texts")),
        };
        let is_small = list.len() <= STOPS && list.iter().all(|stop| stop.len() <= STOP_BYTES);
        if is_small { Ok(list) } else { Err(wrong("stop", "16 texts at most, of 1024 bytes each")) }
    }

    fn messages(&self) -> Result<Vec<Message>, Failure> {
        let list = self.get("messages").and_then(Value::as_array).filter(|list| !list.is_empty());
        let list = list.ok_or_else(|| wrong("messages", "a list of messages"))?;
        let message = |value: &Value| {
            let role = value.get("role").and_then(Value::as_str).map(str::to_owned);
            let content = value.get("content").and_then(content);
            role.zip(content).map(|(role, content)| Message { role, content })
        };
        let messages = list.iter().map(message).collect::<Option<_>>();
        messages.ok_or_else(|| wrong("messages", "objects with a `role` and a `content` of text"))
    }

    fn prompt(&self) -> Result<Prompt, Failure> {
        const EXPECTED: &str = "one text, or one list of tokens";
        match self.get("prompt") {
            Some(Value::String(text)) => Ok(Prompt::Text(text.clone())),
            Some(Value::Array(list)) => match list.as_slice() {
                [Value::String(text)] => Ok(Prompt::Text(text.clone())),
                [Value::Array(tokens)] => tokens_of(tokens).ok_or_else(|| wrong("prompt", EXPECTED)),
                tokens => tokens_of(tokens).ok_or_else(|| wrong("prompt", EXPECTED)),
            },
            _ => Err(wrong("prompt", EXPECTED)),
        }
    }
}

/// The name of a sampling number on the wire.
fn name_of(name: &'static str) -> &'static str {
    if name == "repetition" { "repetition_penalty" } else { name }
}

/// A text, or a list of parts of text.
fn content(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Array(parts) => {
            let text = |part: &Value| match part.get("type")?.as_str()? {
                "text" => part.get("text")?.as_str().map(str::to_owned),
                _ => None,
            };
            parts.iter().map(text).collect::<Option<Vec<_>>>().map(|texts| texts.concat())
        }
        _ => None,
    }
}

fn tokens_of(list: &[Value]) -> Option<Prompt> {
    let token = |value: &Value| value.as_u64().and_then(|token| u32::try_from(token).ok());
    list.iter().map(token).collect::<Option<_>>().map(Prompt::Tokens)
}

/// A seed that differs from call to call.
pub fn random() -> u64 {
    std::collections::hash_map::RandomState::new().build_hasher().finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_is_read() {
        let body = br#"{"messages": [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}], "max_tokens": 5,
            "max_completion_tokens": 7, "temperature": 0, "seed": 3, "stop": "x", "stream": true,
            "stream_options": {"include_usage": true}, "tools": [], "n": 1, "unknown": {}}"#;
        let ask = Ask::chat(body).expect("a request");
        assert_eq!(ask.prompt, Prompt::Chat(vec![Message { role: "user".into(), content: "Hi".into() }]));
        assert_eq!((ask.limit, ask.sampling.temperature, ask.sampling.seed), (Some(7), 0.0, 3));
        assert_eq!((ask.stops, ask.streams, ask.wants_usage), (vec!["x".to_owned()], true, true));
        let ask = Ask::text(br#"{"prompt": [[1, 2]]}"#).expect("a request");
        assert_eq!((ask.prompt, ask.limit), (Prompt::Tokens(vec![1, 2]), Some(16)));
    }

    #[test]
    fn what_is_wrong_is_named() {
        let bodies = [
            r#"[]"#,
            r#"{"#,
            r#"{}"#,
            r#"{"prompt": 5}"#,
            r#"{"prompt": [1, "a"]}"#,
            r#"{"prompt": ["a", "b"]}"#,
            r#"{"prompt": "", "max_tokens": 0}"#,
            r#"{"prompt": "", "temperature": -1}"#,
            r#"{"prompt": "", "top_p": "much"}"#,
            r#"{"prompt": "", "repetition_penalty": 0}"#,
            r#"{"prompt": "", "n": 2}"#,
            r#"{"prompt": "", "logprobs": 5}"#,
            r#"{"prompt": "", "response_format": {"type": "json_object"}}"#,
            r#"{"prompt": "", "stop": [1]}"#,
            r#"{"prompt": "", "stream": "yes"}"#,
        ];
        let said: Vec<String> = bodies
            .iter()
            .map(|body| format!("{body}\n    {}", Ask::text(body.as_bytes()).expect_err("wrong").message))
            .collect();
        insta::assert_snapshot!(said.join("\n"));
        let deep = "[".repeat(100_000);
        assert!(Ask::text(deep.as_bytes()).is_err());
        assert!(Ask::chat(br#"{"messages": [{"role": "user"}]}"#).is_err());
        assert!(
            Ask::chat(br#"{"messages": [{"role": "user", "content": [{"type": "image_url"}]}]}"#).is_err()
        );
    }
}
