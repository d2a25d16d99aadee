//! Changing conditions so that their times tell the truth.

use crds::status::{Condition, ConditionStatus, MAX_MESSAGE_BYTES};
use operator_cluster::events::shorten;

/// The conditions of an object, and what they speak of.
pub(crate) struct Conditions<'a> {
    /// The list in the status.
    pub(crate) list: &'a mut Vec<Condition>,
    /// The generation of the spec that was acted on.
    pub(crate) generation: Option<i64>,
    /// The time of the observation, in RFC 3339.
    pub(crate) now: &'a str,
}

impl Conditions<'_> {
    /// Sets a condition. Its transition time moves only when its status does.
    pub(crate) fn set(&mut self, type_: &str, status: ConditionStatus, reason: &str, message: &str) {
        let since = find(self.list, type_)
            .filter(|condition| condition.status == status)
            .map_or(self.now, |condition| &condition.last_transition_time);
        let condition = Condition {
            type_: type_.to_owned(),
            status,
            observed_generation: self.generation,
            last_transition_time: since.to_owned(),
            reason: reason.to_owned(),
            message: shorten(message, MAX_MESSAGE_BYTES),
        };
        match self.list.iter_mut().find(|condition| condition.type_ == type_) {
            Some(place) => *place = condition,
            None => self.list.push(condition),
        }
    }

    /// Removes a condition: what only exists while it holds.
    pub(crate) fn remove(&mut self, type_: &str) {
        self.list.retain(|condition| condition.type_ != type_);
    }
}

/// The condition of a type.
pub(crate) fn find<'a>(conditions: &'a [Condition], type_: &str) -> Option<&'a Condition> {
    conditions.iter().find(|condition| condition.type_ == type_)
}

#[cfg(test)]
mod tests {
    use crds::status::ConditionStatus::{False, True};

    use super::{Conditions, find};

    #[test]
    fn the_transition_time_moves_with_the_status_alone() {
        let mut list = Vec::new();
        let mut set = |now: &str, status, message: &str| {
            let mut conditions = Conditions { list: &mut list, generation: Some(1), now };
            conditions.set("Ready", status, "Because", message);
            let ready = find(&list, "Ready").unwrap();
            (ready.last_transition_time.clone(), ready.message.clone())
        };
        assert_eq!(set("t1", False, "a"), ("t1".to_owned(), "a".to_owned()));
        assert_eq!(set("t2", False, "b"), ("t1".to_owned(), "b".to_owned()));
        assert_eq!(set("t3", True, "b"), ("t3".to_owned(), "b".to_owned()));
        assert_eq!(list.len(), 1);
    }

    #[test]
    fn a_removed_condition_is_gone() {
        let mut list = Vec::new();
        let mut conditions = Conditions { list: &mut list, generation: None, now: "t" };
        conditions.set("Stalled", True, "Because", "x");
        conditions.remove("Stalled");
        assert!(list.is_empty());
    }
}
