//! What a container runs: its command, arguments and environment, as the agent of a node reads them.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{Container, EnvVar, EnvVarSource, Pod};
use kube::ResourceExt as _;

/// A container that cannot be run as it is written, with the reason.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("container {container}: variable {variable}: {problem}")]
pub(crate) struct ContainerError {
    container: String,
    variable: String,
    problem: &'static str,
}

/// The environment of a container.
pub(crate) fn environment(
    pod: &Pod,
    container: &Container,
) -> Result<BTreeMap<String, String>, ContainerError> {
    let mut environment = BTreeMap::new();
    for EnvVar { name, value, value_from } in container.env.iter().flatten() {
        let failed =
            |problem| ContainerError { container: container.name.clone(), variable: name.clone(), problem };
        let value = match value_from {
            None => expand(value.as_deref().unwrap_or_default(), &environment),
            Some(source) => from_source(pod, container, source).map_err(failed)?,
        };
        environment.insert(name.clone(), value);
    }
    Ok(environment)
}

fn from_source(pod: &Pod, container: &Container, source: &EnvVarSource) -> Result<String, &'static str> {
    if let Some(field) = &source.field_ref {
        return match field.field_path.as_str() {
            "metadata.namespace" => Ok(pod.namespace().unwrap_or_default()),
            "metadata.name" => Ok(pod.name_any()),
            "metadata.uid" => Ok(pod.uid().unwrap_or_default()),
            _ => Err("the bed knows the fields metadata.name, metadata.namespace and metadata.uid"),
        };
    }
    if let Some(resource) = &source.resource_field_ref {
        let (kind, name) = resource.resource.split_once('.').unwrap_or_default();
        let resources = container.resources.as_ref();
        let quantities = resources.and_then(|all| match kind {
            "limits" => all.limits.as_ref(),
            _ => all.requests.as_ref(),
        });
        let quantity =
            quantities.and_then(|all| all.get(name)).ok_or("the container has no such resource")?;
        return whole_units(&quantity.0).ok_or("the bed does not know the unit of this quantity");
    }
    Err("the bed knows fieldRef and resourceFieldRef")
}

/// A quantity in whole units, rounded up: bytes of memory, processors.
fn whole_units(quantity: &str) -> Option<String> {
    let end = quantity.find(|character: char| !character.is_ascii_digit()).unwrap_or(quantity.len());
    let (number, unit) = quantity.split_at(end);
    let number: u64 = number.parse().ok()?;
    let units = match unit {
        "" => number,
        "m" => number.div_ceil(1000),
        "Ki" => number.checked_mul(1 << 10)?,
        "Mi" => number.checked_mul(1 << 20)?,
        "Gi" => number.checked_mul(1 << 30)?,
        _ => return None,
    };
    Some(units.to_string())
}

/// The command line of a container, after the entrypoint of its image if it has no command of its own.
pub(crate) fn command(
    entrypoint: &[&str],
    container: &Container,
    environment: &BTreeMap<String, String>,
) -> Vec<String> {
    let own = container.command.clone().unwrap_or_default();
    let command = match own.split_first() {
        // The first word is the program, and an image here has one.
        Some((_, rest)) => rest.to_vec(),
        None => entrypoint.iter().map(ToString::to_string).collect(),
    };
    command.iter().chain(container.args.iter().flatten()).map(|word| expand(word, environment)).collect()
}

/// Replaces `$(NAME)`. What names no variable stays, and `$$` is a dollar sign.
fn expand(text: &str, environment: &BTreeMap<String, String>) -> String {
    let mut expanded = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('$') {
        expanded.push_str(before);
        if let Some(after) = after.strip_prefix('$') {
            expanded.push('$');
            rest = after;
            continue;
        }
        let reference = after.strip_prefix('(').and_then(|inner| inner.split_once(')'));
        if let Some((value, after)) =
            reference.and_then(|(name, after)| Some((environment.get(name)?, after)))
        {
            expanded.push_str(value);
            rest = after;
        } else {
            expanded.push('$');
            rest = after;
        }
    }
    expanded + rest
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn pod(container: &serde_json::Value) -> (Pod, Container) {
        let pod: Pod = serde_json::from_value(json!({
            "metadata": {"name": "one", "namespace": "flux-system"},
            "spec": {"containers": [container]},
        }))
        .unwrap();
        let container = pod.spec.as_ref().unwrap().containers[0].clone();
        (pod, container)
    }

    #[test]
    fn variables_come_from_values_fields_and_limits() {
        let (pod, container) = pod(&json!({
            "name": "manager",
            "env": [
                {"name": "NAMESPACE", "valueFrom": {"fieldRef": {"fieldPath": "metadata.namespace"}}},
                {"name": "ADDRESS", "value": "store.$(NAMESPACE).svc.$(OTHER).$$(NAMESPACE)"},
                {"name": "GOMEMLIMIT", "valueFrom": {"resourceFieldRef": {"resource": "limits.memory"}}},
                {"name": "GOMAXPROCS", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu"}}},
            ],
            "resources": {"limits": {"memory": "1Gi", "cpu": "1500m"}},
            "args": ["--host=$(NAMESPACE)"],
        }));
        let environment = environment(&pod, &container).unwrap();
        assert_eq!(environment["ADDRESS"], "store.flux-system.svc.$(OTHER).$(NAMESPACE)");
        assert_eq!(environment["GOMEMLIMIT"], "1073741824");
        assert_eq!(environment["GOMAXPROCS"], "2");
        assert_eq!(command(&["serve"], &container, &environment), ["serve", "--host=flux-system"]);
    }

    #[test]
    fn a_command_takes_the_place_of_the_entrypoint() {
        let (_, container) =
            pod(&json!({"name": "check", "command": ["flux-operator"], "args": ["wait", "instance"]}));
        assert_eq!(command(&["serve"], &container, &BTreeMap::new()), ["wait", "instance"]);
    }

    #[test]
    fn a_variable_that_cannot_be_had_is_named() {
        let (pod, container) = pod(&json!({
            "name": "manager",
            "env": [{"name": "TOKEN", "valueFrom": {"secretKeyRef": {"name": "a", "key": "b"}}}],
        }));
        let error = environment(&pod, &container).unwrap_err().to_string();
        assert_eq!(error, "container manager: variable TOKEN: the bed knows fieldRef and resourceFieldRef");
    }
}
