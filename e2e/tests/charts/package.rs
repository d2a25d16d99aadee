//! Packages, and charts that are used without being packaged.

use std::process::{Command, Output};

use crate::helm::{INSTANCE, OPERATOR, charts, find, helm, itself, objects, run, text};

#[test]
fn a_package_knows_the_image_of_the_operator() {
    let folder = tempfile::tempdir().unwrap();
    let packages = text(package("registry.example.com:5000/team/flux-operator", folder.path())).unwrap();
    let packages: Vec<_> = packages.lines().collect();
    assert_eq!(packages.len(), 2);

    let image = concat!("registry.example.com:5000/team/flux-operator:", env!("CARGO_PKG_VERSION"));
    for (package, kind, option) in
        [(packages[0], "Deployment", "web.enabled=true"), (packages[1], "Job", "healthcheck.enabled=true")]
    {
        let text = text(helm(&["template", "flux", package, "--set", option], "")).unwrap();
        let objects = objects(&text);
        let pod = &find(&objects, kind).unwrap()["spec"]["template"]["spec"];
        assert_eq!(pod["containers"][0]["image"], image);
        let listed = text_of_archive(package);
        assert!(!listed.contains("/tests/"), "{listed}");
    }
    let repository = OPERATOR.yaml("values.yaml")["image"]["repository"].clone();
    assert_eq!(repository, "", "packaging changed the chart itself");
}

#[test]
fn what_is_no_repository_is_not_packaged() {
    let folder = tempfile::tempdir().unwrap();
    for repository in ["", "x\"y", "x y", "x|y", "Upper"] {
        let error = text(package(repository, folder.path())).unwrap_err();
        assert!(error.contains("is not a repository"), "{error}");
    }
    assert_eq!(folder.path().read_dir().unwrap().count(), 0);
}

#[test]
fn a_chart_without_an_image_says_which_value_to_set() {
    let error = OPERATOR.text("{}", &[]).unwrap_err();
    assert!(error.contains("--set image.repository="), "{error}");
    let error = INSTANCE.text("{healthcheck: {enabled: true}}", &[]).unwrap_err();
    assert!(error.contains("--set healthcheck.image.repository="), "{error}");
}

fn package(repository: &str, folder: &std::path::Path) -> Output {
    run(
        Command::new(charts().join("package.sh")).arg(repository).arg(folder).env("HELM", itself().program()),
        "",
    )
}

fn text_of_archive(path: &str) -> String {
    text(run(Command::new("tar").args(["--list", "--file", path]), "")).unwrap()
}
