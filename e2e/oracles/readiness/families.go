package main

// One family a kind and state that kstatus knows; every branch of its code is met by some edit.
func families() []family {
	return joinFamilies(workloadFamilies(), runFamilies(), restFamilies())
}

func joinFamilies(groups ...[]family) []family {
	var all []family
	for _, group := range groups {
		all = append(all, group...)
	}
	return all
}

func workloadFamilies() []family {
	return []family{
		{
			name: "Deployment",
			base: `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","generation":2},
				"spec":{"replicas":2,"progressDeadlineSeconds":600},
				"status":{"observedGeneration":2,"replicas":2,"updatedReplicas":2,"readyReplicas":2,"availableReplicas":2,
				"conditions":[{"type":"Progressing","status":"True","reason":"NewReplicaSetAvailable"},{"type":"Available","status":"True"}]}}`,
			edits: join(
				set("spec.replicas", 0, 1), unset("status.replicas"), unset("status.updatedReplicas"), unset("status.readyReplicas"),
				unset("status.availableReplicas"),
			),
			pairs: join(
				set("spec.replicas", 3), unset("spec.replicas"), set("status.replicas", 1, 3), set("status.updatedReplicas", 1, 3),
				set("status.readyReplicas", 1), set("status.availableReplicas", 1, 3), unset("spec.progressDeadlineSeconds"),
				set("spec.progressDeadlineSeconds", 2147483647),
				conditions(
					"Available=True", "Progressing=True/NewReplicaSetAvailable", "Progressing=True/ReplicaSetUpdated, Available=True",
					"Available=True, Progressing=False/ProgressDeadlineExceeded/timed out", "Available=False, Progressing=True/NewReplicaSetAvailable",
				),
			),
		},
		{
			name: "Deployment with odd fields",
			base: `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web"},
				"spec":{"replicas":1,"progressDeadlineSeconds":600},
				"status":{"replicas":1,"updatedReplicas":1,"readyReplicas":1,"availableReplicas":1,
				"conditions":[{"type":"Available","status":"True"},{"type":"Progressing","status":"True","reason":"NewReplicaSetAvailable"}]}}`,
			edits: join(
				set("spec", nil, "text", []any{}), unset("spec"), unset("status"),
				set("spec.replicas", nil, "1", "3", number("1.0"), number("3.0"), number("3.5"), number("3e0"), -1, true, []any{}, map[string]any{}),
				set("spec.replicas", number("9223372036854775807"), number("9223372036854775808"), number("-9223372036854775808")),
				set("status.replicas", nil, "1", number("1.0"), number("9223372036854775807"), number("18446744073709551615")),
				set("spec.progressDeadlineSeconds", 2147483646, 2147483648, "2147483647", number("2147483647.0")),
				conditions(
					"", "Progressing=True/ProgressDeadlineExceeded, Available=True", "Progressing=/ProgressDeadlineExceeded",
					"Available=True/ProgressDeadlineExceeded", "Progressing=Unknown/NewReplicaSetAvailable, Available=True",
					"Progressing=True/NewReplicaSetAvailable, Available=Unknown", "Available=False, Available=True, Progressing=True/NewReplicaSetAvailable",
					"progressing=True/NewReplicaSetAvailable, available=True", "Progressing=true/NewReplicaSetAvailable, Available=true",
				),
			),
		},
		{
			name: "StatefulSet",
			base: `{"apiVersion":"apps/v1","kind":"StatefulSet","metadata":{"name":"db","generation":1},
				"spec":{"replicas":2,"updateStrategy":{"type":"RollingUpdate"}},
				"status":{"observedGeneration":1,"replicas":2,"readyReplicas":2,"currentReplicas":2,"updatedReplicas":2,
				"currentRevision":"db-1","updateRevision":"db-1"}}`,
			edits: join(
				unset("spec.updateStrategy"), set("spec.replicas", 0), unset("status.replicas"), unset("status.readyReplicas"),
				unset("status.currentReplicas"), unset("status.updatedReplicas"), unset("status.updateRevision"), unset("status.currentRevision"),
			),
			pairs: join(
				set("spec.updateStrategy.type", "OnDelete"), set("spec.replicas", 3), unset("spec.replicas"), set("status.replicas", 1, 3),
				set("status.readyReplicas", 1, 3), set("status.currentReplicas", 1), set("status.updatedReplicas", 0, 1),
				set("status.updateRevision", "db-2"), set("spec.updateStrategy.rollingUpdate.partition", -1, 0, 1, 2),
			),
		},
		{
			name: "StatefulSet with odd fields",
			base: `{"apiVersion":"apps/v1","kind":"StatefulSet","metadata":{"name":"db"},"spec":{"replicas":1},
				"status":{"replicas":1,"readyReplicas":1,"currentReplicas":1,"updatedReplicas":1}}`,
			edits: join(
				unset("status"), unset("spec"), set("spec.updateStrategy", nil, "OnDelete", []any{"OnDelete"}),
				set("spec.updateStrategy.type", "ondelete", nil, 1),
				set("spec.updateStrategy.rollingUpdate", nil, "text"),
				set("spec.updateStrategy.rollingUpdate.partition", -2, 3, "0", number("0.0"), number("9223372036854775807"), number("-9223372036854775808")),
				set("spec.replicas", number("-9223372036854775808")), set("status.currentRevision", "db-1", "", nil, 7), conditions("Ready=False/Any"),
			),
		},
		{
			name: "DaemonSet",
			base: `{"apiVersion":"apps/v1","kind":"DaemonSet","metadata":{"name":"agent","generation":4},
				"status":{"observedGeneration":4,"desiredNumberScheduled":2,"currentNumberScheduled":2,"updatedNumberScheduled":2,
				"numberAvailable":2,"numberReady":2}}`,
			edits: join(
				unset("metadata.generation"), set("metadata.generation", 5), unset("status.observedGeneration"),
				set("status.desiredNumberScheduled", -1, 0, 1, 3), unset("status.desiredNumberScheduled"),
				set("status.currentNumberScheduled", 1, 3), unset("status.currentNumberScheduled"),
				set("status.updatedNumberScheduled", 1, 3), unset("status.updatedNumberScheduled"),
				set("status.numberAvailable", 1, 3), unset("status.numberAvailable"),
				set("status.numberReady", 1, 3), unset("status.numberReady"),
			),
		},
		{
			name: "DaemonSet with odd fields",
			base: `{"apiVersion":"apps/v1","kind":"DaemonSet","metadata":{"name":"agent","generation":1},
				"status":{"observedGeneration":1,"desiredNumberScheduled":0}}`,
			edits: join(
				unset("status"), unset("metadata"), set("metadata.generation", nil, "1", number("1.0"), number("9223372036854775808")),
				set("status.observedGeneration", nil, "1", number("1.0")), set("status.desiredNumberScheduled", "0", nil, number("0.0")),
			),
		},
		{
			name: "ReplicaSet",
			base: `{"apiVersion":"apps/v1","kind":"ReplicaSet","metadata":{"name":"web","generation":1},"spec":{"replicas":2},
				"status":{"observedGeneration":1,"replicas":2,"readyReplicas":2,"availableReplicas":2,"fullyLabeledReplicas":2}}`,
			edits: join(
				set("spec.replicas", 0, 3), unset("spec.replicas"),
				set("status.replicas", 1, 3), unset("status.replicas"),
				set("status.readyReplicas", 1, 3), unset("status.readyReplicas"),
				set("status.availableReplicas", 1), unset("status.availableReplicas"),
				set("status.fullyLabeledReplicas", 1), unset("status.fullyLabeledReplicas"),
				conditions("ReplicaFailure=True/FailedCreate/quota exceeded", "ReplicaFailure=False", "ReplicaFailure=Unknown"), unset("status"),
			),
		},
	}
}
