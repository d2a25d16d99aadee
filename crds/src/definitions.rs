use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceColumnDefinition, CustomResourceDefinition, JSONSchemaProps, JSONSchemaPropsOrArray,
    JSONSchemaPropsOrBool,
};
use kube::CustomResourceExt as _;

use crate::{FluxInstance, FluxReport, ResourceSet, ResourceSetInputProvider, columns};

/// A CustomResourceDefinition and the file that it is generated into.
#[derive(Clone, Debug)]
pub struct Definition {
    /// Name of the file in `crds/yaml`.
    pub file_name: &'static str,
    /// The definition, as installed.
    pub definition: CustomResourceDefinition,
}

/// The definitions of all kinds.
#[must_use]
pub fn definitions() -> Vec<Definition> {
    let kinds = [
        ("fluxcd.controlplane.io_fluxinstances.yaml", FluxInstance::crd(), columns::of_instance()),
        ("fluxcd.controlplane.io_fluxreports.yaml", FluxReport::crd(), columns::of_report()),
        ("fluxcd.controlplane.io_resourcesets.yaml", ResourceSet::crd(), columns::usual()),
        (
            "fluxcd.controlplane.io_resourcesetinputproviders.yaml",
            ResourceSetInputProvider::crd(),
            columns::usual(),
        ),
    ];
    kinds
        .map(|(file_name, definition, columns)| Definition {
            file_name,
            definition: with_columns(without_nullable(definition), &columns),
        })
        .to_vec()
}

fn with_columns(
    mut definition: CustomResourceDefinition,
    columns: &[CustomResourceColumnDefinition],
) -> CustomResourceDefinition {
    for version in &mut definition.spec.versions {
        version.additional_printer_columns = Some(columns.to_vec());
    }
    definition
}

/// An absent field and a null one mean the same in this API. Without `nullable` the API server drops nulls
/// before it fills in defaults, so that `wait: null` is true and not an error.
fn without_nullable(mut definition: CustomResourceDefinition) -> CustomResourceDefinition {
    for version in &mut definition.spec.versions {
        if let Some(schema) = version.schema.as_mut().and_then(|schema| schema.open_api_v3_schema.as_mut()) {
            clear_nullable(schema);
        }
    }
    definition
}

fn clear_nullable(schema: &mut JSONSchemaProps) {
    schema.nullable = None;
    if let Some(values) = &mut schema.enum_ {
        values.retain(|value| !value.0.is_null());
    }
    schema.properties.iter_mut().flat_map(|properties| properties.values_mut()).for_each(clear_nullable);
    match &mut schema.items {
        Some(JSONSchemaPropsOrArray::Schema(items)) => clear_nullable(items),
        Some(JSONSchemaPropsOrArray::Schemas(items)) => items.iter_mut().for_each(clear_nullable),
        None => {}
    }
    if let Some(JSONSchemaPropsOrBool::Schema(values)) = &mut schema.additional_properties {
        clear_nullable(values);
    }
}
