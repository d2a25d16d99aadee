//! The commands of `docs/helm.md`, as they stand there.

use std::{env, path::Path, time::Duration};

use crds::{FluxInstance, definitions};
use e2e::{
    Fleet, IMAGE_REPOSITORY,
    command::{self, isolated},
    has_condition, operator_binary, wait_for,
};
use k8s_openapi::{
    api::apps::v1::Deployment,
    apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
};
use kube::{Api, ResourceExt as _, api::ListParams};

use crate::LONG;

const GUIDE: &str = include_str!("../../../docs/helm.md");
/// All commands of a section; a good run takes seconds.
const SECTION_DEADLINE: Duration = Duration::from_mins(10);
/// What a reader puts in the place of these.
const GIT: &str = "https://git.example.com/platform/fleet.git";

#[tokio::test(flavor = "multi_thread")]
async fn the_guide_installs_changes_and_removes() {
    let fleet = Fleet::start("fleet-guide").await.unwrap();
    let instances: Api<FluxInstance> = Api::namespaced(fleet.client.clone(), "flux-system");
    let controllers: Api<Deployment> = Api::namespaced(fleet.client.clone(), "flux-system");
    let web: Api<Deployment> = Api::namespaced(fleet.client.clone(), "web");

    run(&fleet, "Install").await;
    assert!(has_condition("Ready", "True")(&instances.get("flux").await.unwrap()));
    wait_for(&web, "web", has_condition("Available", "True"), LONG).await.unwrap();

    let shown = run(&fleet, "Look").await;
    assert!(shown.contains("SUSPENDED") && shown.contains("Reconciliation finished"), "{shown}");
    assert!(shown.contains("gitrepository.source.toolkit.fluxcd.io/flux-system"), "{shown}");

    run(&fleet, "Change").await;
    let changed = controllers.get("helm-controller").await.unwrap();
    assert_eq!(changed.annotations()[crds::keys::PROFILE], "small");

    run(&fleet, "Upgrade the operator").await;
    assert!(has_condition("Ready", "True")(&instances.get("flux").await.unwrap()));

    run(&fleet, "Remove").await;
    assert!(controllers.list(&ListParams::default()).await.unwrap().items.is_empty());
    web.get("web").await.unwrap();
    let left: Api<CustomResourceDefinition> = Api::all(fleet.client.clone());
    for definition in definitions() {
        assert!(left.get_opt(&definition.definition.name_any()).await.unwrap().is_none());
    }
}

/// Runs the commands of a section as one script, from the root of the repository, and gives what it printed.
async fn run(fleet: &Fleet, section: &str) -> String {
    let variables = commands("").replace("registry.example.com/flux-operator", IMAGE_REPOSITORY);
    assert!(variables.contains(GIT), "the guide names another repository");
    let script =
        format!("set -eux\n{}\n{}", variables.replace(GIT, &fleet.git.url("fleet")), commands(section));
    let helm = fleet.helm_itself();
    let binary = operator_binary().unwrap();
    let folders = [helm.program(), &binary].map(|program| program.parent().unwrap().to_owned());
    let inherited = env::var_os("PATH").unwrap();
    let path = env::join_paths(folders.into_iter().chain(env::split_paths(&inherited))).unwrap();
    let mut command = isolated("bash");
    command
        .args(["-c", &script])
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(".."))
        .envs(helm.folders())
        .env("PATH", path)
        .env("KUBECONFIG", fleet.plane.kubeconfig());
    let output = command::run(&mut command, &[], SECTION_DEADLINE).await.unwrap();
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "{section}: {printed}\n{complaint}\n{}",
        fleet.agent.log_tails("flux-operator")
    );
    printed
}

/// The commands of a section; of the part before the first one, if it has no name.
fn commands(section: &str) -> String {
    let mut heading = "";
    let mut is_code = false;
    let mut commands = String::new();
    for line in GUIDE.lines() {
        match line.strip_prefix("## ") {
            Some(title) => heading = title,
            None if line.starts_with("```") => is_code = line == "```sh",
            None if is_code && heading == section => {
                commands.push_str(line);
                commands.push('\n');
            }
            None => {}
        }
    }
    assert!(!commands.is_empty(), "docs/helm.md has no commands under {section:?}");
    commands
}
