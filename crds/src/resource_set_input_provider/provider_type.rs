use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where input sets come from, and what they are.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the word is the documentation")]
pub enum ProviderType {
    Static,
    GitHubBranch,
    GitHubTag,
    GitHubPullRequest,
    GitLabBranch,
    GitLabTag,
    GitLabMergeRequest,
    GitLabEnvironment,
    GiteaBranch,
    GiteaTag,
    GiteaPullRequest,
    AzureDevOpsBranch,
    AzureDevOpsTag,
    AzureDevOpsPullRequest,
    AWSCodeCommitBranch,
    AWSCodeCommitTag,
    AWSCodeCommitPullRequest,
    OCIArtifactTag,
    ACRArtifactTag,
    ECRArtifactTag,
    GARArtifactTag,
    ExternalService,
    ExternalArtifact,
}

/// The types that have the same rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Family {
    Static,
    Git,
    AzureDevOps,
    CodeCommit,
    Registry,
    CloudRegistry,
    Service,
    Artifact,
}

impl ProviderType {
    pub(super) fn family(self) -> Family {
        match self {
            Self::Static => Family::Static,
            Self::GitHubBranch
            | Self::GitHubTag
            | Self::GitHubPullRequest
            | Self::GitLabBranch
            | Self::GitLabTag
            | Self::GitLabMergeRequest
            | Self::GitLabEnvironment
            | Self::GiteaBranch
            | Self::GiteaTag
            | Self::GiteaPullRequest => Family::Git,
            Self::AzureDevOpsBranch | Self::AzureDevOpsTag | Self::AzureDevOpsPullRequest => {
                Family::AzureDevOps
            }
            Self::AWSCodeCommitBranch | Self::AWSCodeCommitTag | Self::AWSCodeCommitPullRequest => {
                Family::CodeCommit
            }
            Self::OCIArtifactTag => Family::Registry,
            Self::ACRArtifactTag | Self::ECRArtifactTag | Self::GARArtifactTag => Family::CloudRegistry,
            Self::ExternalService => Family::Service,
            Self::ExternalArtifact => Family::Artifact,
        }
    }
}
