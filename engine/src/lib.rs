//! Strata's engine. So far: the kernels it launches, their CPU reference, and the report on this machine's GPUs that `strata-device` prints.

pub mod arena;
pub mod backend;
pub mod catalogue;
pub mod chat;
pub mod cli;
pub mod device;
pub mod element;
pub mod generate;
pub mod gguf;
pub mod loaded;
pub mod memory;
pub mod model;
pub mod plan;
pub mod quant;
pub mod reference;
pub mod report;
pub mod rms_norm;
pub mod selftest;
pub mod serve;
pub mod tokenizer;
