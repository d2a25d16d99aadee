//! The status of a pod, as the agent of its node writes it.

use std::net::IpAddr;

use k8s_openapi::api::core::v1::Container;
use serde_json::{Value, json};

/// How the one container of a pod is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum State {
    /// It runs; its probe says whether it is ready.
    Running {
        /// Whether it is ready.
        is_ready: bool,
    },
    /// It could not be started, or has ended and will be started anew.
    Waiting {
        /// A word for the cause.
        reason: &'static str,
        /// The cause.
        message: String,
    },
    /// It has ended for good.
    Ended {
        /// Its exit code.
        code: i32,
    },
}

/// A pod as far as its status goes.
#[derive(Debug, Clone)]
pub(crate) struct Report<'a> {
    pub(crate) container: &'a Container,
    pub(crate) address: IpAddr,
    pub(crate) restarts: u32,
    /// When the pod was started, in RFC 3339.
    pub(crate) started: &'a str,
}

impl Report<'_> {
    /// The status of the pod in a state, as a merge patch.
    pub(crate) fn of(&self, state: &State) -> Value {
        let is_ready = *state == State::Running { is_ready: true };
        let (phase, detail) = match state {
            State::Running { .. } => ("Running", json!({"running": {"startedAt": self.started}})),
            State::Waiting { reason, message } => {
                ("Running", json!({"waiting": {"reason": reason, "message": message}}))
            }
            State::Ended { code } => {
                let phase = if *code == 0 { "Succeeded" } else { "Failed" };
                let reason = if *code == 0 { "Completed" } else { "Error" };
                (phase, json!({"terminated": {"exitCode": code, "reason": reason}}))
            }
        };
        let condition = |type_: &str, is_true: bool| {
            let status = if is_true { "True" } else { "False" };
            json!({"type": type_, "status": status, "lastTransitionTime": self.started})
        };
        json!({"status": {
            "phase": phase,
            "podIP": self.address,
            "podIPs": [{"ip": self.address}],
            "startTime": self.started,
            "conditions": [
                condition("PodScheduled", true),
                condition("Initialized", true),
                condition("ContainersReady", is_ready),
                condition("Ready", is_ready),
            ],
            "containerStatuses": [{
                "name": self.container.name,
                "image": self.container.image,
                "imageID": "",
                "ready": is_ready,
                "started": matches!(state, State::Running { .. }),
                "restartCount": self.restarts,
                "state": detail,
            }],
        }})
    }
}
