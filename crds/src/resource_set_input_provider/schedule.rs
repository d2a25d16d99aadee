use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use crate::{null, status::date_time, violation::DURATION};

/// When the provider is asked.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Schedule {
    /// When, as a cron expression of five fields (minute, hour, day of the month, month, day of the week) or a word such as @daily. Example: `0 9 * * mon-fri`.
    pub cron: String,

    /// The time zone of the cron expression, a name of the IANA database. Defaults to UTC. Example: `Europe/Paris`.
    #[serde(default = "default_time_zone", deserialize_with = "read_time_zone")]
    pub time_zone: String,

    /// How long after each of these times the provider may still be asked, as a Go duration with units ms, s, m and h: at least twice the timeout of the provider. With 0s it may be asked at any time on request, and by itself at these times alone. Defaults to 0s.
    #[serde(default = "default_window", deserialize_with = "read_window")]
    #[schemars(regex(pattern = DURATION))]
    pub window: String,
}

/// The next time at which the provider is asked.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct NextSchedule {
    /// The cron expression of the schedule.
    pub cron: String,

    /// The time zone of the schedule.
    #[serde(default = "default_time_zone")]
    pub time_zone: String,

    /// The window of the schedule.
    #[serde(default = "default_window")]
    pub window: String,

    /// The time, in RFC 3339.
    #[schemars(schema_with = "date_time")]
    pub when: String,
}

fn default_time_zone() -> String {
    "UTC".to_owned()
}

fn read_time_zone<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    null::or(deserializer, default_time_zone)
}

fn default_window() -> String {
    "0s".to_owned()
}

fn read_window<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    null::or(deserializer, default_window)
}
