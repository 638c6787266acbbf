//! Chats as text, by the template that the model's file holds.

use minijinja::syntax::SyntaxConfig;
use minijinja::{Environment, ErrorKind, Value, context};
use serde::{Deserialize, Serialize};

/// One message of a chat.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// `system`, `user`, `assistant` or whatever else the template knows.
    pub role: String,
    /// What was said.
    pub content: String,
}

/// Why a template gives no text.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file has none.
    #[error("the model has no chat template: give it plain text")]
    None,
    /// It is not Jinja.
    #[error("the model's chat template cannot be read")]
    Template(#[source] minijinja::Error),
    /// It refuses these messages, or does not end.
    #[error("the model's chat template does not take these messages")]
    Render(#[source] minijinja::Error),
}

/// Steps that a template may take: a template is part of a file that is not trusted.
const FUEL: u64 = 5_000_000;

/// A chat template.
#[derive(Debug)]
pub struct Template {
    environment: Environment<'static>,
    start: String,
    end: String,
}

impl Template {
    /// Reads a template; `start` and `end` are the tokens of these kinds as text.
    ///
    /// # Errors
    /// [`Error::Template`].
    pub fn new(source: &str, [start, end]: [&str; 2]) -> Result<Self, Error> {
        let mut environment = Environment::new();
        // As Hugging Face's own renderer has it.
        let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
        environment.set_syntax(syntax.map_err(Error::Template)?);
        environment.set_fuel(Some(FUEL));
        environment.set_unknown_method_callback(minijinja_contrib::pycompat::unknown_method_callback);
        environment.add_function("raise_exception", |message: String| -> Result<Value, minijinja::Error> {
            Err(minijinja::Error::new(ErrorKind::InvalidOperation, message))
        });
        environment.add_template_owned("chat", source.to_owned()).map_err(Error::Template)?;
        Ok(Self { environment, start: start.to_owned(), end: end.to_owned() })
    }

    /// The chat as text, up to where the answer starts.
    ///
    /// # Errors
    /// [`Error::Render`].
    pub fn render(&self, messages: &[Message]) -> Result<String, Error> {
        let template = self.environment.get_template("chat").map_err(Error::Render)?;
        let values = context! {
            messages => messages.iter().map(value).collect::<Vec<_>>(),
            add_generation_prompt => true,
            bos_token => self.start.as_str(),
            eos_token => self.end.as_str(),
        };
        template.render(values).map_err(Error::Render)
    }
}

fn value(message: &Message) -> Value {
    Value::from_pairs([("role", message.role.as_str()), ("content", message.content.as_str())])
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHATML: &str = "{%- for message in messages %}
    {%- if message['role'].strip() not in ['system', 'user', 'assistant'] %}{{ raise_exception('no such role') }}{% endif %}
    {{- '<|im_start|>' + message.role + '\\n' + message.content | trim + '<|im_end|>\\n' }}
{%- endfor %}
{%- if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}";

    fn message(role: &str, content: &str) -> Message {
        Message { role: role.to_owned(), content: content.to_owned() }
    }

    #[test]
    fn a_chat_becomes_text() {
        let template = Template::new(CHATML, ["<s>", "</s>"]).expect("a template");
        let text =
            template.render(&[message("system", "Be brief."), message("user", " Hi! ")]).expect("text");
        assert_eq!(
            text,
            "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nHi!<|im_end|>\n<|im_start|>assistant\n"
        );
    }

    #[test]
    fn templates_that_refuse_or_do_not_end() {
        let template = Template::new(CHATML, ["", ""]).expect("a template");
        let error = template.render(&[message("robot", "beep")]).expect_err("no such role");
        assert!(matches!(error, Error::Render(source) if source.to_string().contains("no such role")));
        assert!(matches!(Template::new("{% for %}", ["", ""]), Err(Error::Template(_))));
        let endless = "{% for a in range(9999) %}{% for b in range(9999) %}x{% endfor %}{% endfor %}";
        let endless = Template::new(endless, ["", ""]).expect("a template");
        assert!(matches!(endless.render(&[]), Err(Error::Render(_))));
    }
}
