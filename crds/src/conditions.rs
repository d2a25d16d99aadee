//! Condition types and reasons. Scripts and alerts match on these words: they never change.

/// The object does what its spec says, as of the condition's `observedGeneration`.
pub const READY: &str = "Ready";

/// Present (and True) only while the operator works on the object.
pub const RECONCILING: &str = "Reconciling";

/// Present (and True) only while nothing but a change of the spec can help.
pub const STALLED: &str = "Stalled";

/// Ready=True: the last pass succeeded.
pub const RECONCILIATION_SUCCEEDED: &str = "ReconciliationSucceeded";

/// Ready=True: the object was created while its reconciliation was disabled.
pub const RECONCILIATION_DISABLED: &str = "ReconciliationDisabled";

/// Ready=False: the cluster refused something, or something did not become ready in time.
pub const RECONCILIATION_FAILED: &str = "ReconciliationFailed";

/// Ready=False and Stalled: the spec cannot be turned into objects.
pub const BUILD_FAILED: &str = "BuildFailed";

/// Ready=False: the artifact with the manifests could not be fetched or verified.
pub const ARTIFACT_FAILED: &str = "ArtifactFailed";

/// Ready=False: a newer request ended the wait for readiness.
pub const HEALTH_CHECK_CANCELED: &str = "HealthCheckCanceled";

/// Ready=Unknown and Reconciling: the pass is under way.
pub const PROGRESSING: &str = "Progressing";

/// Reconciling: the last pass failed and another one follows by itself.
pub const PROGRESSING_WITH_RETRY: &str = "ProgressingWithRetry";

/// How the message of an uninstallation begins that is not finished and is tried again.
pub const UNINSTALLATION_UNFINISHED: &str = "Uninstalling Flux is not finished";

/// Event: custom resources could not be brought to the stored version. It is tried again with the next change.
pub const MIGRATION_FAILED: &str = "MigrationFailed";

/// Event: a definition is newer than the release, and was not applied.
pub const DEFINITION_NEWER: &str = "DefinitionNewer";

/// Event: the spec can be built, but part of it has no effect or is not what it seems.
pub const BUILD_WARNING: &str = "BuildWarning";

/// Event: an annotation has a value that cannot be used, and the default holds.
pub const INVALID_ANNOTATION: &str = "InvalidAnnotation";

/// Event: a Secret that the sync names does not exist. Flux goes on when it is created.
pub const SECRET_MISSING: &str = "SecretMissing";

/// Event: a shard goes whose label objects still carry; no controller serves them any more.
pub const SHARD_IN_USE: &str = "ShardInUse";

/// Event: a newer version of Flux is available that the version range excludes.
pub const OUTDATED_VERSION: &str = "OutdatedVersion";
