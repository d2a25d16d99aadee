//! Definitions on their way between releases: what is done before and after they are applied, and what is told
//! of it.

use crds::{ObjectId, conditions, keys};
use manifests::{flux_instance::version_of_revision, objects::kind, semver::Version};
use operator_cluster::{
    apply::Applier,
    definitions::{DefinitionError, Definitions, Prepared, Reach, Rewritten, migrate},
    events::Severity,
    inventory::is_confirmed,
};
use serde_json::Value;
use tracing::{info, warn};

use super::{InstallError, Work, sentences};
use crate::flux_instance::pass::Pass;

/// What became of definitions, besides being applied.
#[derive(Debug, Default)]
pub(super) struct Report {
    /// Those that are of a newer release, each with it: they were not applied.
    newer: Vec<(String, String)>,
    /// Those whose objects were rewritten.
    rewritten: Vec<Rewritten>,
    /// What kept objects from being rewritten.
    failures: Vec<DefinitionError>,
}

impl Report {
    /// Whether an object of the build is left as it is.
    pub(super) fn leaves(&self, object: &Value) -> bool {
        let id = ObjectId::of(object);
        is_definition(object) && self.newer.iter().any(|(definition, _)| *definition == id.name)
    }

    /// Whether every object that was to be rewritten is.
    pub(super) fn is_complete(&self) -> bool {
        self.failures.is_empty()
    }

    /// What the message of a success says besides; empty when every definition was applied.
    pub(super) fn left_alone(&self, version: &Version) -> String {
        if self.newer.is_empty() {
            return String::new();
        }
        let named: Vec<String> =
            self.newer.iter().map(|(definition, release)| format!("{definition} ({release})")).collect();
        format!(
            "; these CustomResourceDefinitions are newer than {} and were left as they are: {}; choose a newer Flux with spec.distribution.version",
            version.original(),
            named.join(", ")
        )
    }
}

impl Pass<'_> {
    /// Makes way for the definitions among objects that are about to be applied. Gives the objects without
    /// the definitions that must stay as they are.
    pub(super) async fn make_way<'b>(
        &self,
        work: &mut Work<'b>,
        objects: Vec<&'b Value>,
    ) -> Result<Vec<&'b Value>, InstallError> {
        let unsure: Vec<&Value> =
            objects.iter().copied().filter(|object| self.is_unsure(work, object)).collect();
        let built = &work.built.version;
        let is_newer = |release: &str| Version::parse(release).is_ok_and(|release| release > *built);
        let applier = Applier { kinds: &self.reconciler.kinds, former: &self.reconciler.former };
        let mut failures = Vec::new();
        let prepared = (Definitions { applier, is_newer: &is_newer }).prepare(&unsure).await;
        for (object, outcome) in unsure.into_iter().zip(prepared) {
            match outcome {
                Ok(Prepared::Applicable) => {}
                Ok(Prepared::Bridged(rewritten)) => work.report.rewritten.push(rewritten),
                Ok(Prepared::Newer { definition, release }) => {
                    self.reconciler.managed.note_left_alone(&ObjectId::of(object));
                    work.report.newer.push((definition, release));
                }
                Err(failure) => failures.push(failure),
            }
        }
        if !failures.is_empty() {
            return Err(InstallError::Definitions(failures));
        }
        Ok(objects.into_iter().filter(|object| !work.report.leaves(object)).collect())
    }

    /// Whether a definition must be looked at before it is applied. One that is as it was last applied, in
    /// the same revision, needs no look.
    fn is_unsure(&self, work: &Work<'_>, object: &Value) -> bool {
        is_definition(object)
            && (self.last_applied() != Some(&work.built.revision())
                || !is_confirmed(&work.recorded, object)
                || self.force_request().is_some()
                || self.reconciler.managed.has_drifted(&ObjectId::of(object)))
    }

    /// Brings custom resources to the version that their definition stores. What fails is told, and does not
    /// fail the pass.
    pub(super) async fn migrate(&self, work: &mut Work<'_>) {
        if !self.instance.spec.migrate_resources {
            return;
        }
        let definitions: Vec<&Value> = work.live.iter().filter(|object| is_definition(object)).collect();
        let asked = match self.force_request() {
            Some(_) => Some(Reach::Everything),
            None => self.is_minor_upgrade(&work.built.version).then_some(Reach::OwnedFields),
        };
        for outcome in migrate(&self.reconciler.kinds, &definitions, asked).await {
            match outcome {
                Ok(rewritten) => work.report.rewritten.push(rewritten),
                Err(failure) => work.report.failures.push(failure),
            }
        }
    }

    /// Tells which definitions were left as they are.
    pub(super) async fn tell_newer(&self, report: &Report, version: &Version) {
        for (definition, release) in &report.newer {
            let message = format!(
                "CustomResourceDefinition {definition} is of Flux {release}, which is newer than {}: it was left as it is; choose a newer Flux with spec.distribution.version",
                version.original()
            );
            warn!(reason = conditions::DEFINITION_NEWER, "{message}");
            self.tell(Severity::Warning, conditions::DEFINITION_NEWER, &message).await;
        }
    }

    /// Tells which custom resources were rewritten, and which could not be.
    pub(super) async fn tell_rewritten(&self, report: &Report) {
        let rewritten: Vec<String> = report.rewritten.iter().filter_map(describe).collect();
        if !rewritten.is_empty() {
            let message = format!("Rewrote custom resources: {}", rewritten.join("; "));
            info!("{message}");
            self.tell(Severity::Normal, conditions::RECONCILIATION_SUCCEEDED, &message).await;
        }
        if !report.failures.is_empty() {
            let message = format!(
                "Some custom resources are not in the stored version: {}",
                sentences(&report.failures)
            );
            warn!(reason = conditions::MIGRATION_FAILED, "{message}");
            self.tell(Severity::Warning, conditions::MIGRATION_FAILED, &message).await;
        }
    }

    /// The value of the annotation that asks for every custom resource to be written, unless that was done.
    pub(super) fn force_request(&self) -> Option<String> {
        let annotation = |key: &str| self.instance.metadata.annotations.as_ref()?.get(key).cloned();
        let force = annotation(keys::FORCE_AT)
            .filter(|force| annotation(keys::REQUESTED_AT).as_ref() == Some(force))?;
        let handled = self.instance.status.as_ref().and_then(|status| status.last_handled_force_at.as_ref());
        (handled != Some(&force)).then_some(force)
    }

    fn is_minor_upgrade(&self, to: &Version) -> bool {
        let from = self.last_applied().and_then(version_of_revision);
        from.is_some_and(|from| (from.major(), from.minor()) < (to.major(), to.minor()))
    }

    /// The revision of the last success.
    fn last_applied(&self) -> Option<&str> {
        self.instance.status.as_ref()?.last_applied_revision.as_deref()
    }
}

fn is_definition(object: &Value) -> bool {
    kind(object) == "CustomResourceDefinition"
}

/// What was done; none when there was nothing to write.
fn describe(rewritten: &Rewritten) -> Option<String> {
    let Rewritten { definition, version, dropped, objects } = rewritten;
    let objects = match objects {
        0 => return None,
        1 => "1 object".to_owned(),
        count => format!("{count} objects"),
    };
    if dropped.is_empty() {
        return Some(format!("{objects} of {definition} in {version}"));
    }
    Some(format!("{objects} of {definition} in {version}, and {} dropped from it", dropped.join(", ")))
}

#[cfg(test)]
mod tests {
    use manifests::semver::Version;
    use operator_cluster::definitions::Rewritten;
    use serde_json::json;

    use super::{Report, describe};

    fn rewritten(dropped: &[&str], objects: usize) -> Rewritten {
        let dropped = dropped.iter().map(|&version| version.to_owned()).collect();
        Rewritten { definition: "alerts.x".to_owned(), version: "v1".to_owned(), dropped, objects }
    }

    #[test]
    fn a_definition_that_is_left_alone_is_named_with_both_releases_and_the_way_out() {
        let report =
            Report { newer: vec![("alerts.x".to_owned(), "v2.99.0".to_owned())], ..Report::default() };
        let version = Version::parse("v2.9.5").unwrap();
        assert_eq!(
            report.left_alone(&version),
            "; these CustomResourceDefinitions are newer than v2.9.5 and were left as they are: alerts.x (v2.99.0); choose a newer Flux with spec.distribution.version"
        );
        assert_eq!(Report::default().left_alone(&version), "");
        let definition = |kind: &str, name: &str| json!({"kind": kind, "metadata": {"name": name}});
        assert!(report.leaves(&definition("CustomResourceDefinition", "alerts.x")));
        assert!(!report.leaves(&definition("CustomResourceDefinition", "alerts.y")));
        assert!(!report.leaves(&definition("ClusterRole", "alerts.x")));
    }

    #[test]
    fn what_was_rewritten_is_told_and_nothing_is_not() {
        let told = |dropped: &[&str], objects| describe(&rewritten(dropped, objects));
        assert_eq!(told(&[], 0), None);
        assert_eq!(told(&["v1beta1"], 0), None);
        assert_eq!(told(&[], 1).unwrap(), "1 object of alerts.x in v1");
        assert_eq!(
            told(&["v1beta1", "v1beta2"], 2).unwrap(),
            "2 objects of alerts.x in v1, and v1beta1, v1beta2 dropped from it"
        );
    }
}
