//! What a release of the chart flux-operator has to be, whatever its values.

use std::collections::BTreeSet;
use std::process::Command;

use e2e::operator_binary;
use serde_json::{Value, json};

use crate::helm::{Chart, NAMESPACE, OPERATOR, charts, find, objects, run, text};

const IMAGE: &str = "image: {repository: registry.example.com/flux-operator}";

#[test]
fn names_and_selectors_are_those_of_releases_that_are_there_already() {
    let objects = OPERATOR.objects(&format!("{{{IMAGE}}}"));
    let selector =
        json!({"app.kubernetes.io/name": "flux-operator", "app.kubernetes.io/instance": "flux-operator"});
    let deployment = find(&objects, "Deployment/flux-operator").unwrap();
    assert_eq!(deployment["spec"]["selector"]["matchLabels"], selector);
    assert_eq!(deployment["spec"]["template"]["spec"]["serviceAccountName"], "flux-operator");
    assert!(find(&objects, "ServiceAccount/flux-operator").is_some());
    let service = find(&objects, "Service/flux-operator").unwrap();
    assert_eq!(service["spec"]["selector"], selector);
    let ports: Vec<_> = service["spec"]["ports"]
        .as_array()
        .unwrap()
        .iter()
        .map(|port| (port["name"].as_str().unwrap(), port["port"].as_u64().unwrap()))
        .collect();
    assert_eq!(ports, [("http", 8080), ("http-web", 9080)]);
}

#[test]
fn a_release_with_another_name_adds_the_name_of_the_chart() {
    let gitops = Chart { release: "gitops", ..OPERATOR };
    let objects = gitops.objects(&format!("{{{IMAGE}}}"));
    let deployment = find(&objects, "Deployment/gitops-flux-operator").unwrap();
    let labels = &deployment["spec"]["selector"]["matchLabels"];
    assert_eq!(labels["app.kubernetes.io/name"], "flux-operator");
    assert_eq!(labels["app.kubernetes.io/instance"], "gitops");
}

#[test]
fn objects_carry_the_labels_of_the_chart_and_pods_are_found_by_their_selectors() {
    for (name, values) in OPERATOR.value_files() {
        let objects = OPERATOR.objects(&values);
        for object in &objects {
            let labels = &object["metadata"]["labels"];
            let called = format!("{name}: {} {}", object["kind"], object["metadata"]["name"]);
            assert_eq!(labels["app.kubernetes.io/managed-by"], "Helm", "{called}");
            assert_eq!(labels["app.kubernetes.io/instance"], "flux-operator", "{called}");
            assert_eq!(labels["app.kubernetes.io/version"], env!("CARGO_PKG_VERSION"), "{called}");
            // The report of the operator lists what is part of Flux, which the operator is not.
            assert!(labels["app.kubernetes.io/part-of"].is_null(), "{called}");
        }
        let deployment = find(&objects, "Deployment").unwrap();
        let pod = deployment["spec"]["template"]["metadata"]["labels"].as_object().unwrap();
        let selectors = [
            &deployment["spec"]["selector"]["matchLabels"],
            &find(&objects, "Service").unwrap()["spec"]["selector"],
        ];
        let policy =
            find(&objects, "NetworkPolicy").map(|policy| &policy["spec"]["podSelector"]["matchLabels"]);
        for selector in selectors.into_iter().chain(policy) {
            let selector = selector.as_object().unwrap();
            assert_eq!(selector.len(), 2, "{name}");
            assert!(selector.iter().all(|(key, value)| pod.get(key) == Some(value)), "{name}: {selector:?}");
        }
    }
}

#[test]
fn the_definitions_are_those_of_the_api_and_stay_when_the_release_goes() {
    let objects = OPERATOR.objects(&format!("{{{IMAGE}, commonAnnotations: {{a: b}}}}"));
    let rendered: Vec<_> =
        objects.iter().filter(|object| object["kind"] == "CustomResourceDefinition").collect();
    let sources = std::fs::read_dir(charts().parent().unwrap().join("crds/yaml")).unwrap();
    let mut sources: Vec<Value> = sources
        .map(|file| serde_saphyr::from_str(&std::fs::read_to_string(file.unwrap().path()).unwrap()).unwrap())
        .collect();
    sources.sort_by_key(|source| source["metadata"]["name"].to_string());
    assert!(!sources.is_empty());
    assert_eq!(rendered.len(), sources.len());
    for (rendered, source) in rendered.into_iter().zip(&sources) {
        assert_eq!(rendered["metadata"]["name"], source["metadata"]["name"]);
        assert_eq!(rendered["metadata"]["annotations"], json!({"a": "b", "helm.sh/resource-policy": "keep"}));
        assert_eq!(numbers_as_text(&rendered["spec"]), numbers_as_text(&source["spec"]));
    }
}

#[test]
fn the_container_is_locked_down_and_can_write_to_two_folders() {
    let objects = OPERATOR.objects(&format!("{{{IMAGE}}}"));
    let pod = &find(&objects, "Deployment").unwrap()["spec"]["template"]["spec"];
    let container = &pod["containers"][0];
    assert_eq!(pod["securityContext"], json!({"runAsUser": 65532, "runAsGroup": 65532}));
    let context = json!({
        "allowPrivilegeEscalation": false,
        "capabilities": {"drop": ["ALL"]},
        "readOnlyRootFilesystem": true,
        "runAsNonRoot": true,
        "seccompProfile": {"type": "RuntimeDefault"},
    });
    assert_eq!(container["securityContext"], context);
    assert_eq!(
        container["volumeMounts"],
        json!([
            {"name": "tmp", "mountPath": "/tmp"},
            {"name": "cache", "mountPath": "/var/cache/flux-operator"},
        ])
    );
    assert_eq!(pod["volumes"], json!([{"name": "cache", "emptyDir": {}}, {"name": "tmp", "emptyDir": {}}]));
    assert!(pod["hostNetwork"].is_null());
}

#[test]
fn users_are_left_to_openshift() {
    let text =
        OPERATOR.text(&format!("{{{IMAGE}}}"), &["--api-versions", "security.openshift.io/v1"]).unwrap();
    let objects = objects(&text);
    let pod = &find(&objects, "Deployment").unwrap()["spec"]["template"]["spec"];
    assert!(pod["securityContext"].is_null(), "{pod}");
    assert_eq!(pod["containers"][0]["securityContext"]["runAsNonRoot"], true);
}

#[test]
fn the_container_knows_its_namespace_and_its_pod() {
    let objects = OPERATOR.objects(&format!("{{{IMAGE}}}"));
    let container = &find(&objects, "Deployment").unwrap()["spec"]["template"]["spec"]["containers"][0];
    let of_field = |path| json!({"fieldRef": {"fieldPath": path}});
    assert_eq!(
        container["env"],
        json!([
            {"name": "POD_NAME", "valueFrom": of_field("metadata.name")},
            {"name": "RUNTIME_NAMESPACE", "valueFrom": of_field("metadata.namespace")},
            {"name": "XDG_CACHE_HOME", "value": "/var/cache"},
        ])
    );
    // The image's entrypoint is `flux-operator serve`.
    assert!(container["command"].is_null());
    assert_eq!(container["livenessProbe"]["httpGet"], json!({"path": "/healthz", "port": 8081}));
    assert_eq!(container["readinessProbe"]["httpGet"], json!({"path": "/readyz", "port": 8081}));
}

/// The flags of `flux-operator serve`, as its help names them.
fn flags() -> BTreeSet<String> {
    let binary = operator_binary().unwrap();
    let help = text(run(Command::new(binary).args(["serve", "--help"]), "")).unwrap();
    let words = help.lines().filter_map(|line| line.trim_start().split([' ', '=', '[']).next());
    let flags: BTreeSet<String> = words.filter(|word| word.starts_with("--")).map(str::to_owned).collect();
    assert!(flags.contains("--storage-path"), "{help}");
    flags
}

#[test]
fn only_flags_of_serve_are_passed_and_none_twice() {
    let flags = flags();
    for (name, values) in OPERATOR.value_files() {
        let objects = OPERATOR.objects(&values);
        let container = &find(&objects, "Deployment").unwrap()["spec"]["template"]["spec"]["containers"][0];
        let mut seen = BTreeSet::new();
        for argument in container["args"].as_array().unwrap() {
            let flag = argument.as_str().unwrap().split('=').next().unwrap();
            assert!(flags.contains(flag), "{name}: {flag}");
            assert!(seen.insert(flag), "{name}: {flag} twice");
        }
        let variables: Vec<_> = container["env"].as_array().unwrap().iter().map(|one| &one["name"]).collect();
        let unique: BTreeSet<_> = variables.iter().map(ToString::to_string).collect();
        assert_eq!(unique.len(), variables.len(), "{name}: {variables:?}");
    }
}

#[test]
fn what_a_user_adds_replaces_what_the_chart_has_at_the_same_place() {
    let values = format!(
        "{{{IMAGE}, extraArgs: [--log-level=trace, --concurrent, 5], \
         extraEnvs: [{{name: POD_NAME, value: fixed}}], \
         extraVolumes: [{{name: tmp, emptyDir: {{medium: Memory}}}}], \
         extraVolumeMounts: [{{name: big, mountPath: /var/cache/flux-operator/}}]}}"
    );
    let objects = OPERATOR.objects(&values);
    let pod = &find(&objects, "Deployment").unwrap()["spec"]["template"]["spec"];
    let container = &pod["containers"][0];
    assert_eq!(
        container["args"],
        json!([
            "--reporting-interval=5m",
            "--web-server-port=9080",
            "--log-level=trace",
            "--concurrent",
            "5"
        ])
    );
    assert_eq!(
        container["env"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|one| one["name"] == "POD_NAME")
            .collect::<Vec<_>>(),
        [&json!({"name": "POD_NAME", "value": "fixed"})]
    );
    assert_eq!(
        pod["volumes"],
        json!([{"name": "cache", "emptyDir": {}}, {"name": "tmp", "emptyDir": {"medium": "Memory"}}])
    );
    assert_eq!(
        container["volumeMounts"],
        json!([
            {"name": "tmp", "mountPath": "/tmp"},
            {"name": "big", "mountPath": "/var/cache/flux-operator/"},
        ])
    );
}

#[test]
fn several_pods_prefer_different_nodes_and_one_does_not_ask() {
    let affinity = |values: &str| {
        let objects = OPERATOR.objects(&format!("{{{IMAGE}, {values}}}"));
        find(&objects, "Deployment").unwrap()["spec"]["template"]["spec"]["affinity"].clone()
    };
    let linux = affinity("replicas: 1");
    assert!(linux["nodeAffinity"].is_object() && linux["podAntiAffinity"].is_null(), "{linux}");
    let spread = affinity("replicas: 2");
    let term = &spread["podAntiAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"][0];
    assert_eq!(term["podAffinityTerm"]["topologyKey"], "kubernetes.io/hostname");
    let web = affinity("web: {serverOnly: true, serverReplicas: 2}");
    assert_eq!(web, spread);
    let own = affinity("replicas: 2, affinity: {podAntiAffinity: {some: rule}}");
    assert_eq!(own["podAntiAffinity"], json!({"some": "rule"}));
}

#[test]
fn on_the_network_of_a_node_the_old_pod_goes_first() {
    let strategy = |values: &str| {
        let objects = OPERATOR.objects(&format!("{{{IMAGE}, {values}}}"));
        find(&objects, "Deployment").unwrap()["spec"]["strategy"].clone()
    };
    assert_eq!(strategy("hostNetwork: false"), Value::Null);
    let rolling = json!({"maxSurge": 0, "maxUnavailable": 1});
    assert_eq!(strategy("hostNetwork: true"), json!({"type": "RollingUpdate", "rollingUpdate": rolling}));
}

#[test]
fn names_that_look_like_numbers_stay_names() {
    let chart = Chart { release: "1234", ..OPERATOR };
    let values = format!(
        "{{{IMAGE}, fullnameOverride: '1e3', priorityClassName: '7', apiPriority: {{enabled: true, level: '8'}}}}"
    );
    let objects = chart.objects(&values);
    let deployment = find(&objects, "Deployment/1e3").unwrap();
    assert_eq!(deployment["spec"]["selector"]["matchLabels"]["app.kubernetes.io/instance"], "1234");
    assert_eq!(deployment["spec"]["template"]["spec"]["serviceAccountName"], "1e3");
    assert_eq!(deployment["spec"]["template"]["spec"]["priorityClassName"], "7");
    let schema = find(&objects, "FlowSchema/1e3").unwrap();
    assert_eq!(schema["spec"]["priorityLevelConfiguration"]["name"], "8");
}

#[test]
fn the_operator_is_bound_to_cluster_admin_and_a_web_page_alone_is_not() {
    let objects = OPERATOR.objects(&format!("{{{IMAGE}, serviceAccount: {{name: own}}}}"));
    let bindings: Vec<_> = objects.iter().filter(|object| object["kind"] == "ClusterRoleBinding").collect();
    assert_eq!(bindings.len(), 1);
    assert_eq!(bindings[0]["roleRef"]["name"], "cluster-admin");
    let account = json!([{"kind": "ServiceAccount", "name": "own", "namespace": NAMESPACE}]);
    assert_eq!(bindings[0]["subjects"], account);

    let objects = OPERATOR.objects(&format!("{{{IMAGE}, web: {{serverOnly: true}}}}"));
    let bindings: Vec<_> = objects.iter().filter(|object| object["kind"] == "ClusterRoleBinding").collect();
    assert_eq!(bindings.len(), 1);
    assert_eq!(bindings[0]["roleRef"]["name"], "flux-operator:web");
    let role = find(&objects, "ClusterRole/flux-operator:web").unwrap();
    let verbs: BTreeSet<_> = role["rules"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|rule| !(rule["resources"] == json!(["events"])))
        .flat_map(|rule| rule["verbs"].as_array().unwrap().iter().map(|verb| verb.as_str().unwrap()))
        .collect();
    assert_eq!(verbs, BTreeSet::from(["get", "list", "watch", "impersonate"]));
}

#[test]
fn users_of_a_namespace_get_rights_on_resource_sets_alone() {
    let objects = OPERATOR.objects(&format!("{{{IMAGE}}}"));
    for (name, role) in [("flux-operator-edit", "edit"), ("flux-operator-view", "view")] {
        let object = find(&objects, &format!("ClusterRole/{name}")).unwrap();
        let label = format!("rbac.authorization.k8s.io/aggregate-to-{role}");
        assert_eq!(object["metadata"]["labels"][&label], "true");
        let rules = object["rules"].as_array().unwrap();
        assert_eq!(rules.len(), 1);
        assert_eq!(rules[0]["apiGroups"], json!(["fluxcd.controlplane.io"]));
        assert_eq!(rules[0]["resources"], json!(["resourcesets", "resourcesetinputproviders"]));
    }
}

#[test]
fn the_configuration_of_the_web_page_may_be_its_spec_or_whole() {
    let config = |values: &str| -> Value {
        let objects = OPERATOR.objects(&format!("{{{IMAGE}, web: {{config: {values}}}}}"));
        let secret = find(&objects, "Secret").unwrap();
        serde_saphyr::from_str(secret["stringData"]["config.yaml"].as_str().unwrap()).unwrap()
    };
    let expected = json!({
        "apiVersion": "web.fluxcd.controlplane.io/v1",
        "kind": "Config",
        "spec": {"baseURL": "https://flux.example.com"},
    });
    assert_eq!(config("{baseURL: 'https://flux.example.com'}"), expected);
    assert_eq!(config("{spec: {baseURL: 'https://flux.example.com'}}"), expected);
}

#[test]
fn a_changed_configuration_of_the_web_page_restarts_the_pods() {
    let annotations = |address: &str| {
        let objects = OPERATOR.objects(&format!("{{{IMAGE}, web: {{config: {{baseURL: {address}}}}}}}"));
        find(&objects, "Deployment").unwrap()["spec"]["template"]["metadata"]["annotations"].clone()
    };
    assert!(annotations("a")["checksum/config"].is_string());
    assert_ne!(annotations("a"), annotations("b"));
}

#[test]
fn two_configurations_of_the_web_page_are_refused() {
    let error = OPERATOR.text(&format!("{{{IMAGE}, web: {{config: {{a: b}}, configSecretName: x}}}}"), &[]);
    assert!(error.unwrap_err().contains("web.config and web.configSecretName are both set"));
}

#[test]
fn metrics_are_let_in_with_a_service_monitor_alone() {
    let ports = |values: &str| -> Vec<u64> {
        let objects = OPERATOR.objects(&format!("{{{IMAGE}, {values}}}"));
        let policy = find(&objects, "NetworkPolicy").unwrap();
        let rules = policy["spec"]["ingress"].as_array().unwrap();
        rules.iter().map(|rule| rule["ports"][0]["port"].as_u64().unwrap()).collect()
    };
    assert_eq!(ports("serviceMonitor: {create: false}"), [9080]);
    assert_eq!(ports("serviceMonitor: {create: true}"), [9080, 8080]);
}

/// YAML writes whole numbers of the definitions as floats or not.
fn numbers_as_text(value: &Value) -> Value {
    match value {
        Value::Number(number) => json!(number.as_f64().unwrap().to_string()),
        Value::Array(items) => items.iter().map(numbers_as_text).collect(),
        Value::Object(fields) => {
            Value::Object(fields.iter().map(|(key, value)| (key.clone(), numbers_as_text(value))).collect())
        }
        other => other.clone(),
    }
}
