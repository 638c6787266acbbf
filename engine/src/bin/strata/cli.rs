//! The whole command line.

use clap::{Args, Parser, Subcommand, ValueEnum};
use engine::generate::Sampling;
use engine::memory::Choice;
use engine::serve::request::random;
use std::net::IpAddr;
use std::path::PathBuf;

/// Text from a model in a GGUF file.
///
/// Exit codes: 0 done, 1 failed, 2 usage, 130 interrupted. stdout carries text or JSON, stderr carries talk.
#[derive(Debug, Parser)]
#[command(name = "strata", version, about, long_about)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Continue a text, or answer in a chat
    Generate(Generate),
    /// Serve the model over HTTP, as OpenAI's API has it
    Serve(Serve),
    /// Measure prompt and decode speed
    Bench(Bench),
    /// Show where a model's parts would go in memory, and whether they fit
    Plan(Plan),
    /// Compute on cards and on the CPU, and compare
    Check(Check),
}

/// What every command that runs a model takes.
#[derive(Debug, Args)]
pub(crate) struct Running {
    /// The model: a GGUF file
    pub(crate) model: PathBuf,

    /// Tokens of the context, of each sequence [default: what the model was trained with, 4096 at most]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1 << 20))]
    pub(crate) context: Option<u32>,

    /// Threads [default: one a core]
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub(crate) threads: usize,

    /// What computes: `auto` is the best card, with the CPU for what it does not hold, else the CPU alone
    #[arg(long, value_enum, default_value_t = Computes::Auto)]
    pub(crate) backend: Computes,

    #[command(flatten)]
    pub(crate) cards: Cards,

    /// How often each expert was used, as --count-experts wrote it: what was used most goes to the cards
    #[arg(long, value_name = "FILE")]
    pub(crate) expert_counts: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Computes {
    Auto,
    Cpu,
    Hip,
}

/// Which cards are used.
#[derive(Debug, Args)]
pub(crate) struct Cards {
    /// Use this card, by HIP's number [default: the best that is not integrated]
    #[arg(long, value_name = "N", conflicts_with = "gpus")]
    gpu: Option<u32>,

    /// Split the layers over these cards: `1,0` or `all`
    #[arg(long, value_name = "LIST")]
    gpus: Option<Choice>,

    /// MiB that are left free on each card
    #[arg(long, value_name = "N", default_value_t = 700)]
    vram_reserve_mib: u32,

    /// Where the code objects lie [default: kernels, beside this program]
    #[arg(long, value_name = "DIR")]
    kernels: Option<PathBuf>,
}

impl Cards {
    pub(crate) fn choice(&self) -> Choice {
        let named = self.gpu.map(|number| Choice::Named(vec![number]));
        named.or_else(|| self.gpus.clone()).unwrap_or_default()
    }

    pub(crate) fn are_named(&self) -> bool {
        self.gpu.is_some() || self.gpus.is_some()
    }

    /// Bytes that are left free on each card.
    pub(crate) fn reserve(&self) -> u64 {
        u64::from(self.vram_reserve_mib) << 20
    }

    /// Where the code objects lie.
    pub(crate) fn kernels(&self) -> PathBuf {
        let beside = || std::env::current_exe().unwrap_or_default().with_file_name("kernels");
        self.kernels.clone().unwrap_or_else(beside)
    }
}

#[derive(Debug, Args)]
pub(crate) struct Generate {
    #[command(flatten)]
    pub(crate) running: Running,

    /// Count how often each expert is used and add it to this file, for --expert-counts
    #[arg(long, value_name = "FILE")]
    pub(crate) count_experts: Option<PathBuf>,

    /// The text [default: standard input]
    #[arg(long, short, value_name = "TEXT")]
    pub(crate) prompt: Option<String>,

    /// Take the text as a message of a chat, by the model's chat template
    #[arg(long)]
    pub(crate) chat: bool,

    /// What the chat starts with
    #[arg(long, value_name = "TEXT", requires = "chat")]
    pub(crate) system: Option<String>,

    /// Most tokens to generate [default: as many as the context holds]
    #[arg(long, short = 'n', value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_tokens: Option<u32>,

    /// Stop before this text; may be given several times
    #[arg(long, value_name = "TEXT")]
    pub(crate) stop: Vec<String>,

    /// Go on where the model would end
    #[arg(long)]
    pub(crate) ignore_end: bool,

    /// Divides the logits; 0: always the best token
    #[arg(long, value_name = "F", default_value_t = 0.8)]
    temperature: f32,

    /// Choose among so many of the best tokens; 0: all
    #[arg(long, value_name = "N", default_value_t = 40)]
    top_k: usize,

    /// Choose among the best tokens whose probabilities sum to this
    #[arg(long, value_name = "F", default_value_t = 0.95)]
    top_p: f32,

    /// Choose among tokens at least this likely, compared with the best
    #[arg(long, value_name = "F", default_value_t = 0.05)]
    min_p: f32,

    /// Makes tokens less likely that were there lately; 1: off
    #[arg(long, value_name = "F", default_value_t = 1.0)]
    repetition: f32,

    /// How many tokens are lately
    #[arg(long, value_name = "N", default_value_t = 64)]
    repetition_window: usize,

    /// The same seed gives the same text [default: another one each time]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,

    /// Print one JSON object with text, counts and times at the end, instead of text as it comes
    #[arg(long)]
    pub(crate) json: bool,
}

impl Generate {
    pub(crate) fn sampling(&self) -> Sampling {
        Sampling {
            temperature: self.temperature,
            top_k: self.top_k,
            top_p: self.top_p,
            min_p: self.min_p,
            repetition: self.repetition,
            repetition_window: self.repetition_window,
            seed: self.seed.unwrap_or_else(random),
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct Serve {
    #[command(flatten)]
    pub(crate) running: Running,

    /// Address to listen at; other than loopback needs an API key
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    pub(crate) host: IpAddr,

    /// Port to listen at; 0: any that is free
    #[arg(long, value_name = "N", default_value_t = 8080)]
    pub(crate) port: u16,

    /// Sequences that are computed at once; others wait
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) parallel: u16,

    /// Requests that may wait; more get status 429
    #[arg(long, value_name = "N", default_value_t = 512)]
    pub(crate) queue: usize,

    /// The model's name for clients [default: the file's name]
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,

    /// What clients must send as bearer token
    #[arg(long, value_name = "KEY", env = "STRATA_API_KEY", hide_env_values = true)]
    pub(crate) api_key: Option<String>,

    /// Bytes of a request at most
    #[arg(long, value_name = "N", default_value_t = 1 << 20)]
    pub(crate) max_body: usize,

    /// Seconds that running requests may take when the server is told to stop
    #[arg(long, value_name = "N", default_value_t = 30)]
    pub(crate) drain: u64,
}

#[derive(Debug, Args)]
pub(crate) struct Bench {
    #[command(flatten)]
    pub(crate) running: Running,

    /// Count how often each expert is used and add it to this file, for --expert-counts
    #[arg(long, value_name = "FILE")]
    pub(crate) count_experts: Option<PathBuf>,

    /// Tokens of the prompt
    #[arg(long, value_name = "N", default_value_t = 512, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) prompt_tokens: u32,

    /// Tokens to generate after it
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) generate: u32,

    /// How often; the median counts
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) repeat: u32,

    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Plan {
    #[command(flatten)]
    pub(crate) running: Running,

    /// Sequences at once
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) parallel: u16,

    /// Print one JSON object, in bytes
    #[arg(long)]
    pub(crate) json: bool,
}

/// Fails when a logit is off by more than a fiftieth of the logits' range. The CPU computes in f32, the card's attention and long products in f16.
#[derive(Debug, Args)]
pub(crate) struct Check {
    #[command(flatten)]
    pub(crate) running: Running,

    /// The text
    #[arg(long, short, value_name = "TEXT", default_value = "The quick brown fox jumps over the lazy dog.")]
    pub(crate) prompt: String,

    /// Tokens to generate after it, the best of the CPU's each time
    #[arg(long, short = 'n', value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) tokens: u32,

    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definition_is_sound() {
        Cli::command().debug_assert();
    }
}
