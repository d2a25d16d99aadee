//! Multi-tenancy lockdown and workload identity.

use crds::flux_instance::{Cluster, Component, DEFAULT_TENANT_SERVICE_ACCOUNT};
use serde_json::Value;

use super::{BuildError, InvalidField, controllers::append_argument};
use crate::{
    objects::{edit_list, edit_map},
    semver::Version,
};

/// The first minor whose controllers have the workload identity gate on unless it is switched off, and
/// default ServiceAccounts for it.
const DEFAULT_IDENTITIES_SINCE: (u64, u64) = (2, 7);

/// The resource that lets its holder act as any ServiceAccount.
const TOKEN_RESOURCE: &str = "serviceaccounts/token";

/// What the workload identity settings of an instance come to for a version of Flux.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WorkloadIdentity {
    /// Objects cannot use identities of their own; the controllers get no right to create tokens.
    Off {
        /// The gate exists and is on by default, so it is switched off by name.
        gate_is_on_by_default: bool,
    },
    /// Objects use the identity of the ServiceAccount that they name.
    ObjectLevel {
        /// helm-controller knows the gate.
        helm_has_gate: bool,
    },
    /// Besides, objects that name none use a default one of their namespace.
    Multitenant,
}

impl WorkloadIdentity {
    /// Reads the settings.
    pub(super) fn of(cluster: &Cluster, version: &Version) -> Result<Self, BuildError> {
        let has_defaults = (version.major(), version.minor()) >= DEFAULT_IDENTITIES_SINCE;
        let object_level = cluster.object_level_workload_identity == Some(true);
        match (object_level, cluster.multitenant_workload_identity) {
            (_, true) if !has_defaults => {
                let (major, minor) = DEFAULT_IDENTITIES_SINCE;
                Err(BuildError::NeedsFlux {
                    field: "spec.cluster.multitenantWorkloadIdentity",
                    value: "true",
                    since: format!("{major}.{minor}"),
                    version: version.clone(),
                })
            }
            (false, true) => Err(InvalidField::new(
                "spec.cluster.multitenantWorkloadIdentity",
                "needs spec.cluster.objectLevelWorkloadIdentity: true",
            )
            .into()),
            (true, true) => Ok(Self::Multitenant),
            (true, false) => Ok(Self::ObjectLevel { helm_has_gate: has_defaults }),
            (false, false) => Ok(Self::Off { gate_is_on_by_default: has_defaults }),
        }
    }

    /// The arguments that a component's Deployment gets.
    pub(super) fn apply(self, deployment: &mut Value, component: Component, cluster: &Cluster) {
        use Component::{
            HelmController, ImageAutomationController, ImageReflectorController, KustomizeController,
            NotificationController, SourceController, SourceWatcher,
        };
        let gate = match (self, component) {
            (_, SourceWatcher)
            | (Self::Off { gate_is_on_by_default: false }, _)
            | (Self::ObjectLevel { helm_has_gate: false }, HelmController) => None,
            (Self::Off { .. }, _) => Some("--feature-gates=ObjectLevelWorkloadIdentity=false"),
            (Self::ObjectLevel { .. } | Self::Multitenant, _) => {
                Some("--feature-gates=ObjectLevelWorkloadIdentity=true")
            }
        };
        if let Some(gate) = gate {
            append_argument(deployment, gate);
        }
        if self != Self::Multitenant {
            return;
        }
        match component {
            SourceController
            | NotificationController
            | ImageReflectorController
            | ImageAutomationController => {
                append_account(
                    deployment,
                    "--default-service-account",
                    cluster.tenant_default_service_account.as_deref(),
                );
            }
            KustomizeController | HelmController => {
                if component == KustomizeController {
                    append_account(
                        deployment,
                        "--default-decryption-service-account",
                        cluster.tenant_default_decryption_service_account.as_deref(),
                    );
                }
                append_account(
                    deployment,
                    "--default-kubeconfig-service-account",
                    cluster.tenant_default_kube_config_service_account.as_deref(),
                );
            }
            SourceWatcher => {}
        }
    }

    /// Takes the right to create tokens of ServiceAccounts from a role, unless objects may use identities.
    pub(super) fn restrict(self, cluster_role: &mut Value) {
        if matches!(self, Self::Off { .. }) {
            edit_list(cluster_role, &["rules"], |rules| rules.retain_mut(keeps_without_tokens));
        }
    }
}

/// Lockdown flags of a component's Deployment in a cluster that tenants share.
pub(super) fn lock_down(deployment: &mut Value, component: Component, cluster: &Cluster) {
    // Sources refer to nothing but secrets of their own namespace, so source-controller has no such flag.
    if component != Component::SourceController {
        append_argument(deployment, "--no-cross-namespace-refs=true");
    }
    if component == Component::KustomizeController {
        append_argument(deployment, "--no-remote-bases=true");
    }
    if matches!(component, Component::KustomizeController | Component::HelmController) {
        append_account(
            deployment,
            "--default-service-account",
            cluster.tenant_default_service_account.as_deref(),
        );
    }
}

/// The Kustomization that Flux is synced with stays cluster-admin where others are locked down, unless the spec
/// names whose rights it has.
pub(super) fn run_as_controller(kustomization: &mut Value) {
    edit_map(kustomization, &["spec"], |spec| {
        let account = spec.entry("serviceAccountName");
        account.or_insert_with(|| Component::KustomizeController.as_str().into());
    });
}

fn append_account(deployment: &mut Value, flag: &str, account: Option<&str>) {
    let account = account.filter(|account| !account.is_empty());
    append_argument(deployment, format!("{flag}={}", account.unwrap_or(DEFAULT_TENANT_SERVICE_ACCOUNT)));
}

/// Removes the token resource from a rule; false when nothing is left of the rule.
fn keeps_without_tokens(rule: &mut Value) -> bool {
    let grants_tokens = |resource: &Value| resource == TOKEN_RESOURCE;
    let Some(resources) = rule.get_mut("resources").and_then(Value::as_array_mut) else { return true };
    if !resources.iter().any(grants_tokens) {
        return true;
    }
    resources.retain(|resource| !grants_tokens(resource));
    !resources.is_empty()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::WorkloadIdentity;

    const OFF: WorkloadIdentity = WorkloadIdentity::Off { gate_is_on_by_default: true };

    fn role(rules: &Value) -> Value {
        json!({"kind": "ClusterRole", "rules": rules})
    }

    #[test]
    fn the_token_right_goes_wherever_it_stands() {
        let token = json!({"apiGroups": [""], "resources": ["serviceaccounts/token"], "verbs": ["create"]});
        let pods = json!({"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]});
        let url = json!({"nonResourceURLs": ["/livez/ping"], "verbs": ["head"]});
        for rules in [json!([token, pods, url]), json!([pods, token, url]), json!([pods, url, token])] {
            let mut role = role(&rules);
            OFF.restrict(&mut role);
            assert_eq!(role["rules"], json!([pods, url]));
        }
    }

    #[test]
    fn a_rule_that_grants_more_than_tokens_keeps_the_rest() {
        let mut role =
            role(&json!([{"resources": ["secrets", "serviceaccounts/token"], "verbs": ["create"]}]));
        OFF.restrict(&mut role);
        assert_eq!(role["rules"], json!([{"resources": ["secrets"], "verbs": ["create"]}]));
    }

    #[test]
    fn the_token_right_stays_where_objects_use_identities() {
        let rules = json!([{"resources": ["serviceaccounts/token"], "verbs": ["create"]}]);
        for identity in [WorkloadIdentity::ObjectLevel { helm_has_gate: true }, WorkloadIdentity::Multitenant]
        {
            let mut role = role(&rules);
            identity.restrict(&mut role);
            assert_eq!(role["rules"], rules);
        }
    }
}
