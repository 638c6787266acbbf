//! What the kernels compute, on the CPU and in the plainest way: the numbers that a device's are compared with.

mod rms_norm;

pub use rms_norm::rms_norm;
