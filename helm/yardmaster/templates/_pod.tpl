{{- /* Shared parts of the pods of api, gateway and scheduler; called with (list $ "api"). */ -}}

{{- define "yardmaster.podAnnotations" -}}
{{- $root := index . 0 -}}
{{- /* The checksum covers values and not Secrets, because generated secrets are unknown here and never change. */ -}}
{{- $secrets := list $root.Values.redis.url $root.Values.adminKey.value $root.Values.callbackSigning.value -}}
checksum/config: {{ include "yardmaster.variables" $root | sha256sum }}
checksum/secrets: {{ $secrets | toJson | sha256sum }}
{{- with (index $root.Values (index . 1)).podAnnotations }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "yardmaster.pod" -}}
{{- $root := index . 0 -}}
{{- $component := index $root.Values (index . 1) -}}
{{- with $root.Values.shutdown -}}
# This is the sleep, the drain, and 10 s, in which a process that takes too long can log that before it is killed.
terminationGracePeriodSeconds: {{ add .preStopSeconds .drainSeconds 10 }}
{{- end }}
serviceAccountName: {{ include "yardmaster.serviceAccountName" $root }}
automountServiceAccountToken: false
# Otherwise variables for each Service of the namespace might conflict with Yardmaster's.
enableServiceLinks: false
{{- with $root.Values.imagePullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
securityContext: {{- toYaml $root.Values.podSecurityContext | nindent 2 }}
{{- with $root.Values.topologySpread }}
topologySpreadConstraints:
  {{- range . }}
  - {{ toYaml . | nindent 4 | trim }}
    labelSelector:
      matchLabels: {{- include "yardmaster.selector" $ | nindent 8 }}
    # Spread only pods of the same revision: during an update old pods do not count.
    matchLabelKeys: [pod-template-hash]
  {{- end }}
{{- end }}
{{- with $component.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with $component.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $component.affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $component.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $root.Values.extraVolumes }}
volumes: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "yardmaster.container" -}}
{{- $root := index . 0 -}}
{{- $component := index $root.Values (index . 1) -}}
image: {{ include "yardmaster.image" $root }}
imagePullPolicy: {{ $root.Values.image.pullPolicy }}
ports:
  - name: http
    containerPort: 8080
envFrom:
  - configMapRef:
      name: {{ include "yardmaster.componentName" (list $root "config") }}
{{- with $root.Values.extraEnvFrom }}
{{- toYaml . | nindent 2 }}
{{- end }}
startupProbe:
  httpGet: { path: /livez, port: http }
  {{- toYaml $component.probes.startup | nindent 2 }}
readinessProbe:
  httpGet: { path: /readyz, port: http }
  {{- toYaml $component.probes.readiness | nindent 2 }}
livenessProbe:
  httpGet: { path: /livez, port: http }
  {{- toYaml $component.probes.liveness | nindent 2 }}
lifecycle:
  preStop:
    exec:
      # During this sleep the endpoints drop the pod, so that no client connects when the pod stops listening. Node does
      # the sleep, because Kubernetes' own sleep needs 1.30.
      command: [node, -e, "setTimeout(() => {}, {{ mul $root.Values.shutdown.preStopSeconds 1000 }})"]
resources: {{- toYaml $component.resources | nindent 2 }}
securityContext: {{- toYaml $root.Values.securityContext | nindent 2 }}
{{- with $root.Values.extraVolumeMounts }}
volumeMounts: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
