//! What was changed in the cluster and is still to be told.

use std::collections::BTreeMap;

use crds::ObjectId;
use operator_cluster::apply::Change;

/// What was done to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    Created,
    Configured,
    Deleted,
}

impl Action {
    /// What an apply did; none when it did nothing.
    pub(super) fn of(change: Change) -> Option<Self> {
        match change {
            Change::Created => Some(Self::Created),
            Change::Configured => Some(Self::Configured),
            Change::Unchanged => None,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Configured => "configured",
            Self::Deleted => "deleted",
        }
    }
}

/// The changes since the last success. A pass that fails leaves them to the one that succeeds.
#[derive(Debug, Default)]
pub(super) struct Changes(BTreeMap<ObjectId, Action>);

impl Changes {
    /// Takes note of a change. What was created stays created, whatever was configured later.
    pub(super) fn note(&mut self, id: ObjectId, action: Action) {
        let known = self.0.entry(id).or_insert(action);
        if (*known, action) != (Action::Created, Action::Configured) {
            *known = action;
        }
    }

    /// The changes in order of their objects, one a line, to be told now; none when there are none.
    pub(super) fn take(&mut self) -> Option<String> {
        let changes = std::mem::take(&mut self.0);
        let lines: Vec<String> =
            changes.iter().map(|(id, action)| format!("{id} {}", action.word())).collect();
        (!lines.is_empty()).then(|| lines.join("\n"))
    }
}

#[cfg(test)]
mod tests {
    use crds::ObjectId;

    use super::{Action, Changes};

    fn id(name: &str) -> ObjectId {
        ObjectId {
            group: "apps".to_owned(),
            kind: "Deployment".to_owned(),
            namespace: "flux-system".to_owned(),
            name: name.to_owned(),
        }
    }

    #[test]
    fn changes_are_told_once_in_order_and_with_their_sum() {
        let mut changes = Changes::default();
        assert_eq!(changes.take(), None);
        for (name, action) in [
            ("c", Action::Configured),
            ("a", Action::Created),
            ("a", Action::Configured),
            ("b", Action::Configured),
            ("b", Action::Deleted),
            ("d", Action::Deleted),
            ("d", Action::Created),
        ] {
            changes.note(id(name), action);
        }
        let expected = "Deployment/flux-system/a created\nDeployment/flux-system/b deleted\nDeployment/flux-system/c configured\nDeployment/flux-system/d created";
        assert_eq!(changes.take().as_deref(), Some(expected));
        assert_eq!(changes.take(), None);
    }
}
