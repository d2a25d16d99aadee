//! What the operator tells about itself, as those see it who ask.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test stops at the first surprise"
)]

mod exposition;
mod metrics;
mod servers;
