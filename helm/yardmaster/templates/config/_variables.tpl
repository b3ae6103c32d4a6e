{{- /* The variables of all three processes, without secrets. */ -}}
{{- define "yardmaster.variables" -}}
PORT: "8080"
SHUTDOWN_SECONDS: {{ .Values.shutdown.drainSeconds | quote }}
UI: {{ .Values.ui.enabled | quote }}
{{- range $name, $value := .Values.config }}
{{- /* Helm parses numbers as floats, and would render 1048576 as 1.048576e+06. */}}
{{- if and (kindIs "float64" $value) (eq $value (floor $value)) }}
{{ $name }}: {{ int64 $value | quote }}
{{- else }}
{{ $name }}: {{ $value | toString | quote }}
{{- end }}
{{- end }}
{{- end }}
