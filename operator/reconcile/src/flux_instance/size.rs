//! Whether a status fits into its object, before anything is created that it must record.

use crds::{
    FluxInstanceStatus,
    status::{Inventory, MAX_MESSAGE_BYTES},
};

/// The largest status, in bytes: the store of the API server takes objects of 1.5 MiB, and spec and metadata need
/// room too.
const MAX_STATUS_BYTES: usize = 1024 * 1024;

/// What conditions may come to, in bytes: two of them have messages of full length, besides words and times.
const CONDITIONS_BYTES: usize = 2 * MAX_MESSAGE_BYTES + 1024;

/// What stands for a uid that is not known yet.
const ANY_UID: &str = "00000000-0000-0000-0000-000000000000";

/// How large the status may become, in bytes, if that is too large.
pub(super) fn excess(old: &FluxInstanceStatus, inventory: &Inventory) -> Option<usize> {
    let mut inventory = inventory.clone();
    for entry in &mut inventory.entries {
        entry.uid.get_or_insert_with(|| ANY_UID.to_owned());
    }
    let status = FluxInstanceStatus { conditions: Vec::new(), inventory: Some(inventory), ..old.clone() };
    let bytes = serde_json::to_vec(&status).map_or(0, |text| text.len()).saturating_add(CONDITIONS_BYTES);
    (bytes > MAX_STATUS_BYTES).then_some(bytes)
}

/// The sentence that says so.
pub(super) fn describe_excess(bytes: usize, objects: usize) -> String {
    format!(
        "status.inventory cannot hold the {objects} objects of this spec: the status would have {} KiB, and at most {} KiB fit; ask for fewer shards in spec.sharding.shards",
        bytes / 1024,
        MAX_STATUS_BYTES / 1024
    )
}

#[cfg(test)]
mod tests {
    use crds::{
        FluxInstanceStatus,
        status::{Inventory, InventoryEntry},
    };

    use super::{MAX_STATUS_BYTES, describe_excess, excess};

    #[test]
    fn an_inventory_that_does_not_fit_is_noticed_before_uids_are_known() {
        let entry = |number: usize| InventoryEntry {
            id: format!("flux-system_source-controller-{number:06}_apps_Deployment"),
            v: "v1".to_owned(),
            uid: None,
        };
        let inventory = |objects: usize| Inventory { entries: (0..objects).map(entry).collect() };
        let old = FluxInstanceStatus::default();
        assert_eq!(excess(&old, &inventory(1_000)), None);
        let most =
            (0..20_000).step_by(100).find(|&objects| excess(&old, &inventory(objects)).is_some()).unwrap();
        let bytes = excess(&old, &inventory(most)).unwrap();
        assert!((MAX_STATUS_BYTES..MAX_STATUS_BYTES + 20_000).contains(&bytes), "{most} objects: {bytes}");
        let mut known = inventory(most);
        for entry in &mut known.entries {
            entry.uid = Some("4f0b6f1c-26a0-4a5c-8a4e-6f4f9f0d5c11".to_owned());
        }
        assert_eq!(excess(&old, &known), Some(bytes), "as large as with uids");
        assert_eq!(
            describe_excess(1_500_000, 9_000),
            "status.inventory cannot hold the 9000 objects of this spec: the status would have 1464 KiB, and at most 1024 KiB fit; ask for fewer shards in spec.sharding.shards"
        );
    }
}
