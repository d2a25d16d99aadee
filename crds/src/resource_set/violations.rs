//! The rules of the definition that types cannot hold, for specs that no API server has seen.

use super::{
    InputStrategyName, InputsFrom, MAX_STEPS, ResourceSet, ResourceSetSpec, Step, step::MAX_STEP_NAME,
};
use crate::violation::{NO_DURATION, Violation, broken, is_duration, is_longer_than};

pub(super) const STEPS_EXCLUDE: &str =
    ".resources and .resourcesTemplate must be empty when .steps is set: move them into a step";
pub(super) const NOTHING_TO_APPLY: &str = "one of .resources, .resourcesTemplate and .steps must be set";
pub(super) const STEP_NAMES: &str = "the names of the steps must differ";
pub(super) const NOTHING_IN_STEP: &str = ".resources or .resourcesTemplate of a step must be set";
pub(super) const EMPTY_PROVIDERS: &str =
    ".includeEmptyProviders can only be set when .name is set to 'Permute'";
pub(super) const NAME_OR_SELECTOR: &str = "one of .name and .selector must be set, and not both";

impl ResourceSet {
    /// Every rule of the definition that this object breaks, those for the whole spec last. An object that
    /// an API server admitted breaks none.
    #[must_use]
    pub fn violations(&self) -> Vec<Violation> {
        let spec = &self.spec;
        let mut violations = strategy_violations(spec);
        let inputs_from = spec.inputs_from.iter().enumerate();
        violations.extend(inputs_from.flat_map(|(index, from)| inputs_from_violations(index, from)));
        if let Some(steps) = &spec.steps {
            violations
                .extend(steps.iter().enumerate().flat_map(|(index, step)| step_violations(index, step)));
            violations.extend(steps_violations(steps));
        }
        violations.extend(spec_violations(spec));
        violations
    }
}

fn spec_violations(spec: &ResourceSetSpec) -> Vec<Violation> {
    let has_resources = spec.resources.as_ref().is_some_and(|resources| !resources.is_empty());
    let has_template = spec.resources_template.as_ref().is_some_and(|template| !template.is_empty());
    let is_unset = spec.resources.is_none() && spec.resources_template.is_none() && spec.steps.is_none();
    broken(
        "spec",
        [
            (spec.steps.is_some() && (has_resources || has_template), "", STEPS_EXCLUDE),
            (is_unset, "", NOTHING_TO_APPLY),
        ],
    )
}

fn strategy_violations(spec: &ResourceSetSpec) -> Vec<Violation> {
    let is_broken = spec.input_strategy.as_ref().is_some_and(|strategy| {
        strategy.include_empty_providers.is_some() && strategy.name != InputStrategyName::Permute
    });
    broken("spec.inputStrategy", [(is_broken, "", EMPTY_PROVIDERS)])
}

fn inputs_from_violations(index: usize, from: &InputsFrom) -> Vec<Violation> {
    let is_broken = from.name.is_some() == from.selector.is_some();
    broken(&format!("spec.inputsFrom[{index}]"), [(is_broken, "", NAME_OR_SELECTOR)])
}

fn steps_violations(steps: &[Step]) -> Vec<Violation> {
    let is_repeated =
        |(index, step): (usize, &Step)| steps.iter().take(index).any(|other| other.name == step.name);
    // A longer list is not searched: that takes time with the square of its length.
    let has_repeated_name = steps.len() <= MAX_STEPS && steps.iter().enumerate().any(is_repeated);
    broken(
        "spec.steps",
        [
            (steps.is_empty() || steps.len() > MAX_STEPS, "", "must have 1 to 20 steps"),
            (has_repeated_name, "", STEP_NAMES),
        ],
    )
}

fn step_violations(index: usize, step: &Step) -> Vec<Violation> {
    broken(
        &format!("spec.steps[{index}]"),
        [
            (
                !is_dns_label(&step.name),
                ".name",
                "must be a DNS label of lower-case letters, digits and hyphens",
            ),
            (is_longer_than(MAX_STEP_NAME, &step.name), ".name", "must have at most 63 characters"),
            (step.timeout.as_deref().is_some_and(|timeout| !is_duration(timeout)), ".timeout", NO_DURATION),
            (step.resources.is_none() && step.resources_template.is_none(), "", NOTHING_IN_STEP),
        ],
    )
}

/// The language of `^[a-z0-9]([a-z0-9-]*[a-z0-9])?$`.
fn is_dns_label(name: &str) -> bool {
    let is_known = |character: char| matches!(character, 'a'..='z' | '0'..='9' | '-');
    !name.is_empty() && name.chars().all(is_known) && !name.starts_with('-') && !name.ends_with('-')
}
