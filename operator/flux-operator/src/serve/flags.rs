//! Flags and environment of `serve`.
//!
//! The names are an interface: charts and scripts set them. An environment variable wins over its flag.

use std::{fmt, path::PathBuf, time::Duration};

use clap::{ArgAction, Args};
use crds::{DEFAULT_NAMESPACE, duration};
use operator_cluster::{
    lease::LeaseSettings,
    notifications::{AddressError, Destination, NotificationsError},
};
use operator_reconcile::{RetryDelays, Settings};
use operator_telemetry::{ListenAddress, LogEncoding, LogLevel, ServerSettings};
use thiserror::Error;

use super::later_flags::LaterFlags;

/// Run the operator
#[derive(Args, Clone, Debug)]
pub(crate) struct Flags {
    /// Folder with the manifests of Flux: flux/<version>/<component>.yaml. Where it has none, those inside
    /// the binary are used
    #[arg(long, value_name = "DIR", default_value = "/data")]
    storage_path: PathBuf,

    /// Field manager whose fields are taken over besides those of kubectl, Helm and Flux; can be repeated.
    /// Environment: OVERRIDE_MANAGERS, a list with commas
    #[arg(long, value_name = "MANAGER", action = ArgAction::Append)]
    override_manager: Vec<String>,

    /// Address of /metrics, 0 for none
    #[arg(long, value_name = "ADDRESS", default_value = ":8080")]
    metrics_addr: ListenAddress,

    /// Address of /healthz and /readyz, 0 for none
    #[arg(long, value_name = "ADDRESS", default_value = ":8081")]
    health_addr: ListenAddress,

    /// Where events are posted besides: by default to the notification-controller of the FluxInstance, nowhere when
    /// empty. Environment: NOTIFICATION_CONTROLLER_ADDRESS, and NOTIFICATIONS_DISABLED for nowhere
    #[arg(long, value_name = "URL")]
    events_addr: Option<Address>,

    /// How much is logged
    #[arg(long, value_enum, default_value_t)]
    pub(super) log_level: LogLevel,

    /// How log lines are written
    #[arg(long, value_enum, default_value_t)]
    pub(super) log_encoding: LogEncoding,

    /// Shortest wait before a failed pass is repeated
    #[arg(long, value_name = "DURATION", default_value = "750ms", value_parser = duration)]
    min_retry_delay: Duration,

    /// Longest wait before a failed pass is repeated
    #[arg(long, value_name = "DURATION", default_value = "15m", value_parser = duration)]
    max_retry_delay: Duration,

    /// How far intervals are spread, in percent either way
    #[arg(long, value_name = "PERCENT", default_value_t = 5, value_parser = clap::value_parser!(u8).range(0..=99))]
    interval_jitter_percentage: u8,

    /// Let one of several operators work
    #[arg(long, value_name = "BOOL", default_value_t = true, action = ArgAction::Set, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub(super) enable_leader_election: bool,

    /// Let the next operator work at once when this one stops
    #[arg(long, value_name = "BOOL", default_value_t = true, action = ArgAction::Set, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub(super) leader_election_release_on_cancel: bool,

    /// How long others wait for a leader that does not renew
    #[arg(long, value_name = "DURATION", default_value = "35s", value_parser = duration)]
    leader_election_lease_duration: Duration,

    /// How long a leader tries to renew
    #[arg(long, value_name = "DURATION", default_value = "30s", value_parser = duration)]
    leader_election_renew_deadline: Duration,

    /// How long everybody waits between two looks at the lease
    #[arg(long, value_name = "DURATION", default_value = "5s", value_parser = duration)]
    leader_election_retry_period: Duration,

    #[command(flatten)]
    later: LaterFlags,

    #[arg(skip = DEFAULT_NAMESPACE.to_owned())]
    namespace: String,

    #[arg(skip)]
    pod_name: Option<String>,

    #[arg(skip = Destination::OfInstance)]
    destination: Destination,
}

/// An address that may hold a password: it is shown nowhere.
#[derive(Clone)]
struct Address(String);

impl From<String> for Address {
    fn from(address: String) -> Self {
        Self(address)
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Address")
    }
}

/// Why flags and environment cannot be used together.
#[derive(Debug, Error)]
pub(crate) enum FlagsError {
    #[error("environment variable {variable}: '{value}' {problem}")]
    Environment { variable: &'static str, value: String, problem: String },
    #[error(
        "--web-server-only: the web page is not part of this version yet, and nothing else was asked for"
    )]
    WebServerOnly,
    #[error("--events-addr: {0}")]
    EventsAddress(AddressError),
    #[error(transparent)]
    Notifications(#[from] NotificationsError),
    #[error("--min-retry-delay is longer than --max-retry-delay")]
    RetryDelays,
}

impl Flags {
    /// Reads the environment, which wins over flags.
    ///
    /// # Errors
    /// When a variable has a value that its flag could not have.
    pub(crate) fn with_environment(
        mut self,
        environment: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, FlagsError> {
        let read = |variable: &'static str| environment(variable).filter(|value| !value.is_empty());
        if let Some(managers) = read("OVERRIDE_MANAGERS") {
            self.override_manager = managers.split(',').map(|manager| manager.trim().to_owned()).collect();
        }
        if let Some(value) = read("REPORTING_INTERVAL") {
            let parsed = duration(&value).map_err(|problem| FlagsError::Environment {
                variable: "REPORTING_INTERVAL",
                value,
                problem,
            })?;
            self.later.reporting_interval = Some(parsed);
        }
        if let Some(value) = read("WEB_SERVER_PORT") {
            let parsed = value.parse().map_err(|_| FlagsError::Environment {
                variable: "WEB_SERVER_PORT",
                value,
                problem: "is not a port".to_owned(),
            })?;
            self.later.web_server_port = Some(parsed);
        }
        let later = &mut self.later;
        for (variable, flag) in [
            ("DEFAULT_SERVICE_ACCOUNT", &mut later.default_service_account),
            (
                "DEFAULT_WORKLOAD_IDENTITY_SERVICE_ACCOUNT",
                &mut later.default_workload_identity_service_account,
            ),
            ("WEB_CONFIG_SECRET_NAME", &mut later.web_config_secret_name),
        ] {
            if let Some(value) = read(variable) {
                *flag = Some(value);
            }
        }
        if let Some(namespace) = read("RUNTIME_NAMESPACE") {
            self.namespace = namespace;
        }
        self.pod_name = read("POD_NAME").or_else(|| read("HOSTNAME"));
        self.destination = match (Destination::from_environment(&environment)?, &self.events_addr) {
            (Some(destination), _) => destination,
            (None, Some(Address(address))) => Destination::at(address).map_err(FlagsError::EventsAddress)?,
            (None, None) => Destination::OfInstance,
        };
        if self.later.web_server_only == Some(true) {
            return Err(FlagsError::WebServerOnly);
        }
        if self.min_retry_delay > self.max_retry_delay {
            return Err(FlagsError::RetryDelays);
        }
        Ok(self)
    }

    /// Names of the flags that were set and have no effect yet.
    pub(crate) fn without_effect(&self) -> Vec<&'static str> {
        self.later.names_of_set()
    }

    pub(crate) fn namespace(&self) -> &str {
        &self.namespace
    }

    pub(crate) fn pod_name(&self) -> Option<String> {
        self.pod_name.clone()
    }

    /// Where events are posted.
    pub(crate) fn destination(&self) -> Destination {
        self.destination.clone()
    }

    pub(crate) fn servers(&self) -> ServerSettings {
        ServerSettings { metrics: self.metrics_addr.clone(), health: self.health_addr.clone() }
    }

    pub(crate) fn lease(&self) -> LeaseSettings {
        let identity = self.pod_name.clone().unwrap_or_else(|| format!("process-{}", std::process::id()));
        LeaseSettings {
            lease_duration: self.leader_election_lease_duration,
            renew_deadline: self.leader_election_renew_deadline,
            retry_period: self.leader_election_retry_period,
            ..LeaseSettings::new(&self.namespace, identity)
        }
    }

    pub(crate) fn settings(&self) -> Settings {
        Settings {
            namespace: self.namespace.clone(),
            storage_path: self.storage_path.clone(),
            override_managers: self.override_manager.iter().cloned().collect(),
            retry_delays: RetryDelays { shortest: self.min_retry_delay, longest: self.max_retry_delay },
            interval_jitter_percent: self.interval_jitter_percentage,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use clap::Parser;

    use super::{Flags, LogLevel};

    #[derive(Debug, Parser)]
    struct Serve {
        #[command(flatten)]
        flags: Flags,
    }

    fn parse(arguments: &[&str]) -> Result<Flags, clap::Error> {
        Serve::try_parse_from([&["serve"], arguments].concat()).map(|serve| serve.flags)
    }

    fn with_environment(arguments: &[&str], environment: &[(&str, &str)]) -> Result<Flags, String> {
        let lookup = |name: &str| {
            environment.iter().find(|(variable, _)| *variable == name).map(|(_, value)| (*value).to_owned())
        };
        parse(arguments).unwrap().with_environment(lookup).map_err(|error| error.to_string())
    }

    #[test]
    fn without_flags_the_documented_defaults_hold() {
        let flags = with_environment(&[], &[]).unwrap();
        assert_eq!(flags.namespace(), "flux-system");
        assert_eq!(flags.log_level, LogLevel::Info);
        assert!(flags.enable_leader_election && flags.leader_election_release_on_cancel);
        assert!(flags.without_effect().is_empty());
        let lease = flags.lease();
        let seconds = [lease.lease_duration, lease.renew_deadline, lease.retry_period].map(|it| it.as_secs());
        assert_eq!(seconds, [35, 30, 5]);
        let settings = flags.settings();
        assert_eq!(settings.retry_delays.shortest, Duration::from_millis(750));
        assert_eq!(settings.retry_delays.longest, Duration::from_mins(15));
    }

    #[test]
    fn every_documented_flag_is_read() {
        let flags = parse(&[
            "--concurrent=20",
            "--reporting-interval=30s",
            "--requeue-dependency=5s",
            "--metrics-addr=:8080",
            "--health-addr=0",
            "--events-addr=http://notification-controller.flux-system/",
            "--storage-path=/manifests",
            "--default-service-account=flux",
            "--default-workload-identity-service-account=flux",
            "--override-manager=argocd",
            "--override-manager=fleet",
            "--watch-configs-label-selector=a=b",
            "--web-server-port=0",
            "--web-server-only=false",
            "--web-config-secret-name=web",
            "--token-cache-max-size=0",
            "--token-cache-max-duration=1h",
            "--log-encoding=console",
            "--log-level=debug",
            "--min-retry-delay=1s",
            "--max-retry-delay=1m",
            "--interval-jitter-percentage=0",
            "--enable-leader-election=false",
            "--leader-election-release-on-cancel",
            "--leader-election-lease-duration=15s",
            "--leader-election-renew-deadline=10s",
            "--leader-election-retry-period=2s",
        ])
        .unwrap();
        assert!(!flags.enable_leader_election);
        assert_eq!(flags.settings().override_managers.len(), 2);
        assert_eq!(
            flags.without_effect(),
            [
                "concurrent",
                "reporting-interval",
                "requeue-dependency",
                "default-service-account",
                "default-workload-identity-service-account",
                "watch-configs-label-selector",
                "web-config-secret-name",
                "token-cache-max-size",
                "token-cache-max-duration"
            ]
        );
    }

    #[test]
    fn the_environment_wins_over_flags() {
        let flags = with_environment(
            &["--override-manager=argocd", "--web-server-port=80"],
            &[
                ("OVERRIDE_MANAGERS", "fleet, other"),
                ("RUNTIME_NAMESPACE", "gitops"),
                ("POD_NAME", "flux-operator-1"),
                ("HOSTNAME", "node"),
                ("WEB_SERVER_PORT", "0"),
            ],
        )
        .unwrap();
        let managers: Vec<String> = flags.settings().override_managers.into_iter().collect();
        assert_eq!(managers, ["fleet", "other"]);
        assert_eq!(flags.namespace(), "gitops");
        assert_eq!(flags.lease().identity, "flux-operator-1");
        assert!(flags.without_effect().is_empty());
    }

    #[test]
    fn events_go_where_the_environment_says_then_where_the_flag_says_then_to_the_instance() {
        let destination = |arguments: &[&str], environment: &[(&str, &str)]| {
            let flags = with_environment(arguments, environment);
            flags.map_or_else(|error| error, |flags| format!("{:?}", flags.destination()))
        };
        let (flag, variable) = ("--events-addr=http://flag", "NOTIFICATION_CONTROLLER_ADDRESS");
        assert_eq!(destination(&[], &[]), "OfInstance");
        assert_eq!(destination(&[flag], &[]), "Fixed(http://flag/)");
        assert_eq!(destination(&["--events-addr="], &[]), "Nowhere");
        assert_eq!(destination(&[flag], &[(variable, "http://variable")]), "Fixed(http://variable/)");
        assert_eq!(destination(&[flag], &[("NOTIFICATIONS_DISABLED", "1")]), "Nowhere");
        let refused = destination(&["--events-addr=secret"], &[]);
        assert_eq!(refused, "--events-addr: the value is no URL: relative URL without a base");
        let flags = parse(&["--events-addr=http://user:pa55word@host"]).unwrap();
        assert!(!format!("{flags:?}").contains("pa55word"));
    }

    #[test]
    fn values_that_make_no_sense_are_refused_by_name() {
        for bad in [
            "--min-retry-delay=-1s",
            "--min-retry-delay=soon",
            "--interval-jitter-percentage=100",
            "--log-level=loud",
            "--metrics-addr=8080",
            "--concurrent=-1",
            "--no-such-flag",
        ] {
            let message = parse(&[bad]).unwrap_err().to_string();
            assert!(message.contains(bad.split('=').next().unwrap()), "{message}");
        }
        parse(&["--web-config=/a", "--web-config-secret-name=b"]).unwrap_err();
        let error = with_environment(&[], &[("REPORTING_INTERVAL", "often")]).unwrap_err();
        assert_eq!(
            error,
            "environment variable REPORTING_INTERVAL: 'often' is not a duration such as 750ms, 30s, 5m or 1h30m"
        );
        with_environment(&["--min-retry-delay=1h"], &[]).unwrap_err();
        let error = with_environment(&["--web-server-only"], &[]).unwrap_err();
        assert!(error.contains("the web page is not part of this version yet"), "{error}");
    }
}
