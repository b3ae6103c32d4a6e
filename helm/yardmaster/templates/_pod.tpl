{{- /* Shared parts of the pods of API, gateway and scheduler; called with (list $ "api"). */ -}}

{{- define "yardmaster.podAnnotations" -}}
{{- $root := index . 0 -}}
{{- /* The checksum covers values, not Secrets: generated secrets are unknown here, and never change. */ -}}
{{- $secrets := list $root.Values.redis.url $root.Values.adminKey.value $root.Values.callbackSigning.value -}}
checksum/config: {{ include "yardmaster.variables" $root | sha256sum }}
checksum/secrets: {{ $secrets | toJson | sha256sum }}
{{- with (index $root.Values (index . 1)).podAnnotations }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- /*
Number of pods; empty to leave it to the autoscaler. If the field disappears from a Deployment, Kubernetes scales it to one pod, which
the autoscaler corrects only later. So a Deployment that once had the field, as marked by an annotation, keeps it with its current
number of pods. Others never get it, because a rollback would restore an old number.
*/ -}}
{{- define "yardmaster.replicas" -}}
{{- $root := index . 0 -}}
{{- $component := index $root.Values (index . 1) -}}
{{- if not $component.autoscaling.enabled -}}
{{- $component.replicas -}}
{{- else -}}
{{- with lookup "apps/v1" "Deployment" $root.Release.Namespace (include "yardmaster.componentName" .) -}}
{{- if hasKey (.metadata.annotations | default dict) "yardmaster/replicas" -}}{{ .spec.replicas }}{{- end -}}
{{- end -}}
{{- end -}}
{{- end }}

{{- define "yardmaster.pod" -}}
{{- $root := index . 0 -}}
{{- $component := index $root.Values (index . 1) -}}
{{- with $root.Values.shutdown -}}
# The sleep, the drain, and 10 seconds for a slow process to log that it took too long before it is killed.
terminationGracePeriodSeconds: {{ add .preStopSeconds .drainSeconds 10 }}
{{- end }}
serviceAccountName: {{ include "yardmaster.serviceAccountName" $root }}
automountServiceAccountToken: false
# Otherwise, variables for the Services of the namespace could conflict with Yardmaster's.
enableServiceLinks: false
{{- include "yardmaster.imagePullSecrets" $root }}
securityContext: {{- toYaml $root.Values.podSecurityContext | nindent 2 }}
{{- with $root.Values.topologySpread }}
topologySpreadConstraints:
  {{- range . }}
  - {{ toYaml . | nindent 4 | trim }}
    labelSelector:
      matchLabels: {{- include "yardmaster.selector" $ | nindent 8 }}
    # Spread only pods of the same revision: old pods don't count during an update.
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
image: {{ include "yardmaster.image" (list $root $root.Values.image $root.Chart.AppVersion) }}
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
{{- with $root.Values.shutdown.preStopSeconds }}
lifecycle:
  preStop:
    # During this sleep, the pod is removed from the endpoints, so that no client connects when it stops listening.
    {{- if semverCompare ">=1.33-0" $root.Capabilities.KubeVersion.Version }}
    sleep: { seconds: {{ . }} }
    {{- else }}
    # The built-in sleep action needs kubelet 1.30, but kubelets may be three versions older than the API server.
    exec: { command: [node, -e, "setTimeout(() => {}, {{ mul . 1000 }})"] }
    {{- end }}
{{- end }}
resources: {{- toYaml $component.resources | nindent 2 }}
securityContext: {{- toYaml $root.Values.securityContext | nindent 2 }}
{{- with $root.Values.extraVolumeMounts }}
volumeMounts: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
