//! Images to embeddings, on the CPU: the vision part (`mmproj`) of a model, a ViT or SigLIP in a GGUF file of its own.
//!
//! Names of keys and tensors, and what is done to an image before, are those of llama.cpp's `mtmd`.

mod config;
mod encoder;
mod error;
mod picture;
mod prepare;
mod weights;

pub use config::{Activation, Config, Projector};
pub use encoder::{Embeddings, Encoder};
pub use error::Error;
pub use picture::Picture;
