//! Changes to one controller's Deployment, each by name: the container `manager`, a flag, a mount.

use serde_json::{Map, Value, json};

use crate::objects::{edit_list, edit_map};

/// Name of the container that runs the controller, in every Deployment of Flux.
pub(super) const MANAGER: &str = "manager";

const POD_SPEC: [&str; 3] = ["spec", "template", "spec"];

/// Gives a flag its value where the flag stands, or appends it.
pub(super) fn set_argument(deployment: &mut Value, flag: &str, value: &str) {
    let text = format!("{flag}={value}");
    edit_arguments(deployment, |arguments| {
        let found = arguments.iter_mut().find(|argument| is_flag(argument, flag));
        match found {
            Some(argument) => *argument = Value::String(text),
            None => arguments.push(Value::String(text)),
        }
    });
}

/// Appends an argument. The last of several values of a flag wins, and feature gates add up.
pub(super) fn append_argument(deployment: &mut Value, argument: impl Into<String>) {
    edit_arguments(deployment, |arguments| arguments.push(Value::String(argument.into())));
}

/// Changes the container that runs the controller; a Deployment without one is left alone.
pub(super) fn edit_manager(deployment: &mut Value, edit: impl FnOnce(&mut Value)) {
    edit_pod_list(deployment, "containers", |containers| {
        if let Some(container) = containers.iter_mut().find(|container| container["name"] == MANAGER) {
            edit(container);
        }
    });
}

/// Changes a map of the pod's spec, or the spec itself for the empty path.
pub(super) fn edit_pod(deployment: &mut Value, path: &[&str], edit: impl FnOnce(&mut Map<String, Value>)) {
    edit_map(deployment, &[&POD_SPEC, path].concat(), edit);
}

/// Changes a list of the pod's spec.
pub(super) fn edit_pod_list(deployment: &mut Value, list: &str, edit: impl FnOnce(&mut Vec<Value>)) {
    edit_list(deployment, &[&POD_SPEC, &[list][..]].concat(), edit);
}

/// Replaces requests and limits of the controller.
pub(super) fn set_resources(deployment: &mut Value, requests: [&str; 2], limits: [&str; 2]) {
    let pair = |[cpu, memory]: [&str; 2]| json!({"cpu": cpu, "memory": memory});
    let resources = json!({"requests": pair(requests), "limits": pair(limits)});
    edit_manager(deployment, |container| {
        edit_map(container, &[], |container| {
            container.insert("resources".to_owned(), resources);
        });
    });
}

/// Mounts a volume at a path where another one is mounted.
pub(super) fn remount(deployment: &mut Value, mount_path: &str, volume: &str) {
    edit_manager(deployment, |container| {
        edit_list(container, &["volumeMounts"], |mounts| {
            for mount in mounts.iter_mut().filter(|mount| mount["mountPath"] == mount_path) {
                edit_map(mount, &[], |mount| {
                    mount.insert("name".to_owned(), volume.into());
                });
            }
        });
    });
}

fn edit_arguments(deployment: &mut Value, edit: impl FnOnce(&mut Vec<Value>)) {
    edit_manager(deployment, |container| edit_list(container, &["args"], edit));
}

fn is_flag(argument: &Value, flag: &str) -> bool {
    let name = argument.as_str().and_then(|argument| argument.split('=').next());
    name == Some(flag)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{append_argument, remount, set_argument};

    fn deployment(arguments: &Value) -> Value {
        let sidecar = json!({"name": "sidecar", "args": ["--log-level=trace"]});
        let manager = json!({"name": "manager", "args": arguments, "volumeMounts": [
            {"mountPath": "/tmp", "name": "tmp"}, {"mountPath": "/data", "name": "data"}
        ]});
        json!({"spec": {"template": {"spec": {"containers": [sidecar, manager]}}}})
    }

    fn manager(deployment: &Value) -> &Value {
        &deployment["spec"]["template"]["spec"]["containers"][1]
    }

    #[test]
    fn a_flag_gets_its_value_wherever_it_stands() {
        for arguments in [
            json!(["--a", "--log-level=info", "--log-levels=x"]),
            json!(["--log-level", "--a", "--log-levels=x"]),
        ] {
            let mut deployment = deployment(&arguments);
            set_argument(&mut deployment, "--log-level", "debug");
            let mut arguments: Vec<_> = manager(&deployment)["args"]
                .as_array()
                .unwrap()
                .iter()
                .map(|a| a.as_str().unwrap())
                .collect();
            arguments.sort_unstable();
            assert_eq!(arguments, ["--a", "--log-level=debug", "--log-levels=x"]);
            assert_eq!(
                deployment["spec"]["template"]["spec"]["containers"][0]["args"],
                json!(["--log-level=trace"])
            );
        }
    }

    #[test]
    fn a_flag_that_is_missing_is_appended() {
        let mut deployment = deployment(&json!(["--a"]));
        set_argument(&mut deployment, "--b", "1");
        append_argument(&mut deployment, "--b=2");
        assert_eq!(manager(&deployment)["args"], json!(["--a", "--b=1", "--b=2"]));
    }

    #[test]
    fn a_mount_is_found_by_its_path() {
        let mut deployment = deployment(&json!([]));
        remount(&mut deployment, "/data", "other");
        assert_eq!(
            manager(&deployment)["volumeMounts"],
            json!([{"mountPath": "/tmp", "name": "tmp"}, {"mountPath": "/data", "name": "other"}])
        );
    }
}
