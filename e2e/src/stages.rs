//! What kwok plays: the stages of nodes and pods.

use serde_json::{Value, json};

use crate::BedError;

const ALL: &str = include_str!("../control-plane/stages.yaml");
/// The image of a pod's first container, without registry, tag and digest, in the language of jq.
const IMAGE: &str = r#".spec.containers[0].image | sub("^.*/"; "") | sub("[:@].*$"; "")"#;

/// The stages, as YAML; pods of these images are left to others.
pub(crate) fn stages(real_images: &[&str]) -> Result<String, BedError> {
    if real_images.is_empty() {
        return Ok(ALL.to_owned());
    }
    let mut stages: Vec<Value> =
        serde_saphyr::from_multiple(ALL).map_err(|error| BedError::Stages { message: error.to_string() })?;
    for stage in stages.iter_mut().filter(|stage| stage["spec"]["resourceRef"]["kind"] == "Pod") {
        if let Some(expressions) = stage["spec"]["selector"]["matchExpressions"].as_array_mut() {
            expressions.push(json!({"key": IMAGE, "operator": "NotIn", "values": real_images}));
        }
    }
    let documents: Vec<String> = stages.iter().map(|stage| format!("{stage:#}\n")).collect();
    Ok(documents.join("---\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pods_of_real_images_are_left_alone() {
        let text = stages(&["flux-operator"]).unwrap();
        let stages: Vec<Value> = serde_saphyr::from_multiple(&text).unwrap();
        let of_kind = |kind: &str| -> Vec<&Value> {
            stages.iter().filter(|stage| stage["spec"]["resourceRef"]["kind"] == kind).collect()
        };
        assert_eq!(of_kind("Pod").len(), 3);
        for stage in of_kind("Pod") {
            let expressions = stage["spec"]["selector"]["matchExpressions"].as_array().unwrap();
            assert_eq!(expressions.last().unwrap()["values"], json!(["flux-operator"]), "{stage}");
        }
        assert!(!of_kind("Node")[0].to_string().contains("flux-operator"));
    }
}
