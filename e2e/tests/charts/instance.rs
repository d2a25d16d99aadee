//! What a release of the chart flux-instance has to be.

use std::fs;

use serde_json::{Value, json};

use crate::helm::{Chart, INSTANCE, NAMESPACE, find, objects};

const CHECK: &str = "enabled: true, image: {repository: registry.example.com/flux-operator}";

#[test]
fn without_values_flux_2_is_installed_without_network_and_without_a_source() {
    let objects = INSTANCE.objects("{}");
    assert_eq!(objects.len(), 1);
    let instance = find(&objects, "FluxInstance/flux").unwrap();
    assert_eq!(instance["metadata"]["namespace"], NAMESPACE);
    assert_eq!(
        instance["spec"],
        json!({
            "distribution": {"version": "2.x", "registry": "ghcr.io/fluxcd"},
            "components": [
                "source-controller", "kustomize-controller", "helm-controller", "notification-controller",
            ],
            "cluster": {
                "type": "kubernetes",
                "domain": "cluster.local",
                "networkPolicy": true,
                "multitenant": false,
                "tenantDefaultServiceAccount": "default",
                "objectLevelWorkloadIdentity": false,
                "multitenantWorkloadIdentity": false,
            },
            "wait": true,
            "migrateResources": true,
        })
    );
}

#[test]
fn all_fields_arrive_as_they_are_written() {
    for name in ["everything", "fleet"] {
        let values = &INSTANCE.value_files()[name];
        let objects = INSTANCE.objects(values);
        let spec = &find(&objects, "FluxInstance/flux").unwrap()["spec"];
        let written: Value = serde_saphyr::from_str(values).unwrap();
        contains(spec, &written["instance"], name);
    }
}

#[test]
fn the_values_of_the_example_make_its_instance() {
    let example = crate::helm::charts().join("../examples/two-clusters");
    let read = |file: &str| fs::read_to_string(example.join(file)).unwrap();
    let objects = INSTANCE.objects(&read("values.yaml"));
    let rendered = &find(&objects, "FluxInstance/flux").unwrap()["spec"];
    let written: Value = serde_saphyr::from_str(&read("flux.yaml")).unwrap();
    contains(rendered, &written["spec"], "spec");
}

#[test]
fn the_instance_is_called_flux_whatever_the_release_is_called() {
    let other = Chart { release: "something-else", ..INSTANCE };
    let objects = other.objects(&format!("{{fullnameOverride: '', healthcheck: {{{CHECK}}}}}"));
    assert!(find(&objects, "FluxInstance/flux").is_some());
    assert!(find(&objects, "Job/something-else-healthcheck").is_some());
}

#[test]
fn required_fields_of_a_source_and_of_a_volume_are_there_even_if_empty() {
    let objects = INSTANCE.objects("{instance: {sync: {url: x}, storage: {size: 1Gi}}}");
    let spec = &objects[0]["spec"];
    assert_eq!(
        spec["sync"],
        json!({
            "kind": "GitRepository", "url": "x", "ref": "", "path": "", "interval": "1m", "insecure": false,
            "prune": true,
        })
    );
    assert_eq!(spec["storage"], json!({"class": "", "size": "1Gi"}));
}

#[test]
fn unknown_fields_stay_out_of_the_instance() {
    let objects = INSTANCE.objects(&INSTANCE.value_files()["foreign"]);
    let spec = &find(&objects, "FluxInstance/flux").unwrap()["spec"];
    assert!(spec["future"].is_null() && spec["distribution"]["unknown"].is_null(), "{spec}");
}

#[test]
fn the_job_waits_with_the_rights_to_read_instances_of_its_namespace() {
    let objects = INSTANCE.objects(&format!("{{healthcheck: {{{CHECK}}}}}"));
    let job = find(&objects, "Job/flux-healthcheck").unwrap();
    assert_eq!(job["metadata"]["annotations"]["helm.sh/hook"], "post-install,post-upgrade");
    let pod = &job["spec"]["template"]["spec"];
    let container = &pod["containers"][0];
    assert_eq!(container["command"], json!(["flux-operator"]));
    let arguments = ["wait", "instance", "flux", "--namespace=flux-system", "--timeout=5m"];
    assert_eq!(container["args"], json!(arguments));
    assert_eq!(container["securityContext"]["readOnlyRootFilesystem"], true);
    assert_eq!(pod["securityContext"], json!({"runAsUser": 65532, "runAsGroup": 65532}));

    assert_eq!(pod["serviceAccountName"], "flux-healthcheck");
    let account = find(&objects, "ServiceAccount/flux-healthcheck").unwrap();
    // They have to be there before the hook, and Helm has to see if somebody else owns them.
    assert!(account["metadata"]["annotations"].is_null());
    let role = find(&objects, "Role/flux-healthcheck").unwrap();
    assert_eq!(
        role["rules"],
        json!([{
            "apiGroups": ["fluxcd.controlplane.io"],
            "resources": ["fluxinstances"],
            "verbs": ["get", "list", "watch"],
        }])
    );
    let binding = find(&objects, "RoleBinding/flux-healthcheck").unwrap();
    assert_eq!(binding["subjects"][0]["name"], "flux-healthcheck");
    assert!(!objects.iter().any(|object| object["kind"].as_str().unwrap().starts_with("Cluster")));
}

#[test]
fn a_service_account_that_is_there_is_used_and_never_taken_over() {
    for (account, name) in [
        ("name: flux-operator", "flux-operator"),
        ("create: false", "flux-operator"),
        ("create: false, name: other", "other"),
    ] {
        let objects =
            INSTANCE.objects(&format!("{{healthcheck: {{{CHECK}, serviceAccount: {{{account}}}}}}}"));
        let job = find(&objects, "Job").unwrap();
        assert_eq!(job["spec"]["template"]["spec"]["serviceAccountName"], name, "{account}");
        assert_eq!(objects.len(), 2, "{account}: an instance and a Job");
    }
}

#[test]
fn users_are_left_to_openshift() {
    let options = ["--api-versions", "security.openshift.io/v1"];
    let text = INSTANCE.text(&format!("{{healthcheck: {{{CHECK}}}}}"), &options).unwrap();
    let objects = objects(&text);
    let pod = &find(&objects, "Job").unwrap()["spec"]["template"]["spec"];
    assert!(pod["securityContext"].is_null(), "{pod}");
}

/// Every written field is there, with its value.
fn contains(rendered: &Value, written: &Value, place: &str) {
    match written {
        Value::Object(fields) => {
            for (key, value) in fields {
                contains(&rendered[key], value, &format!("{place}.{key}"));
            }
        }
        value => assert_eq!(rendered, value, "{place}"),
    }
}
