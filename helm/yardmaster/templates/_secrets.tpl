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

{{- /* REDIS_URL, and ADMIN_API_KEY for components that authenticate callers: items of a container's env. */ -}}
{{- define "yardmaster.redisEnv" -}}
- name: REDIS_URL
  valueFrom:
    secretKeyRef: {{- include "yardmaster.redisSecret" . | nindent 6 }}
{{- end }}

{{- define "yardmaster.adminKeyEnv" -}}
- name: ADMIN_API_KEY
  valueFrom:
    secretKeyRef: {{- include "yardmaster.adminKeySecret" . | nindent 6 }}
{{- end }}

{{- /* Included in components that sign callbacks or return the secrets of receivers. */ -}}
{{- define "yardmaster.signingSecretEnv" -}}
{{- if .Values.callbackSigning.enabled -}}
- name: CALLBACK_SIGNING_SECRET
  valueFrom:
    secretKeyRef: {{- include "yardmaster.signingSecret" . | nindent 6 }}
{{- end }}
{{- end }}

{{- define "yardmaster.extraEnv" -}}
{{- $root := index . 0 -}}
{{- with concat $root.Values.extraEnv (index $root.Values (index . 1)).extraEnv }}
{{- toYaml . }}
{{- end }}
{{- end }}
