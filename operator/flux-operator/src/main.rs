//! The `flux-operator` binary.
fn main() {}
