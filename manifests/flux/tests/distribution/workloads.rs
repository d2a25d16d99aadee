//! The objects that are written by hand, and how they refer to each other.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::{
    images::PINNED,
    objects::{all, by_key, documents, file, key, of_kind, release, text},
};

#[test]
fn a_full_installation_has_the_known_number_of_objects() {
    for (version, objects) in [("v2.6.4", 37), ("v2.9.5", 42)] {
        assert_eq!(by_key(all(version)).len(), objects, "{version}");
    }
}

#[test]
fn there_is_a_file_for_every_component_and_for_policies_and_rights() {
    for (version, components) in PINNED {
        let mut expected: Vec<&str> = components.iter().map(|(component, _)| *component).collect();
        expected.extend(["policies", "rbac"]);
        expected.sort_unstable();
        let found: Vec<&str> = release(version).files.iter().map(|file| file.name).collect();
        assert_eq!(found, expected, "{version}");
    }
}

#[test]
fn objects_have_no_namespace_of_their_own() {
    for (version, _) in PINNED {
        for object in all(version) {
            assert!(object["apiVersion"].is_string(), "{}", key(&object));
            assert_eq!(object["metadata"]["namespace"], Value::Null, "{}", key(&object));
        }
    }
}

#[test]
fn objects_of_a_component_carry_its_labels() {
    for (version, components) in PINNED {
        for (component, _) in components {
            for object in file(version, component) {
                let labels = &object["metadata"]["labels"];
                assert_eq!(labels["app.kubernetes.io/component"], *component, "{}", key(&object));
                assert_eq!(labels["app.kubernetes.io/part-of"], "flux", "{}", key(&object));
            }
        }
    }
}

#[test]
fn a_deployment_finds_its_pods_account_and_volumes() {
    for (version, _) in PINNED {
        let accounts = of_kind(version, "ServiceAccount");
        for deployment in of_kind(version, "Deployment") {
            let name = &deployment["metadata"]["name"];
            let template = &deployment["spec"]["template"];
            let pod = &template["spec"];
            assert_eq!(template["metadata"]["labels"]["app"], *name);
            assert_eq!(deployment["spec"]["selector"]["matchLabels"], serde_json::json!({"app": name}));
            assert_eq!(pod["serviceAccountName"], *name);
            assert!(accounts.iter().any(|account| account["metadata"]["name"] == *name), "{name}");
            let manager = &pod["containers"][0];
            assert_eq!(names(&manager["volumeMounts"]), names(&pod["volumes"]), "{name}");
            for probe in ["livenessProbe", "readinessProbe"] {
                let port = text(&manager[probe]["httpGet"]["port"]);
                assert!(names(&manager["ports"]).contains(port), "{name} {probe}");
            }
        }
    }
}

#[test]
fn a_service_leads_to_a_port_of_a_deployment() {
    for (version, count) in [("v2.6.4", 3), ("v2.9.5", 4)] {
        let services = of_kind(version, "Service");
        assert_eq!(services.len(), count, "{version}");
        for service in services {
            let target = &service["spec"]["selector"]["app"];
            let deployments = of_kind(version, "Deployment");
            let deployment = deployments.iter().find(|object| object["metadata"]["name"] == *target).unwrap();
            let ports = names(&deployment["spec"]["template"]["spec"]["containers"][0]["ports"]);
            assert!(ports.contains(text(&service["spec"]["ports"][0]["targetPort"])), "{}", key(&service));
        }
    }
}

#[test]
fn containers_are_locked_down() {
    for (version, _) in PINNED {
        for deployment in of_kind(version, "Deployment") {
            let security = &deployment["spec"]["template"]["spec"]["containers"][0]["securityContext"];
            let expected = serde_json::json!({
                "allowPrivilegeEscalation": false,
                "capabilities": {"drop": ["ALL"]},
                "readOnlyRootFilesystem": true,
                "runAsNonRoot": true,
                "seccompProfile": {"type": "RuntimeDefault"},
            });
            assert_eq!(*security, expected, "{version} {}", key(&deployment));
        }
    }
}

#[test]
fn pods_carry_the_labels_of_their_component_in_2_9() {
    for (version, labels) in [("v2.6.4", 1), ("v2.9.5", 3)] {
        for deployment in of_kind(version, "Deployment") {
            let found = deployment["spec"]["template"]["metadata"]["labels"].as_object().unwrap();
            assert_eq!(found.len(), labels, "{version} {}", key(&deployment));
        }
    }
}

/// Patches address rules by position.
#[test]
fn the_rule_for_account_tokens_is_where_patches_expect_it() {
    for (version, rules, token_rule) in [("v2.6.4", 12, 10), ("v2.9.5", 13, 11)] {
        let rights = by_key(file(version, "rbac"));
        let found = rights["ClusterRole/crd-controller"]["rules"].as_array().unwrap();
        assert_eq!(found.len(), rules, "{version}");
        let expected = serde_json::json!({"apiGroups": [""], "resources": ["serviceaccounts/token"], "verbs": ["create"]});
        assert_eq!(found[token_rule], expected, "{version}");
    }
}

#[test]
fn rights_are_bound_to_the_accounts_of_all_components() {
    for (version, components) in PINNED {
        let rights = by_key(file(version, "rbac"));
        let subjects = &rights["ClusterRoleBinding/crd-controller"]["subjects"];
        let expected: BTreeSet<&str> = components.iter().map(|(component, _)| *component).collect();
        assert_eq!(names(subjects), expected, "{version}");
        let appliers = &rights["ClusterRoleBinding/cluster-reconciler"]["subjects"];
        assert_eq!(names(appliers), BTreeSet::from(["helm-controller", "kustomize-controller"]), "{version}");
        for subject in [subjects, appliers].into_iter().flat_map(|list| list.as_array().unwrap()) {
            assert_eq!(subject["namespace"], "flux-system", "{version}");
        }
    }
}

#[test]
fn rights_cover_the_group_of_every_definition() {
    for (version, _) in PINNED {
        let rights = by_key(file(version, "rbac"));
        for definition in of_kind(version, "CustomResourceDefinition") {
            for role in ["crd-controller", "flux-edit", "flux-view"] {
                let rules = rights[&format!("ClusterRole/{role}")]["rules"].as_array().unwrap();
                let covered = rules.iter().any(|rule| {
                    rule["apiGroups"]
                        .as_array()
                        .is_some_and(|groups| groups.contains(&definition["spec"]["group"]))
                });
                assert!(covered, "{version} {role} {}", key(&definition));
            }
        }
    }
}

#[test]
fn webhooks_come_in_by_their_port_alone_in_2_9() {
    let ports = serde_json::json!([{"port": 9292, "protocol": "TCP"}]);
    for (version, expected) in [("v2.6.4", Value::Null), ("v2.9.5", ports)] {
        let policies = by_key(file(version, "policies"));
        assert_eq!(
            policies["NetworkPolicy/allow-webhooks"]["spec"]["ingress"][0]["ports"], expected,
            "{version}"
        );
    }
}

#[test]
fn json_is_compact() {
    for (version, _) in PINNED {
        for file in release(version).files.iter().chain(release(version).images) {
            assert_eq!(Value::from(documents(file)).to_string(), file.json, "{version} {}", file.name);
        }
    }
}

fn names(list: &Value) -> BTreeSet<&str> {
    list.as_array().unwrap().iter().map(|item| text(&item["name"])).collect()
}
