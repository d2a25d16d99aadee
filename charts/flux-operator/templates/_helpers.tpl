{{/*
The chart's name, value of the label app.kubernetes.io/name.
*/}}
{{- define "flux-operator.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}

{{/*
Name of the objects. Deployments, Services and ServiceAccounts of releases made by other implementations of
this API carry the same, so that an upgrade goes over them.
*/}}
{{- define "flux-operator.fullname" -}}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 63 | trimSuffix "-" }}
{{- else }}
{{- $name := default .Chart.Name .Values.nameOverride }}
{{- if contains $name .Release.Name }}
{{- .Release.Name | trunc 63 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name $name | trunc 63 | trimSuffix "-" }}
{{- end }}
{{- end }}
{{- end }}

{{/*
The labels that Deployment and Service select pods by. They cannot be changed in an upgrade.
*/}}
{{- define "flux-operator.selectorLabels" -}}
app.kubernetes.io/name: {{ include "flux-operator.name" . | quote }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end }}

{{/*
A map as YAML with all values as text: {{ include "flux-operator.texts" $map }}
*/}}
{{- define "flux-operator.texts" -}}
{{- $texts := dict }}
{{- range $key, $value := . }}{{ $_ := set $texts $key (toString $value) }}{{ end }}
{{- toYaml $texts }}
{{- end }}

{{/*
Labels of every object.
*/}}
{{- define "flux-operator.labels" -}}
{{- $own := include "flux-operator.selectorLabels" . | fromYaml }}
{{- $_ := set $own "helm.sh/chart" (printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-") }}
{{- $_ := set $own "app.kubernetes.io/version" .Chart.AppVersion }}
{{- $_ := set $own "app.kubernetes.io/managed-by" .Release.Service }}
{{- include "flux-operator.texts" (merge $own (.Values.commonLabels | default dict)) }}
{{- end }}

{{/*
Metadata of an object in the namespace of the release:
{{ include "flux-operator.metadata" (dict "root" . "name" "x" "labels" dict "annotations" dict) }}
*/}}
{{- define "flux-operator.metadata" -}}
{{ include "flux-operator.clusterMetadata" . }}
namespace: {{ .root.Release.Namespace | quote }}
{{- end }}

{{/*
Metadata of an object of the cluster, with the arguments of flux-operator.metadata.
*/}}
{{- define "flux-operator.clusterMetadata" -}}
{{- $labels := include "flux-operator.labels" .root | fromYaml }}
{{- $annotations := merge dict (.annotations | default dict) (.root.Values.commonAnnotations | default dict) -}}
name: {{ .name | quote }}
labels:
  {{- include "flux-operator.texts" (merge $labels (.labels | default dict)) | nindent 2 }}
{{- with $annotations }}
annotations:
  {{- include "flux-operator.texts" . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "flux-operator.serviceAccountName" -}}
{{- if .Values.serviceAccount.create }}
{{- default (include "flux-operator.fullname" .) .Values.serviceAccount.name }}
{{- else }}
{{- default "default" .Values.serviceAccount.name }}
{{- end }}
{{- end }}

{{/*
"true" if this release serves the web page.
*/}}
{{- define "flux-operator.web" -}}
{{- if or .Values.web.enabled .Values.web.serverOnly }}true{{ end }}
{{- end }}

{{/*
Name of the Secret with the configuration of the web page, if the chart makes it.
*/}}
{{- define "flux-operator.webConfigSecret" -}}
{{- if and .Values.web.config .Values.web.configSecretName }}
{{- fail "web.config and web.configSecretName are both set: use one of them" }}
{{- end }}
{{- if and .Values.web.config (include "flux-operator.web" .) }}
{{- include "flux-operator.fullname" . }}-web-config
{{- end }}
{{- end }}

{{/*
Names of the keys in the values that this chart does not know, one a line:
{{ include "flux-operator.unknownKeys" (dict "values" .Values "prefix" "" "known" $listOfPaths) }}
*/}}
{{- define "flux-operator.unknownKeys" -}}
{{- range $key, $value := .values }}
{{- $path := printf "%s%s" $.prefix $key }}
{{- $below := printf "%s." $path }}
{{- if not (has $path $.known) }}
{{ $path }}
{{- else if and (kindIs "map" $value) (include "flux-operator.anyBelow" (dict "path" $below "known" $.known)) }}
{{- include "flux-operator.unknownKeys" (dict "values" $value "prefix" $below "known" $.known) }}
{{- end }}
{{- end }}
{{- end }}

{{/*
"true" if the list .known has a path that begins with .path: the chart knows single keys there.
*/}}
{{- define "flux-operator.anyBelow" -}}
{{- $below := .path }}
{{- range .known }}{{ if hasPrefix $below . }}true{{ break }}{{ end }}{{ end }}
{{- end }}
