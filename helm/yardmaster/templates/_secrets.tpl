{{- /* Names and keys of the three secrets. The keys must not change, because users read the Secrets. */ -}}

{{- define "yardmaster.givenName" -}}
{{- printf "%s-given" (include "yardmaster.fullname" .) -}}
{{- end }}

{{- define "yardmaster.generatedName" -}}
{{- printf "%s-generated" (include "yardmaster.fullname" .) -}}
{{- end }}

{{- define "yardmaster.adminKeySecret" -}}
{{- with .Values.adminKey -}}
name: {{ .existingSecret.name | default (ternary (include "yardmaster.givenName" $) (include "yardmaster.generatedName" $) (ne .value "")) }}
key: {{ ternary .existingSecret.key "admin-api-key" (ne .existingSecret.name "") }}
{{- end -}}
{{- end }}

{{- define "yardmaster.signingSecret" -}}
{{- with .Values.callbackSigning -}}
name: {{ .existingSecret.name | default (ternary (include "yardmaster.givenName" $) (include "yardmaster.generatedName" $) (ne .value "")) }}
key: {{ ternary .existingSecret.key "callback-signing-secret" (ne .existingSecret.name "") }}
{{- end -}}
{{- end }}

{{- define "yardmaster.redisSecret" -}}
{{- with .Values.redis -}}
name: {{ .existingSecret.name | default (ternary (include "yardmaster.givenName" $) (include "yardmaster.generatedName" $) (ne .url "")) }}
key: {{ ternary .existingSecret.key "redis-url" (ne .existingSecret.name "") }}
{{- end -}}
{{- end }}

{{- /* A secret as an entry of a container's env: the path of its file, or a reference to its Secret. Called with the variable, its
       values, and the name and the context of the template of the reference. */ -}}
{{- define "yardmaster.secretEnv" -}}
{{- $file := (index . 1).file -}}
{{- if $file -}}
- name: {{ index . 0 }}_FILE
  value: {{ $file | quote }}
{{- else -}}
- name: {{ index . 0 }}
  valueFrom:
    secretKeyRef: {{- include (index . 2) (index . 3) | nindent 6 }}
{{- end }}
{{- end }}

{{- define "yardmaster.redisEnv" -}}
{{- include "yardmaster.secretEnv" (list "REDIS_URL" .Values.redis "yardmaster.redisSecret" .) }}
{{- end }}

{{- /* Included in components that authenticate callers. */ -}}
{{- define "yardmaster.adminKeyEnv" -}}
{{- include "yardmaster.secretEnv" (list "ADMIN_API_KEY" .Values.adminKey "yardmaster.adminKeySecret" .) }}
{{- end }}

{{- /* Included in components that sign callbacks or show the secrets for receivers. */ -}}
{{- define "yardmaster.signingSecretEnv" -}}
{{- if .Values.callbackSigning.enabled -}}
{{- include "yardmaster.secretEnv" (list "CALLBACK_SIGNING_SECRET" .Values.callbackSigning "yardmaster.signingSecret" .) }}
{{- end }}
{{- end }}

{{- define "yardmaster.extraEnv" -}}
{{- $root := index . 0 -}}
{{- with concat $root.Values.extraEnv (index $root.Values (index . 1)).extraEnv }}
{{- toYaml . }}
{{- end }}
{{- end }}
