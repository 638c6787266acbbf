//! The engine against others on the same input: llama.cpp, Hugging Face's tokenizers, OpenAI's client. They come from the machine's pip into a
//! folder of the target directory; where a package cannot be had, its checks are counted as ignored, with the reason.

mod logits;
mod openai;
mod python;
mod tokens;
mod vision;

use libtest_mimic::{Arguments, Trial};

fn main() {
    let mut trials = Vec::new();
    for kind in engine::gguf::TensorType::ALL {
        trials.push(trial(
            &format!("logits_and_greedy_text::{kind}"),
            python::missing(&python::LLAMA_CPP),
            move || {
                logits::agree(kind);
            },
        ));
    }
    trials.push(trial("tokens_of_multilingual_text", python::missing(&python::TOKENIZERS), tokens::agree));
    let missing = python::missing(&python::LLAMA_CPP).or_else(|| python::missing(&python::OPENAI));
    trials.push(trial("openais_client", missing, openai::talks));
    trials.push(trial("embeddings_of_images", python::missing(&python::LLAMA_CPP), vision::agree));
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

fn trial(name: &str, missing: Option<String>, check: impl FnOnce() + Send + 'static) -> Trial {
    let is_ignored = missing.is_some();
    if let Some(reason) = missing {
        eprintln!("skipped: {name}: {reason}");
    }
    let run = move || {
        check();
        Ok(())
    };
    Trial::test(name, run).with_ignored_flag(is_ignored)
}
