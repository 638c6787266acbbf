//! The safe interface: tensors with shapes and strides, and one call an operation.
//!
//! Names and argument meanings are upstream Aiter's. A call checks everything that can be known before it computes: shapes, strides, types,
//! alignment, and that all tensors are in one place. These rules are the same on the host and on a GPU. A GPU has three more: there is a kernel for
//! the type, the head dim and the pages, 32-bit offsets reach the tensors, and the content of tensors there is not looked at.
//!
//! - [`Tensor`], [`TensorMut`]: memory of the host or of a GPU, seen as a tensor
//! - [`Attention`], [`GatedActivation`], [`Norm`], [`Rope`], [`QuantisePerToken`], [`AppendKv`]: the calls
//! - [`Kernels`]: makes them

mod append_kv;
mod attention;
mod check;
mod element_type;
mod error;
mod gpu;
mod kernels;
mod rope;
mod row_wise;
mod tensor;
mod tensor_io;

pub use append_kv::AppendKv;
pub use attention::{Attention, AttentionOptions, Limits, Sequences};
pub use element_type::{ElementType, Scalar};
pub use error::Error;
pub use kernels::Kernels;
pub use rope::{Rope, RopeStyle, RopeTables};
pub use row_wise::{Activation, GatedActivation, Norm, NormKind, QuantisePerToken, Residual};
pub use tensor::{Place, Tensor, TensorMut};

pub(crate) use tensor::Memory;
