//! What a client gets: one JSON object, or the parts of one as events.

use crate::generate::{Event, Finish, Times};
use serde_json::{Value, json};

/// Which of the two interfaces a client speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interface {
    /// `/v1/chat/completions`.
    Chat,
    /// `/v1/completions`.
    Text,
}

/// What all parts of an answer say.
#[derive(Debug, Clone)]
pub struct Head {
    /// Which interface.
    pub interface: Interface,
    /// Differs from answer to answer.
    pub id: String,
    /// Seconds since 1970.
    pub created: u64,
    /// The model's name.
    pub model: String,
}

fn reason(finish: Finish) -> &'static str {
    match finish {
        Finish::Stop => "stop",
        Finish::Length => "length",
    }
}

fn usage(times: Times) -> Value {
    json!({
        "prompt_tokens": times.prompt,
        "prompt_tokens_details": {"cached_tokens": times.reused},
        "completion_tokens": times.generated,
        "total_tokens": times.prompt + times.generated,
    })
}

impl Head {
    fn object(&self, suffix: &str, choices: Value) -> Value {
        let kind = match self.interface {
            Interface::Chat => format!("chat.completion{suffix}"),
            Interface::Text => "text_completion".to_owned(),
        };
        json!({"id": self.id, "object": kind, "created": self.created, "model": self.model, "choices": choices})
    }

    /// The answer in one piece.
    pub fn whole(&self, text: &str, finish: Finish, times: Times) -> Value {
        let reason = reason(finish);
        let choice = match self.interface {
            Interface::Chat => {
                json!({"index": 0, "message": {"role": "assistant", "content": text}, "logprobs": null, "finish_reason": reason})
            }
            Interface::Text => json!({"index": 0, "text": text, "logprobs": null, "finish_reason": reason}),
        };
        let mut object = self.object("", json!([choice]));
        object["usage"] = usage(times);
        object
    }

    /// What comes before the first text of a stream.
    pub fn opening(&self) -> Option<String> {
        match self.interface {
            Interface::Chat => Some(self.part(json!({"role": "assistant", "content": ""}), None)),
            Interface::Text => None,
        }
    }

    /// The events that say `event`; the last of a stream come with its counts.
    pub fn events(&self, event: Event, wants_usage: bool) -> String {
        match (event, self.interface) {
            (Event::Text(text), Interface::Chat) => self.part(json!({"content": text}), None),
            (Event::Text(text), Interface::Text) => self.part(json!(text), None),
            (Event::Failed(why), _) => line(
                &json!({"error": {"message": why, "type": "server_error", "param": null, "code": "backend"}}),
            ),
            (Event::Done(finish, times), interface) => {
                let nothing = if interface == Interface::Chat { json!({}) } else { json!("") };
                let mut text = self.part(nothing, Some(finish));
                if wants_usage {
                    let mut object = self.object(".chunk", json!([]));
                    object["usage"] = usage(times);
                    text += &line(&object);
                }
                text + "data: [DONE]\n\n"
            }
        }
    }

    fn part(&self, content: Value, finish: Option<Finish>) -> String {
        let field = if self.interface == Interface::Chat { "delta" } else { "text" };
        let choice =
            json!({"index": 0, field: content, "logprobs": null, "finish_reason": finish.map(reason)});
        line(&self.object(".chunk", json!([choice])))
    }
}

fn line(object: &Value) -> String {
    format!("data: {object}\n\n")
}
