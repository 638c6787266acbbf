//! A model file, opened for use: its weights on a backend, its tokenizer and its chat template.

use crate::backend::Backend;
use crate::chat::{self, Message, Template};
use crate::gguf::{self, Gguf};
use crate::model::{LoadError, Model};
use crate::tokenizer::{self, Tokenizer};
use std::path::Path;
use std::sync::Arc;

/// Why a file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file or a tensor of it.
    #[error(transparent)]
    Gguf(#[from] gguf::Error),
    /// The file of its weights, or whoever is to compute with them.
    #[error(transparent)]
    Model(#[from] LoadError),
    /// Its tokenizer.
    #[error(transparent)]
    Tokenizer(#[from] tokenizer::Error),
    /// A tokenizer of another model.
    #[error("the tokenizer has {tokens} tokens, but the model knows {vocabulary}")]
    Vocabulary {
        /// Tokens of the tokenizer.
        tokens: usize,
        /// Rows of the embedding.
        vocabulary: usize,
    },
}

/// What a file holds.
pub struct Loaded<B: Backend> {
    /// The network.
    pub model: Model<B>,
    /// Text to tokens and back.
    pub language: Language,
}

/// How a model takes text.
#[derive(Clone)]
pub struct Language {
    /// Text to tokens and back.
    pub tokenizer: Arc<Tokenizer>,
    /// `None`: the file has none.
    template: Option<Arc<Template>>,
    /// Why the file's template cannot be used, if that is so.
    template_error: Option<Arc<chat::Error>>,
}

impl<B: Backend> Loaded<B> {
    /// Takes a file that has been opened.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn new(gguf: &Arc<Gguf>, backend: B) -> Result<Self, Error> {
        let model = Model::load(gguf, backend)?;
        let language = Language::new(gguf)?;
        let (tokens, vocabulary) = (language.tokenizer.count(), model.config().vocabulary);
        if tokens != vocabulary {
            return Err(Error::Vocabulary { tokens, vocabulary });
        }
        Ok(Self { model, language })
    }

    /// Opens a file.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn open(path: &Path, backend: B) -> Result<Self, Error> {
        Self::new(&Arc::new(Gguf::open(path)?), backend)
    }
}

impl Language {
    fn new(gguf: &Gguf) -> Result<Self, Error> {
        let tokenizer = Arc::new(Tokenizer::new(gguf)?);
        let source = gguf.text("tokenizer.chat_template")?;
        // A template that is wrong spoils chats, but not plain text.
        let (template, template_error) =
            match source.map(|source| Template::new(source, tokenizer.start_and_end())) {
                None => (None, None),
                Some(Ok(template)) => (Some(Arc::new(template)), None),
                Some(Err(error)) => (None, Some(Arc::new(error))),
            };
        Ok(Self { tokenizer, template, template_error })
    }

    /// The tokens of a plain text; control tokens in it are themselves.
    pub fn of_text(&self, text: &str) -> Vec<u32> {
        self.started(self.tokenizer.encode_with_control(text))
    }

    /// The tokens of a chat, up to where the answer starts.
    ///
    /// # Errors
    /// [`chat::Error`].
    pub fn of_chat(&self, messages: &[Message]) -> Result<Vec<u32>, Arc<chat::Error>> {
        if let Some(error) = &self.template_error {
            return Err(error.clone());
        }
        let template = self.template.as_ref().ok_or_else(|| Arc::new(chat::Error::None))?;
        let text = template.render(messages).map_err(Arc::new)?;
        Ok(self.started(self.tokenizer.encode_with_control(&text)))
    }

    /// Puts the token that every text starts with to the front, unless a template did.
    fn started(&self, tokens: Vec<u32>) -> Vec<u32> {
        match self.tokenizer.start() {
            Some(start) if tokens.first() != Some(&start) => [start].into_iter().chain(tokens).collect(),
            _ => tokens,
        }
    }
}
