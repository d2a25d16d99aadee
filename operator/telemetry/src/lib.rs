//! What the operator tells about itself: [logs](start_logging), [metrics](Metrics) and [probes](Health).

mod health;
mod logs;
mod metrics;
mod servers;
mod text;

pub use health::{Health, Phase};
pub use logs::{LogEncoding, LogError, LogLevel, start_logging};
pub use metrics::{ActiveWorker, InstanceInfo, Leadership, Metrics, OperatorInfo, Outcome, Ready};
pub use servers::{AddressError, ListenAddress, ServerError, ServerSettings, Servers};
