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
# Records whose payload and result are short stay in one piece: two fifths less memory.
hash-max-ziplist-value 1024
# requirepass, from the Secret
include /etc/yardmaster-redis/auth.conf
{{- end }}
