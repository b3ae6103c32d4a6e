{{- /* Names and labels. Templates for a component are called with (list $ "api"). */ -}}

{{- define "yardmaster.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- /* 40 of a label's 63 characters, to leave room for a component and the hashes of Kubernetes. */ -}}
{{- ternary .Release.Name (printf "%s-%s" .Release.Name $name) (contains $name .Release.Name) | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end }}

{{- define "yardmaster.componentName" -}}
{{- printf "%s-%s" (include "yardmaster.fullname" (index . 0)) (index . 1) -}}
{{- end }}

{{- define "yardmaster.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "yardmaster.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end }}

{{- /* Labels used in selectors. Never change them: the selector of a Deployment is immutable. */ -}}
{{- define "yardmaster.selector" -}}
app.kubernetes.io/name: {{ default "yardmaster" (index . 0).Values.nameOverride | quote }}
app.kubernetes.io/instance: {{ (index . 0).Release.Name | quote }}
app.kubernetes.io/component: {{ index . 1 | quote }}
{{- end }}

{{- /* Labels of all resources except pods, whose labels must not change with the chart version. */ -}}
{{- define "yardmaster.labels" -}}
{{- $root := index . 0 -}}
{{- $own := include "yardmaster.ownLabels" . | fromYaml -}}
{{- toYaml (mergeOverwrite dict $root.Values.commonLabels $own) -}}
{{- end }}

{{- /* The annotations field of a resource; called with (list $ annotations). */ -}}
{{- define "yardmaster.annotations" -}}
{{- with mergeOverwrite dict (index . 0).Values.commonAnnotations (index . 1) }}
  annotations: {{- toYaml . | nindent 4 }}
{{- end -}}
{{- end }}

{{- /* Labels of resources that the user's monitoring selects; called with (list $ labels). */ -}}
{{- define "yardmaster.monitoringLabels" -}}
{{- $root := index . 0 -}}
{{- $own := include "yardmaster.ownLabels" (list $root "monitoring") | fromYaml -}}
{{- toYaml (mergeOverwrite dict $root.Values.commonLabels (index . 1) $own) -}}
{{- end }}

{{- define "yardmaster.ownLabels" -}}
{{- $root := index . 0 -}}
{{ include "yardmaster.selector" . }}
app.kubernetes.io/version: {{ $root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ $root.Release.Service | quote }}
helm.sh/chart: {{ printf "%s-%s" $root.Chart.Name $root.Chart.Version | replace "+" "_" | quote }}
{{- end }}

{{- /* Labels of pods; called with (list $ "api" labels). Labels used in selectors override others. */ -}}
{{- define "yardmaster.podLabels" -}}
{{- $given := mergeOverwrite dict (index . 0).Values.commonLabels (index . 2) -}}
{{- toYaml (mergeOverwrite $given (include "yardmaster.selector" . | fromYaml)) -}}
{{- end }}

{{- /* Image reference; called with (list $ image tag), where the tag is the default. */ -}}
{{- define "yardmaster.image" -}}
{{- $image := index . 1 -}}
{{- $repository := $image.repository -}}
{{- with (index . 0).Values.global.imageRegistry -}}
{{- /* The first part of a repository is a host if it contains a dot or a port. */ -}}
{{- $repository = printf "%s/%s" . (regexReplaceAll "^[^/]*[.:][^/]*/" $repository "") -}}
{{- end -}}
{{- ternary (printf "%s@%s" $repository $image.digest) (printf "%s:%s" $repository (default (index . 2) $image.tag)) (ne $image.digest "") -}}
{{- end }}

{{- /* The imagePullSecrets field of a pod. */ -}}
{{- define "yardmaster.imagePullSecrets" -}}
{{- with concat .Values.global.imagePullSecrets .Values.imagePullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end -}}
{{- end }}
