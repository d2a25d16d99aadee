{{/*
A map without its empty entries, as JSON. false and 0 are no empty entries.
{{ include "flux-instance.filled" $map }}
*/}}
{{- define "flux-instance.filled" -}}
{{- $filled := dict }}
{{- range $key, $value := . }}
{{- if or (kindIs "bool" $value) (not (empty $value)) }}{{ $_ := set $filled $key $value }}{{ end }}
{{- end }}
{{- toJson $filled }}
{{- end }}

{{/*
The spec of the FluxInstance, as JSON: the fields that it has, without those that are empty.
*/}}
{{- define "flux-instance.spec" -}}
{{- $instance := .Values.instance | default dict }}
{{- $fields := dict
  "distribution" (list "version" "registry" "artifact" "artifactPullSecret" "imagePullSecret" "variant")
  "cluster" (list "type" "size" "domain" "networkPolicy" "multitenant" "tenantDefaultServiceAccount" "tenantDefaultDecryptionServiceAccount" "tenantDefaultKubeConfigServiceAccount" "objectLevelWorkloadIdentity" "multitenantWorkloadIdentity")
  "commonMetadata" (list "labels" "annotations")
  "storage" (list "class" "size")
  "sharding" (list "key" "shards" "storage")
  "sync" (list "name" "interval" "kind" "url" "ref" "path" "pullSecret" "provider")
  "kustomize" (list "patches") }}
{{- $spec := dict "components" $instance.components "wait" $instance.wait "migrateResources" $instance.migrateResources }}
{{- range $field, $names := $fields }}
{{- $value := get $instance $field | default dict }}
{{- $picked := dict }}
{{- range $names }}{{ if hasKey $value . }}{{ $_ := set $picked . (get $value .) }}{{ end }}{{ end }}
{{- $_ := set $spec $field (include "flux-instance.filled" $picked | fromJson) }}
{{- end }}
{{- /* These have defaults of their own, and mean something only together with others. */}}
{{- if not $spec.sharding.shards }}{{ $_ := unset $spec "sharding" }}{{ end }}
{{- /* The API requires these fields and accepts them empty. */}}
{{- if $spec.storage }}
{{- $_ := set $spec "storage" (merge $spec.storage (dict "class" "" "size" "")) }}
{{- end }}
{{- if $spec.sync.url }}
{{- $_ := set $spec "sync" (merge $spec.sync (dict "kind" "GitRepository" "ref" "" "path" "")) }}
{{- else }}
{{- $_ := unset $spec "sync" }}
{{- end }}
{{- include "flux-instance.filled" $spec }}
{{- end }}
