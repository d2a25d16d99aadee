package main

// Things that run to an end: pods and jobs.
func runFamilies() []family {
	return append(podFamilies(), jobFamilies()...)
}

func podFamilies() []family {
	container := func(name, state, reason string) map[string]any {
		return map[string]any{"name": name, "state": map[string]any{state: map[string]any{"reason": reason}}}
	}
	return []family{
		{
			name: "Pod",
			base: `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"one","creationTimestamp":"2020-01-02T03:04:05Z"},
				"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}}`,
			pairs: join(
				set("status.phase", "Succeeded", "Failed", "Pending", "Unknown", "running", "", nil, 1), unset("status.phase"), unset("status"),
				conditions("Ready=False/ContainersNotReady", "Ready=Unknown", "Ready=False, Ready=True", "Initialized=True", ""),
				set("status.containerStatuses", []any{container("app", "waiting", "CrashLoopBackOff")}),
			),
		},
		{
			name: "Pod that runs and is not ready",
			base: `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"one"},
				"status":{"phase":"Running","conditions":[{"type":"Ready","status":"False"}],"containerStatuses":[]}}`,
			edits: join(
				set("status.containerStatuses",
					[]any{container("app", "waiting", "CrashLoopBackOff")},
					[]any{container("app", "waiting", "ImagePullBackOff")},
					[]any{container("app", "terminated", "CrashLoopBackOff")},
					[]any{container("app", "running", ""), container("side", "waiting", "CrashLoopBackOff")},
					[]any{container("app", "waiting", "CrashLoopBackOff"), container("side", "waiting", "CrashLoopBackOff")},
					[]any{map[string]any{"state": map[string]any{"waiting": map[string]any{"reason": "CrashLoopBackOff"}}}},
					[]any{map[string]any{"name": "app"}},
					[]any{map[string]any{"name": "app", "state": map[string]any{}}},
					[]any{map[string]any{"name": "app", "state": map[string]any{"waiting": map[string]any{}}}},
					nil, "text", 1, map[string]any{}),
				unset("status.containerStatuses"),
				set("status.initContainerStatuses", []any{container("init", "waiting", "CrashLoopBackOff")}),
			),
		},
		{
			name: "Pod that is pending",
			base: `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"one","creationTimestamp":"2020-01-02T03:04:05Z"},"status":{"phase":"Pending"}}`,
			edits: join(
				conditions(
					"PodScheduled=True", "PodScheduled=False/SchedulingGated", "PodScheduled=Unknown/Unschedulable", "PodScheduled=False/Unschedulable/0 of 3 nodes fit",
					"PodScheduled=False/SchedulingGated, PodScheduled=False/Unschedulable", "PodScheduled=True, PodScheduled=False/Unschedulable",
				),
				set("status.containerStatuses", []any{container("app", "waiting", "CrashLoopBackOff")}),
			),
		},
		{
			name: "Pod that cannot be scheduled",
			base: `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"one","creationTimestamp":"2999-01-02T03:04:05Z"},
				"status":{"phase":"Pending","conditions":[{"type":"PodScheduled","status":"False","reason":"Unschedulable"}]}}`,
			edits: join(set("metadata.creationTimestamp", "2020-01-02T03:04:05Z", "soon"), unset("metadata.creationTimestamp")),
		},
	}
}

func jobFamilies() []family {
	return []family{
		{
			name: "Job that is complete",
			base: `{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"load","generation":1},"spec":{"completions":1},
				"status":{"startTime":"2020-01-02T03:04:05Z","succeeded":1,"conditions":[{"type":"SuccessCriteriaMet","status":"True"},{"type":"Complete","status":"True"}]}}`,
			edits: join(
				unset("status.startTime"), unset("spec"), set("spec.suspend", true, false), set("status.succeeded", "1", nil),
				conditions("Complete=True, Failed=True", "Failed=True, Complete=True", "Suspended=False, Complete=True", "Suspended=True, Complete=True"),
				set("metadata.deletionTimestamp", "2020-01-02T03:04:05Z"),
			),
		},
		{
			name: "Job that failed",
			base: `{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"load"},"spec":{"parallelism":2},
				"status":{"startTime":"2020-01-02T03:04:05Z","failed":1,"conditions":[{"type":"Failed","status":"True","reason":"BackoffLimitExceeded","message":"Job has reached the specified backoff limit"}]}}`,
			edits: join(
				unset("status.startTime"), set("spec.suspend", true),
				conditions("FailureTarget=True, Failed=True/DeadlineExceeded", "Suspended=True, Failed=True", "Complete=False, Failed=True", "Stalled=True/Why/so"),
			),
		},
		{
			name: "Job that is not started",
			base: `{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"load"},"spec":{"suspend":false}}`,
			edits: join(
				set("status", map[string]any{}, nil), set("spec.suspend", true, "true", nil), unset("spec"), set("status.startTime", "", nil, 5),
				set("status.active", 1), conditions("Failed=False", "Complete=Unknown", "Suspended=True", "Suspended=False", "Reconciling=True/Any/thing"),
				set("status", "text"), set("status.conditions", "text"),
			),
		},
		{
			name: "Job without a word on suspension",
			base: `{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"load"},"status":{"conditions":[{"type":"Suspended","status":"True","reason":"JobSuspended"}]}}`,
		},
		{
			name: "Job that runs",
			base: `{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"load"},"spec":{"suspend":false},
				"status":{"startTime":"2020-01-02T03:04:05Z","active":1,"ready":1}}`,
			edits: join(
				set("status.active", 0, "1"), set("spec.suspend", true), conditions("Complete=False", "Failed=Unknown", "FailureTarget=True", "SuccessCriteriaMet=True", "Suspended=False"),
				set("metadata.deletionTimestamp", "2020-01-02T03:04:05Z"), set("metadata.generation", "1"),
			),
		},
	}
}
