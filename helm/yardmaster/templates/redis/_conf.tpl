{{- /* Configuration of the internal Redis, without its password. */ -}}
{{- define "yardmaster.redisConf" -}}
port 6379
dir /data
appendonly yes
appendfsync everysec
# The append-only file is enough.
save ""
maxmemory {{ .Values.redis.internal.maxmemory }}
# When full, refuse new jobs instead of evicting old ones.
maxmemory-policy noeviction
# Store records with a short payload and result compactly, which takes 40% less memory.
hash-max-ziplist-value 1024
# requirepass, from the Secret
include /etc/yardmaster-redis/auth.conf
{{- end }}
