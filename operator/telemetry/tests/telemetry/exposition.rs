//! Reading what is exposed, in the text format 0.0.4.

use std::collections::BTreeMap;

use operator_telemetry::{InstanceInfo, Metrics, OperatorInfo, Ready};

/// What an exposition holds.
#[derive(Debug, Default)]
pub(crate) struct Exposition {
    /// The type of each family.
    pub(crate) types: BTreeMap<String, String>,
    /// The value of each series.
    pub(crate) series: BTreeMap<Series, f64>,
}

/// A name and sorted labels.
pub(crate) type Series = (String, BTreeMap<String, String>);

impl Exposition {
    /// Reads every line, and stops at the first that is odd: a family without type and help, a family or a
    /// series that is there twice.
    pub(crate) fn parse(text: &str) -> Self {
        assert!(text.is_empty() || text.ends_with('\n'), "the last line has an end");
        let mut exposition = Self::default();
        let mut helped = None;
        let mut family = String::new();
        for line in text.lines() {
            if let Some(help) = line.strip_prefix("# HELP ") {
                helped = Some(help.split_once(' ').unwrap().0.to_owned());
            } else if let Some(typed) = line.strip_prefix("# TYPE ") {
                let (name, kind) = typed.split_once(' ').unwrap();
                assert_eq!(helped.take().as_deref(), Some(name), "help comes before the type");
                name.clone_into(&mut family);
                assert_eq!(exposition.types.insert(name.to_owned(), kind.to_owned()), None, "{name} twice");
            } else {
                let (series, value) = parse_sample(line);
                assert!(series.0.starts_with(&family), "{line} is not of {family}");
                assert_eq!(exposition.series.insert(series, value), None, "twice: {line}");
            }
        }
        exposition
    }

    /// The labels of every series of a name.
    pub(crate) fn labels(&self, name: &str) -> Vec<BTreeMap<String, String>> {
        self.series.keys().filter(|(other, _)| other == name).map(|(_, labels)| labels.clone()).collect()
    }

    /// The value of a series.
    pub(crate) fn value(&self, name: &str, labels: &[(&str, &str)]) -> Option<f64> {
        self.series.get(&(name.to_owned(), owned(labels))).copied()
    }
}

/// Labels as a map.
pub(crate) fn owned(labels: &[(&str, &str)]) -> BTreeMap<String, String> {
    labels.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

fn parse_sample(line: &str) -> (Series, f64) {
    let end = line.find(['{', ' ']).expect("a sample has a value");
    let (name, mut rest) = line.split_at(end);
    let mut labels = BTreeMap::new();
    if let Some(inside) = rest.strip_prefix('{') {
        rest = inside;
        while !rest.starts_with('}') {
            rest = rest.strip_prefix(',').unwrap_or(rest);
            let (label, behind) = rest.split_once("=\"").expect("a label has a value");
            let (value, behind) = parse_value(behind);
            assert_eq!(labels.insert(label.to_owned(), value), None, "label twice: {line}");
            rest = behind;
        }
        rest = rest.strip_prefix('}').unwrap();
    }
    let value = rest.strip_prefix(' ').expect("one space before the value");
    ((name.to_owned(), labels), value.parse().unwrap())
}

/// The value up to its closing quote, and what is behind that.
fn parse_value(text: &str) -> (String, &str) {
    let mut value = String::new();
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match character {
            '"' => return (value, characters.as_str()),
            '\\' => match characters.next().expect("an escape has two characters") {
                'n' => value.push('\n'),
                other @ ('\\' | '"') => value.push(other),
                other => panic!("no escape: {other}"),
            },
            other => value.push(other),
        }
    }
    panic!("a label value has an end: {text}")
}

/// Metrics of an operator.
pub(crate) fn metrics() -> Metrics {
    Metrics::new(&OperatorInfo {
        version: "v0.1.0".to_owned(),
        api_version: "fluxcd.controlplane.io/v1".to_owned(),
        platform: "linux/amd64".to_owned(),
    })
}

/// A FluxInstance that is ready.
pub(crate) fn instance(uid: &str) -> InstanceInfo {
    InstanceInfo {
        uid: uid.to_owned(),
        name: "flux".to_owned(),
        namespace: "flux-system".to_owned(),
        ready: Ready::True,
        reason: "ReconciliationSucceeded".to_owned(),
        suspended: false,
        registry: "ghcr.io/fluxcd".to_owned(),
        revision: "v2.7.5@sha256:0123".to_owned(),
    }
}
