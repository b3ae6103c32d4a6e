{{- /* What the internal Redis runs with, but for its password. */ -}}
{{- define "yardmaster.redisConf" -}}
port 6379
dir /data
appendonly yes
appendfsync everysec
# The append-only file is all that is needed.
save ""
maxmemory {{ .Values.redis.internal.maxmemory }}
# A full Redis refuses new work rather than forgetting old.
maxmemory-policy noeviction
# requirepass, from the Secret
include /etc/yardmaster-redis/auth.conf
{{- end }}
