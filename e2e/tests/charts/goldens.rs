//! What releases consist of, in full, for files of values.

use std::collections::BTreeSet;
use std::fs;

use crate::helm::{CHARTS, check_generated, helm};

#[test]
fn charts_render_what_is_committed() {
    for chart in CHARTS {
        let files = chart.value_files();
        for (name, values) in &files {
            let golden = chart.folder().join(format!("tests/golden/{name}.yaml"));
            let text = chart.text(values, &[]).unwrap_or_else(|error| panic!("{name}: {error}"));
            check_generated(&golden, &without_definitions(&text));
        }
        let goldens = fs::read_dir(chart.folder().join("tests/golden")).unwrap();
        let goldens: BTreeSet<_> =
            goldens.map(|file| file.unwrap().path().file_stem().unwrap().to_owned()).collect();
        assert!(goldens.iter().eq(files.keys().map(String::as_str)), "{goldens:?} have no values");
    }
}

#[test]
fn charts_pass_the_strict_lint_with_every_file_of_values() {
    for chart in CHARTS {
        for (name, values) in chart.value_files() {
            let folder = chart.folder();
            let output = helm(&["lint", "--strict", folder.to_str().unwrap(), "--values", "-"], &values);
            let text = String::from_utf8_lossy(&output.stdout);
            assert!(output.status.success(), "{}, {name}: {text}", chart.name);
            assert!(!text.contains("[WARNING]"), "{}, {name}: {text}", chart.name);
        }
    }
}

/// The definitions of the API are long, and are compared with their source elsewhere.
fn without_definitions(text: &str) -> String {
    let documents = text.split_inclusive("\n---\n").filter(|document| {
        !document.starts_with("# Source: flux-operator/templates/crds.yaml\n")
            && !document.starts_with("---\n# Source: flux-operator/templates/crds.yaml\n")
    });
    documents.collect()
}
