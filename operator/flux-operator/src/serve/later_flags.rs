//! Flags of parts of `serve` that are not built yet.

use std::{path::PathBuf, time::Duration};

use clap::{ArgAction, Args};
use crds::duration;

/// Flags of parts that are not built yet. They are read, so that charts and scripts that set them work.
#[derive(Args, Clone, Debug)]
pub(super) struct LaterFlags {
    /// How many objects of a kind are reconciled at once (no effect yet)
    #[arg(long, value_name = "NUMBER")]
    pub(super) concurrent: Option<u32>,

    /// How often the report is written (no effect yet). Environment: REPORTING_INTERVAL
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub(super) reporting_interval: Option<Duration>,

    /// How long to wait for a dependency (no effect yet)
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub(super) requeue_dependency: Option<Duration>,

    /// ServiceAccount of ResourceSets that name none (no effect yet). Environment: DEFAULT_SERVICE_ACCOUNT
    #[arg(long, value_name = "NAME")]
    pub(super) default_service_account: Option<String>,

    /// ServiceAccount for cloud identity where none is named (no effect yet). Environment:
    /// DEFAULT_WORKLOAD_IDENTITY_SERVICE_ACCOUNT
    #[arg(long, value_name = "NAME")]
    pub(super) default_workload_identity_service_account: Option<String>,

    /// Labels of ConfigMaps and Secrets whose changes start a pass (no effect yet)
    #[arg(long, value_name = "SELECTOR")]
    pub(super) watch_configs_label_selector: Option<String>,

    /// Port of the web page, 0 for none (no effect yet). Environment: WEB_SERVER_PORT
    #[arg(long, value_name = "PORT")]
    pub(super) web_server_port: Option<u16>,

    /// Serve the web page and nothing else (refused until there is one)
    #[arg(long, value_name = "BOOL", action = ArgAction::Set, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub(super) web_server_only: Option<bool>,

    /// File with the configuration of the web page (no effect yet)
    #[arg(long, value_name = "FILE", conflicts_with = "web_config_secret_name")]
    pub(super) web_config: Option<PathBuf>,

    /// Secret with the configuration of the web page (no effect yet). Environment: WEB_CONFIG_SECRET_NAME
    #[arg(long, value_name = "NAME")]
    pub(super) web_config_secret_name: Option<String>,

    /// How many tokens are kept (no effect yet)
    #[arg(long, value_name = "NUMBER")]
    pub(super) token_cache_max_size: Option<u32>,

    /// How long a token is kept (no effect yet)
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub(super) token_cache_max_duration: Option<Duration>,
}

impl LaterFlags {
    /// Names of those that were set.
    pub(super) fn names_of_set(&self) -> Vec<&'static str> {
        let set = [
            (self.concurrent.is_some(), "concurrent"),
            (self.reporting_interval.is_some(), "reporting-interval"),
            (self.requeue_dependency.is_some(), "requeue-dependency"),
            (self.default_service_account.is_some(), "default-service-account"),
            (
                self.default_workload_identity_service_account.is_some(),
                "default-workload-identity-service-account",
            ),
            (self.watch_configs_label_selector.is_some(), "watch-configs-label-selector"),
            (self.web_server_port.is_some_and(|port| port != 0), "web-server-port"),
            (self.web_config.is_some(), "web-config"),
            (self.web_config_secret_name.is_some(), "web-config-secret-name"),
            (self.token_cache_max_size.is_some(), "token-cache-max-size"),
            (self.token_cache_max_duration.is_some(), "token-cache-max-duration"),
        ];
        set.into_iter().filter(|(is_set, _)| *is_set).map(|(_, name)| name).collect()
    }
}
