package main

import "strings"

func restFamilies() []family {
	return append(builtInFamilies(), genericFamilies()...)
}

func builtInFamilies() []family {
	return []family{
		{
			name:  "PersistentVolumeClaim",
			base:  `{"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":"data"},"status":{"phase":"Bound"}}`,
			edits: join(set("status.phase", "Pending", "Lost", "bound", "", nil, 1), unset("status.phase"), unset("status"), set("status", nil, "Bound"), conditions("Resizing=True", "Ready=False")),
		},
		{
			name:  "Service",
			base:  `{"apiVersion":"v1","kind":"Service","metadata":{"name":"web"},"spec":{"type":"LoadBalancer","clusterIP":"10.0.0.1"}}`,
			edits: join(set("spec.clusterIP", "", "None", nil, 1), unset("spec.clusterIP"), set("spec.type", "ClusterIP", "NodePort", "ExternalName", "loadbalancer", nil), unset("spec.type"), unset("spec")),
		},
		{
			name: "CustomResourceDefinition",
			base: `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"things.example.com","generation":1},
				"status":{"conditions":[{"type":"NamesAccepted","status":"True"},{"type":"Established","status":"True"}]}}`,
			edits: join(
				unset("status"), unset("status.conditions"),
				conditions(
					"", "NamesAccepted=True", "NamesAccepted=False/Conflict/the name is taken, Established=True", "Established=True, NamesAccepted=False/Conflict",
					"NamesAccepted=True, Established=False/Installing", "NamesAccepted=True, Established=False/NotAccepted/not all names are accepted", "Established=False",
					"Established=False/Installing, Established=True", "NamesAccepted=Unknown, Established=Unknown", "NamesAccepted=True, Established=True, Terminating=True", "Established=False/Installing, NamesAccepted=False",
				),
			),
		},
		{
			name:  "PodDisruptionBudget",
			base:  `{"apiVersion":"policy/v1","kind":"PodDisruptionBudget","metadata":{"name":"web","generation":2},"status":{"observedGeneration":2,"conditions":[{"type":"DisruptionAllowed","status":"False"}]}}`,
			edits: join(set("status.observedGeneration", 1), unset("status.observedGeneration"), unset("status"), conditions("Ready=False/Any")),
		},
		{
			name:  "ConfigMap",
			base:  `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"settings"},"data":{"status":"False"}}`,
			edits: join(conditions("Ready=False/Any", "Stalled=True/Any"), set("status", "text", []any{}, nil), set("metadata.deletionTimestamp", "2020-01-02T03:04:05Z")),
		},
		{
			name:  "Secret",
			base:  `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"keys"}}`,
			edits: join(conditions("Ready=False/Any"), set("metadata.generation", 2)),
		},
		{
			name:  "CronJob",
			base:  `{"apiVersion":"batch/v1","kind":"CronJob","metadata":{"name":"nightly","generation":1},"spec":{"suspend":true},"status":{}}`,
			edits: join(conditions("Ready=False/Any"), set("status.active", []any{map[string]any{"kind": "Job"}})),
		},
	}
}

func genericFamilies() []family {
	condition := func(kind, status any) map[string]any { return map[string]any{"type": kind, "status": status} }
	return []family{
		{
			name: "Thing",
			base: `{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"a","generation":3},
				"status":{"observedGeneration":3,"conditions":[{"type":"Ready","status":"True"}]}}`,
			edits: join(
				set("metadata.deletionTimestamp", "2020-01-02T03:04:05Z", "", nil, 5), set("metadata.finalizers", []any{"example.com/stay"}),
				set("metadata.generation", 2, 4, nil, "3", number("3.0")), unset("metadata.generation"),
				set("status.observedGeneration", 2, 4, 0, nil, "3", number("3.0")), unset("status.observedGeneration"),
				conditions(
					"", "Ready=False/Broken/it broke", "Ready=Unknown/Progressing/it tries", "Ready=true", "Ready=", "Other=False", "ready=False",
					"Reconciling=True/Progressing/busy, Ready=True", "Ready=True, Reconciling=True", "Reconciling=False, Ready=True", "Reconciling=Unknown",
					"Stalled=True/Invalid/bad spec, Ready=False", "Ready=True, Stalled=True/Invalid", "Stalled=False, Ready=True", "Stalled=True, Reconciling=True",
					"Reconciling=True, Stalled=True", "Ready=Other, Ready=False", "Ready=True, Ready=False", "Ready=False, Ready=True",
				),
			),
		},
		{
			name: "Thing of an odd shape",
			base: `{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"a"}}`,
			edits: join(
				set("metadata", nil, "text", []any{}, 5), unset("metadata"), set("metadata.generation", 1, number("9223372036854775807"), number("9223372036854775808")),
				set("status", nil, "text", 1, true, []any{}, map[string]any{}), set("spec", "text", nil),
				set("status.conditions", nil, "text", "", 1, map[string]any{}, []any{}, []any{nil}, []any{"text"}, []any{[]any{}}, []any{map[string]any{}}),
				set("status.conditions", []any{nil, condition("Ready", "False")}, []any{condition("Ready", "True"), "text"}, []any{condition("Ready", "True"), 1}),
				set("status.conditions", []any{condition("Ready", true)}, []any{condition("Ready", nil)}, []any{condition(1, "True")}, []any{condition(number("1.5"), "True")}, []any{condition(nil, "True")}),
				set("status.conditions", []any{condition([]any{}, "True")}, []any{condition("Ready", map[string]any{})}, []any{condition("Other", 0), condition("Ready", "True")}),
				set("status.conditions",
					[]any{map[string]any{"type": "Ready", "status": "False", "reason": 1}}, []any{map[string]any{"type": "Ready", "status": "True", "message": []any{}}},
					[]any{map[string]any{"Type": "Ready", "Status": "False"}}, []any{map[string]any{"type": "Ready", "status": "False", "reason": nil, "message": nil}},
					[]any{map[string]any{"type": "Ready", "status": "True", "observedGeneration": "x"}},
					[]any{map[string]any{"type": "Ready", "status": "False", "message": strings.Repeat("é", 40)}}),
			),
		},
		{
			name:  "Thing with a status that is no map",
			base:  `{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"a"},"status":"text"}`,
			edits: join(set("metadata.generation", 1), set("metadata.deletionTimestamp", "2020-01-02T03:04:05Z"), set("metadata.generation", "1")),
		},
		{
			name:  "Thing that is deleted before anything else is read",
			base:  `{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"a","deletionTimestamp":"x","generation":"x"},"status":{"conditions":"x"}}`,
			edits: join(set("metadata.deletionTimestamp", ""), unset("metadata.deletionTimestamp")),
		},
		{
			name:  "Thing with an old generation and bad conditions",
			base:  `{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"a","generation":2},"status":{"observedGeneration":1,"conditions":"x"}}`,
			edits: join(set("status.observedGeneration", 2), set("status.conditions", []any{map[string]any{"type": "Stalled", "status": "True"}})),
		},
	}
}

// Kinds are told apart by group and kind: an object without status, which most rules of kinds mind and the general
// one does not, and one that looks done by the rules of kinds and is not Ready, under many spellings of both.
func kindCases() []testCase {
	bare := `{"metadata":{"name":"a","generation":1},"spec":{"type":"LoadBalancer","progressDeadlineSeconds":600}}`
	done := `{"metadata":{"name":"a"},"spec":{"updateStrategy":{"type":"OnDelete"}},"status":{"phase":"Succeeded","startTime":"x","conditions":[{"type":"Complete","status":"True"},{"type":"Established","status":"True"},{"type":"Ready","status":"False"}]}}`
	var cases []testCase
	for _, spelling := range [][2]any{
		{"v1", "Service"}, {"v1", "Pod"}, {"v1", "Secret"}, {"v1", "ConfigMap"}, {"v1", "PersistentVolumeClaim"}, {"v1", "Deployment"}, {"v1", "Job"},
		{"apps/v1", "Deployment"}, {"apps/v1beta1", "Deployment"}, {"apps/v1", "StatefulSet"}, {"apps/v1", "DaemonSet"}, {"apps/v1", "ReplicaSet"}, {"apps/v1", "Pod"},
		{"extensions/v1beta1", "Deployment"}, {"extensions/v1beta1", "DaemonSet"}, {"extensions/v1beta1", "ReplicaSet"}, {"extensions/v1beta1", "StatefulSet"},
		{"policy/v1", "PodDisruptionBudget"}, {"v1", "PodDisruptionBudget"}, {"batch/v1", "CronJob"}, {"apiextensions.k8s.io/v1", "CustomResourceDefinition"},
		{"apiextensions.k8s.io/v1beta1", "CustomResourceDefinition"}, {"example.com/v1", "CustomResourceDefinition"}, {"serving.knative.dev/v1", "Service"},
		{"example.com/v1", "Deployment"}, {"example.com/v1", "PersistentVolumeClaim"}, {"apps.example.com/v1", "StatefulSet"}, {"Apps/v1", "Deployment"}, {"apps/v1", "deployment"},
		{"", "Pod"}, {"/", "Pod"}, {"/v1", "Pod"}, {"v1/", "Pod"}, {"apps/", "Deployment"}, {"apps/v1/x", "Deployment"}, {"a/b/c", "Pod"}, {"v1", ""}, {"", ""}, {nil, "Pod"}, {1, "Pod"},
		{"v1", nil}, {"v1", 5}, {"v1", []any{"Pod"}}, {map[string]any{}, "Service"}, {"apps", "Deployment"},
	} {
		for _, f := range []family{{name: "bare", base: bare}, {name: "done", base: done}} {
			object := f.object()
			object["apiVersion"], object["kind"] = spelling[0], spelling[1]
			cases = append(cases, testCase{"apiVersion " + line(spelling[0]) + " and kind " + line(spelling[1]) + ", " + f.name, object})
		}
	}
	return cases
}
