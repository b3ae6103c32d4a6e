{{- /* Refuse values that contradict each other, which values.schema.json can't express. Included by the ConfigMap. */ -}}
{{- define "yardmaster.checks" -}}
{{- $redis := .Values.redis -}}
{{- $ways := 0 -}}
{{- if $redis.url }}{{ $ways = add1 $ways }}{{ end -}}
{{- if $redis.existingSecret.name }}{{ $ways = add1 $ways }}{{ end -}}
{{- if $redis.file }}{{ $ways = add1 $ways }}{{ end -}}
{{- if $redis.internal.enabled }}{{ $ways = add1 $ways }}{{ end -}}
{{- if eq (int $ways) 0 -}}
{{- fail "\n\nYardmaster needs a Redis. Set one of:\n  redis.existingSecret.name   a Secret with the URL of your Redis\n  redis.url                   the URL itself\n  redis.file                  a file in the pods that contains the URL\n  redis.internal.enabled      true, for a trial with a small Redis inside the release\n" -}}
{{- end -}}
{{- if gt (int $ways) 1 -}}
{{- fail "\n\nOnly one of redis.existingSecret.name, redis.url, redis.file and redis.internal.enabled can be set." -}}
{{- end -}}
{{- range $secret := list "adminKey" "callbackSigning" -}}
{{- with index $.Values $secret -}}
{{- if gt (len (compact (list .value .existingSecret.name .file))) 1 -}}
{{- fail (printf "\n\nOnly one of %s.value, %s.existingSecret.name and %s.file can be set." $secret $secret $secret) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- range $component := list "api" "gateway" "scheduler" -}}
{{- with (index $.Values $component).autoscaling -}}
{{- if gt (int .minReplicas) (int .maxReplicas) -}}
{{- fail (printf "\n\n%s.autoscaling.minReplicas (%d) must not be above %s.autoscaling.maxReplicas (%d)." $component (int .minReplicas) $component (int .maxReplicas)) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- /* Without this port in the policy, no process could start. A URL in a Secret can't be checked. */ -}}
{{- if and .Values.networkPolicy.enabled $redis.url (not (hasPrefix "unix:" $redis.url)) -}}
{{- $byDefault := ternary "26379" "6379" (contains "+sentinel:" $redis.url) -}}
{{- /* Remove scheme, path and parameters, then everything up to the @. */ -}}
{{- $hosts := regexReplaceAll "^.*@" (regexReplaceAll "[/?].*$" (regexReplaceAll "^[^:]*://" $redis.url "") "") "" -}}
{{- range splitList "," $hosts -}}
{{- $port := regexFind ":[0-9]+$" . | trimPrefix ":" | default $byDefault -}}
{{- if not (has $port (toStrings $.Values.networkPolicy.redis.ports)) -}}
{{- fail (printf "\n\nredis.url uses port %s, which networkPolicy.redis.ports does not allow." $port) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- range $path, $resources := dict "api" .Values.api.resources "gateway" .Values.gateway.resources "scheduler" .Values.scheduler.resources "redis.internal" $redis.internal.resources "testPod" .Values.testPod.resources -}}
{{- range $name, $request := $resources.requests -}}
{{- with get ($resources.limits | default dict) $name -}}
{{- if gt (include "yardmaster.quantity" $request | float64) (include "yardmaster.quantity" . | float64) -}}
{{- fail (printf "\n\n%s.resources.limits.%s (%v) must not be below %s.resources.requests.%s (%v)." $path $name . $path $name $request) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- /* Without these Secrets, pods would wait forever. Not checked if the release may contain them, or without a cluster. */ -}}
{{- if and (lookup "v1" "ConfigMap" .Release.Namespace "kube-root-ca.crt") (not .Values.extraObjects) -}}
{{- range $path, $secret := dict "redis" $redis.existingSecret "adminKey" .Values.adminKey.existingSecret "callbackSigning" .Values.callbackSigning.existingSecret -}}
{{- if $secret.name -}}
{{- $found := lookup "v1" "Secret" $.Release.Namespace $secret.name -}}
{{- if not (hasKey ($found.data | default dict) $secret.key) -}}
{{- fail (printf "\n\n%s.existingSecret: there is no Secret %q with the key %q in the namespace %s." $path $secret.name $secret.key $.Release.Namespace) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if and .Values.ingress.enabled (not .Values.ingress.hosts) -}}
{{- fail "\n\ningress.enabled needs ingress.hosts: Kubernetes doesn't accept an Ingress without a rule." -}}
{{- end -}}
{{- if and .Values.httpRoute.enabled (not .Values.httpRoute.parentRefs) -}}
{{- fail "\n\nhttpRoute.enabled needs httpRoute.parentRefs: the Gateways of the route." -}}
{{- end -}}
{{- end }}

{{- /* Convert a Kubernetes quantity, such as 64Mi, to a number. */ -}}
{{- define "yardmaster.quantity" -}}
{{- $number := toString . | regexFind "^[0-9.]+([eE][+-]?[0-9]+)?" -}}
{{- $units := dict "" 1 "m" 1e-3 "k" 1e3 "M" 1e6 "G" 1e9 "T" 1e12 "P" 1e15 "E" 1e18 "Ki" 1024 "Mi" 1048576 "Gi" 1073741824 "Ti" 1099511627776 "Pi" 1125899906842624 "Ei" 1152921504606846976 -}}
{{- mulf (float64 $number) (get $units (toString . | trimPrefix $number) | float64) -}}
{{- end }}
