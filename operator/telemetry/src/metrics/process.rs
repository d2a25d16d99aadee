//! What the process takes from its machine, as Linux tells it in /proc. Elsewhere these metrics are absent.

use std::{
    fmt, fs,
    path::{Path, PathBuf},
    time::Duration,
};

use prometheus_client::{
    collector::Collector,
    encoding::{DescriptorEncoder, EncodeMetric},
    metrics::{MetricType, counter::ConstCounter, gauge::ConstGauge},
};

/// The unit of times in /proc: a hundred a second on every processor that Kubernetes runs on.
const MILLISECONDS_A_TICK: u64 = 10;

/// Reads the folder of a process by each scrape.
#[derive(Debug)]
pub(super) struct Process {
    folder: PathBuf,
    /// Seconds since 1970. It is read once: the boot time that it is counted from moves with the clock.
    start_seconds: Option<f64>,
}

impl Process {
    /// This process.
    pub(super) fn of_this() -> Self {
        Self::at(Path::new("/proc"), "self")
    }

    fn at(proc: &Path, id: &str) -> Self {
        let folder = proc.join(id);
        Self { start_seconds: start_seconds(proc, &folder), folder }
    }

    fn times(&self) -> Option<Times> {
        Times::parse(&fs::read_to_string(self.folder.join("stat")).ok()?)
    }

    fn resident_bytes(&self) -> Option<u64> {
        parse_resident_bytes(&fs::read_to_string(self.folder.join("status")).ok()?)
    }

    fn open_files(&self) -> Option<u64> {
        let entries = fs::read_dir(self.folder.join("fd")).ok()?.count();
        // One of them is the folder itself, open to be read.
        u64::try_from(entries.saturating_sub(1)).ok()
    }
}

impl Collector for Process {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let mut write = |family: Family, value: Option<&dyn EncodeMetric>| match value {
            None => Ok(()),
            Some(value) => value.encode(encoder.encode_descriptor(family.0, family.1, None, family.2)?),
        };
        let cpu = self.times().map(|times| ConstCounter::new(times.cpu_seconds()));
        let resident = self.resident_bytes().map(ConstGauge::new);
        let files = self.open_files().map(ConstGauge::new);
        let start = self.start_seconds.map(ConstGauge::new);
        write(CPU, cpu.as_ref().map(|value| value as _))?;
        write(RESIDENT, resident.as_ref().map(|value| value as _))?;
        write(OPEN_FILES, files.as_ref().map(|value| value as _))?;
        write(START, start.as_ref().map(|value| value as _))
    }
}

/// Name, help and type; a counter gets `_total` behind its name.
type Family = (&'static str, &'static str, MetricType);

const CPU: Family =
    ("process_cpu_seconds", "Total user and system CPU time spent in seconds.", MetricType::Counter);
const RESIDENT: Family =
    ("process_resident_memory_bytes", "Resident memory size in bytes.", MetricType::Gauge);
const OPEN_FILES: Family = ("process_open_fds", "Number of open file descriptors.", MetricType::Gauge);
const START: Family = (
    "process_start_time_seconds",
    "Start time of the process since unix epoch in seconds.",
    MetricType::Gauge,
);

/// Times of a process, in ticks.
#[derive(Debug, PartialEq, Eq)]
struct Times {
    user: u64,
    system: u64,
    /// From the boot of the machine to the start of the process.
    since_boot: u64,
}

impl Times {
    /// From `/proc/<id>/stat`.
    fn parse(stat: &str) -> Option<Self> {
        // The second field is the name of the program in brackets, and may hold spaces and brackets.
        let (_, behind_name) = stat.rsplit_once(')')?;
        let mut fields = behind_name.split_ascii_whitespace();
        let user = fields.nth(11)?.parse().ok()?;
        let system = fields.next()?.parse().ok()?;
        let since_boot = fields.nth(6)?.parse().ok()?;
        Some(Self { user, system, since_boot })
    }

    fn cpu_seconds(&self) -> f64 {
        ticks(self.user.saturating_add(self.system)).as_secs_f64()
    }
}

fn ticks(ticks: u64) -> Duration {
    Duration::from_millis(ticks.saturating_mul(MILLISECONDS_A_TICK))
}

fn start_seconds(proc: &Path, folder: &Path) -> Option<f64> {
    let times = Times::parse(&fs::read_to_string(folder.join("stat")).ok()?)?;
    let boot = parse_boot_time(&fs::read_to_string(proc.join("stat")).ok()?)?;
    Some(boot.saturating_add(ticks(times.since_boot)).as_secs_f64())
}

/// From `/proc/stat`: when the machine booted, since 1970.
fn parse_boot_time(stat: &str) -> Option<Duration> {
    let seconds = stat.lines().find_map(|line| line.strip_prefix("btime "))?;
    Some(Duration::from_secs(seconds.trim().parse().ok()?))
}

/// From `/proc/<id>/status`, which unlike `stat` needs no page size.
fn parse_resident_bytes(status: &str) -> Option<u64> {
    let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kibibytes: u64 = resident.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use std::{path::Path, time::Duration};

    use super::{Process, Times, parse_boot_time, parse_resident_bytes};

    /// 22 fields, as Linux writes them.
    fn stat(name: &str) -> String {
        format!("7 ({name}) S 1 7 7 0 -1 4194560 1163 0 2 0 150 25 8 9 20 0 3 0 90210 233 5 184467")
    }

    #[test]
    fn times_are_found_whatever_the_program_is_called() {
        for name in ["flux-operator", "a b", ") 1 (", "", "\n"] {
            let times = Times::parse(&stat(name));
            assert_eq!(times, Some(Times { user: 150, system: 25, since_boot: 90210 }), "{name:?}");
        }
        let seconds = Times { user: 150, system: 25, since_boot: 0 }.cpu_seconds();
        assert!((seconds - 1.75).abs() < f64::EPSILON, "{seconds}");
    }

    #[test]
    fn a_file_in_another_form_gives_no_number() {
        let whole = stat("x");
        let short = whole.split_once(" 90210").unwrap().0;
        for text in ["", "7 (x", short, &whole.replace("150", "-1"), &whole.replace("90210", "soon")] {
            assert_eq!(Times::parse(text), None, "{text}");
        }
        for text in ["", "VmRSS:", "VmRSS: 1", "VmRSS: 1 MB", "VmRSS: 18446744073709551615 kB", "VmHWM: 1 kB"]
        {
            assert_eq!(parse_resident_bytes(text), None, "{text}");
        }
        for text in ["", "btime", "btime x", "cpu 1 2\nctxt 3"] {
            assert_eq!(parse_boot_time(text), None, "{text}");
        }
    }

    #[test]
    fn numbers_are_read_from_among_other_lines() {
        let status = "Name:\tx\nVmHWM:\t   99 kB\nVmRSS:\t    2048 kB\nThreads:\t3\n";
        assert_eq!(parse_resident_bytes(status), Some(2048 * 1024));
        let boot = parse_boot_time("cpu  1 2\nbtime 1700000000\nprocesses 5\n");
        assert_eq!(boot, Some(Duration::from_secs(1_700_000_000)));
    }

    #[test]
    fn times_that_no_process_has_do_not_overflow() {
        let most = Times { user: u64::MAX, system: u64::MAX, since_boot: u64::MAX };
        assert!(most.cpu_seconds().is_finite());
    }

    #[test]
    fn where_there_is_no_proc_there_are_no_numbers() {
        let process = Process::at(Path::new("/nowhere"), "self");
        assert_eq!(process.times(), None);
        assert_eq!((process.resident_bytes(), process.open_files()), (None, None));
        assert!(process.start_seconds.is_none());
    }
}
