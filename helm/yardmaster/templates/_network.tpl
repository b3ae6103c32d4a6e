{{- /* Ingress and egress rules that the policies share. */ -}}

{{- define "yardmaster.egressToDnsAndRedis" -}}
# DNS
- ports:
    - { protocol: UDP, port: 53 }
    - { protocol: TCP, port: 53 }
  {{- with .Values.networkPolicy.dns.to }}
  to: {{- toYaml . | nindent 4 }}
  {{- end }}
# Redis
{{- if .Values.redis.internal.enabled }}
- ports:
    - { protocol: TCP, port: 6379 }
  to:
    - podSelector:
        matchLabels: {{- include "yardmaster.selector" (list . "redis") | nindent 10 }}
{{- else }}
- ports:
    {{- range .Values.networkPolicy.redis.ports }}
    - { protocol: TCP, port: {{ . }} }
    {{- end }}
  {{- with .Values.networkPolicy.redis.to }}
  to: {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end }}
{{- end }}

{{- /* Rule for port 8080; called with (list $ peers). Without peers, all clients may connect; `helm test` always may. */ -}}
{{- define "yardmaster.ingressFrom" -}}
{{- $root := index . 0 -}}
- ports:
    - { protocol: TCP, port: http }
  {{- with index . 1 }}
  from:
    {{- toYaml . | nindent 4 }}
    - podSelector:
        matchLabels: {{- include "yardmaster.selector" (list $root "test") | nindent 10 }}
  {{- end }}
{{- end }}
