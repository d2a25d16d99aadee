{{- define "flux-operator.image" -}}
{{- if not .Values.image.repository }}
{{- fail "image.repository is not set, and this chart was packaged without one: name the repository of the operator's image, for example --set image.repository=registry.example.com/flux-operator" }}
{{- end }}
{{- printf "%s:%s" .Values.image.repository (default .Chart.AppVersion .Values.image.tag | toString) }}
{{- end }}

{{/*
Security context of the pod. OpenShift assigns users by namespace and refuses others.
*/}}
{{- define "flux-operator.podSecurityContext" -}}
{{- $context := deepCopy (.Values.podSecurityContext | default dict) }}
{{- if not (.Capabilities.APIVersions.Has "security.openshift.io/v1") }}
{{- $context = merge $context (dict "runAsUser" 65532 "runAsGroup" 65532) }}
{{- end }}
{{- toYaml $context }}
{{- end }}

{{/*
The affinity, with a preference for different nodes if there are several pods: .root, .replicas
*/}}
{{- define "flux-operator.affinity" -}}
{{- $affinity := deepCopy (.root.Values.affinity | default dict) }}
{{- if and (gt (int .replicas) 1) (not $affinity.podAntiAffinity) }}
{{- $labels := include "flux-operator.selectorLabels" .root | fromYaml }}
{{- $term := dict "topologyKey" "kubernetes.io/hostname" "labelSelector" (dict "matchLabels" $labels) }}
{{- $preferred := list (dict "weight" 100 "podAffinityTerm" $term) }}
{{- $_ := set $affinity "podAntiAffinity" (dict "preferredDuringSchedulingIgnoredDuringExecution" $preferred) }}
{{- end }}
{{- with $affinity }}{{ toYaml . }}{{ end }}
{{- end }}

{{/*
Arguments of the container. A flag that extraArgs sets is left to it.
*/}}
{{- define "flux-operator.args" -}}
{{- $args := list (printf "--log-level=%s" .Values.logLevel) }}
{{- $args = append $args (printf "--reporting-interval=%s" .Values.reporting.interval) }}
{{- if .Values.multitenancy.enabled }}
{{- $args = append $args (printf "--default-service-account=%s" .Values.multitenancy.defaultServiceAccount) }}
{{- end }}
{{- if .Values.multitenancy.enabledForWorkloadIdentity }}
{{- $args = append $args (printf "--default-workload-identity-service-account=%s" .Values.multitenancy.defaultWorkloadIdentityServiceAccount) }}
{{- end }}
{{- if include "flux-operator.web" . }}
{{- $args = append $args "--web-server-port=9080" }}
{{- if .Values.web.serverOnly }}
{{- $args = append $args "--web-server-only" }}
{{- end }}
{{- if include "flux-operator.webConfigSecret" . }}
{{- $args = append $args "--web-config=/etc/flux-operator/web/config.yaml" }}
{{- else if .Values.web.configSecretName }}
{{- $args = append $args (printf "--web-config-secret-name=%s" .Values.web.configSecretName) }}
{{- end }}
{{- else }}
{{- $args = append $args "--web-server-port=0" }}
{{- end }}
{{- $flags := list }}
{{- range .Values.extraArgs }}
{{- $flags = append $flags (toString . | splitList "=" | first) }}
{{- end }}
{{- range $args }}
{{- if not (has (splitList "=" . | first) $flags) }}
- {{ . | quote }}
{{- end }}
{{- end }}
{{- range .Values.extraArgs }}
- {{ . | toString | quote }}
{{- end }}
{{- end }}

{{/*
Environment of the container. A variable that extraEnvs sets is left to it: the API server refuses one that
is there twice.
*/}}
{{- define "flux-operator.env" -}}
{{- $fieldOf := dict "RUNTIME_NAMESPACE" "metadata.namespace" "POD_NAME" "metadata.name" }}
{{- $env := list }}
{{- range $name, $path := $fieldOf }}
{{- $env = append $env (dict "name" $name "valueFrom" (dict "fieldRef" (dict "fieldPath" $path))) }}
{{- end }}
{{- $env = append $env (dict "name" "XDG_CACHE_HOME" "value" "/var/cache") }}
{{- range $key, $value := .Values.marketplace }}
{{- if and $value (has $key (list "type" "license" "account")) }}
{{- $env = append $env (dict "name" (printf "MARKETPLACE_%s" (upper $key)) "value" (toString $value)) }}
{{- end }}
{{- end }}
{{- $names := list }}
{{- range .Values.extraEnvs }}{{ $names = append $names .name }}{{ end }}
{{- range $env }}
{{- if not (has .name $names) }}
{{ list . | toYaml }}
{{- end }}
{{- end }}
{{- with .Values.extraEnvs }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/*
Volumes of the pod: {name: source}, without those that extraVolumes names.
*/}}
{{- define "flux-operator.volumes" -}}
{{- $volumes := dict "tmp" (dict "emptyDir" dict) "cache" (dict "emptyDir" dict) }}
{{- with include "flux-operator.webConfigSecret" . }}
{{- $_ := set $volumes "web-config" (dict "secret" (dict "secretName" .)) }}
{{- end }}
{{- range .Values.extraVolumes }}{{ $_ := unset $volumes .name }}{{ end }}
{{- range $name, $source := $volumes }}
{{ list (merge (dict "name" $name) $source) | toYaml }}
{{- end }}
{{- with .Values.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/*
Volume mounts of the container, without those at a path where extraVolumeMounts has one.
*/}}
{{- define "flux-operator.volumeMounts" -}}
{{- $mounts := dict "/tmp" (dict "name" "tmp") "/var/cache/flux-operator" (dict "name" "cache") }}
{{- if include "flux-operator.webConfigSecret" . }}
{{- $_ := set $mounts "/etc/flux-operator/web" (dict "name" "web-config" "readOnly" true) }}
{{- end }}
{{- range .Values.extraVolumeMounts }}{{ $_ := unset $mounts (trimSuffix "/" .mountPath) }}{{ end }}
{{- range $path, $mount := $mounts }}
{{ list (merge (dict "mountPath" $path) $mount) | toYaml }}
{{- end }}
{{- with .Values.extraVolumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end }}
