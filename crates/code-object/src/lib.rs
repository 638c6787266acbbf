//! code-object
