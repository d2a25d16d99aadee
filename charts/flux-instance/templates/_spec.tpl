{{/*
A map without keys that this chart does not know and without empty entries, as JSON. false is no empty entry.
{{ include "flux-instance.filled" (dict "values" $map "prefix" "instance." "known" $listOfPaths) }}
*/}}
{{- define "flux-instance.filled" -}}
{{- $filled := dict }}
{{- range $key, $value := .values }}
{{- $path := printf "%s%s" $.prefix $key }}
{{- $below := printf "%s." $path }}
{{- if and (kindIs "map" $value) (include "flux-instance.anyBelow" (dict "path" $below "known" $.known)) }}
{{- $value = include "flux-instance.filled" (dict "values" $value "prefix" $below "known" $.known) | fromJson }}
{{- end }}
{{- if and (has $path $.known) (or (kindIs "bool" $value) (not (empty $value))) }}
{{- $_ := set $filled $key $value }}
{{- end }}
{{- end }}
{{- toJson $filled }}
{{- end }}

{{/*
The spec of the FluxInstance, as JSON.
*/}}
{{- define "flux-instance.spec" -}}
{{- $known := .Files.Lines "files/keys.txt" }}
{{- $spec := include "flux-instance.filled" (dict "values" .Values.instance "prefix" "instance." "known" $known) | fromJson }}
{{- /* Sharding and sync have defaults, which mean something only together with these. */}}
{{- if not (dig "sharding" "shards" "" $spec) }}{{ $_ := unset $spec "sharding" }}{{ end }}
{{- if not (dig "sync" "url" "" $spec) }}{{ $_ := unset $spec "sync" }}{{ end }}
{{- /* The API requires these and accepts them empty. */}}
{{- with $spec.sync }}{{ $_ := set $spec "sync" (merge . (dict "kind" "GitRepository" "ref" "" "path" "")) }}{{ end }}
{{- with $spec.storage }}{{ $_ := set $spec "storage" (merge . (dict "class" "" "size" "")) }}{{ end }}
{{- toJson $spec }}
{{- end }}
