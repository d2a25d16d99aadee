{{/*
The chart's name, value of the label app.kubernetes.io/name.
*/}}
{{- define "flux-instance.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}

{{/*
Name of the objects beside the FluxInstance.
*/}}
{{- define "flux-instance.fullname" -}}
{{- default .Release.Name .Values.fullnameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}

{{/*
A map as YAML with all values as text: {{ include "flux-instance.texts" $map }}
*/}}
{{- define "flux-instance.texts" -}}
{{- $texts := dict }}
{{- range $key, $value := . }}{{ $_ := set $texts $key (toString $value) }}{{ end }}
{{- toYaml $texts }}
{{- end }}

{{/*
Labels of every object.
*/}}
{{- define "flux-instance.labels" -}}
{{- $own := dict "app.kubernetes.io/name" (include "flux-instance.name" .) "app.kubernetes.io/instance" .Release.Name }}
{{- $_ := set $own "helm.sh/chart" (printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-") }}
{{- $_ := set $own "app.kubernetes.io/version" .Chart.AppVersion }}
{{- $_ := set $own "app.kubernetes.io/managed-by" .Release.Service }}
{{- include "flux-instance.texts" (merge $own (.Values.commonLabels | default dict)) }}
{{- end }}

{{/*
Metadata of an object in the namespace of the release:
{{ include "flux-instance.metadata" (dict "root" . "name" "x" "annotations" dict) }}
*/}}
{{- define "flux-instance.metadata" -}}
{{- $annotations := merge dict (.annotations | default dict) (.root.Values.commonAnnotations | default dict) -}}
name: {{ .name | quote }}
namespace: {{ .root.Release.Namespace | quote }}
labels:
  {{- include "flux-instance.labels" .root | nindent 2 }}
{{- with $annotations }}
annotations:
  {{- include "flux-instance.texts" . | nindent 2 }}
{{- end }}
{{- end }}

{{/*
"true" if the Job gets a ServiceAccount of its own. A name alone means one that is there, which a chart must not
take over.
*/}}
{{- define "flux-instance.createsServiceAccount" -}}
{{- $account := .Values.healthcheck.serviceAccount | default dict }}
{{- if kindIs "bool" $account.create | ternary $account.create (empty $account.name) }}true{{ end }}
{{- end }}

{{- define "flux-instance.serviceAccountName" -}}
{{- $account := .Values.healthcheck.serviceAccount | default dict }}
{{- if $account.name }}
{{- $account.name }}
{{- else if include "flux-instance.createsServiceAccount" . }}
{{- include "flux-instance.fullname" . }}-healthcheck
{{- else -}}
flux-operator
{{- end }}
{{- end }}

{{/*
Names of the keys in the values that this chart does not know, one a line:
{{ include "flux-instance.unknownKeys" (dict "values" .Values "prefix" "" "known" $listOfPaths) }}
*/}}
{{- define "flux-instance.unknownKeys" -}}
{{- range $key, $value := .values }}
{{- $path := printf "%s%s" $.prefix $key }}
{{- $below := printf "%s." $path }}
{{- if not (has $path $.known) }}
{{ $path }}
{{- else if and (kindIs "map" $value) (include "flux-instance.anyBelow" (dict "path" $below "known" $.known)) }}
{{- include "flux-instance.unknownKeys" (dict "values" $value "prefix" $below "known" $.known) }}
{{- end }}
{{- end }}
{{- end }}

{{/*
"true" if the list .known has a path that begins with .path: the chart knows single keys there.
*/}}
{{- define "flux-instance.anyBelow" -}}
{{- $below := .path }}
{{- range .known }}{{ if hasPrefix $below . }}true{{ break }}{{ end }}{{ end }}
{{- end }}
