//! aiter-kernels
