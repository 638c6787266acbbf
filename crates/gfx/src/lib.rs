//! gfx
