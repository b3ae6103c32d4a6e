/**
 * What Redis does for each call: commands by name, with how often. `evalsha` is what the API sends, all else is called by
 * the script. A change of a script that is meant changes this table with it, and nothing else; a failing test prints the
 * row as it is now.
 */
export const REDIS_COMMANDS: Record<string, string> = {
  create: 'evalsha 1, hset 1, publish 2, time 1, zadd 5, zincrby 1',
  'create with everything': 'evalsha 1, hset 1, publish 2, time 1, zadd 5, zincrby 1',
  'poll 1': 'evalsha 1, hmget 1, hset 1, publish 2, rpushx 1, time 1, zadd 2, zpopmin 1, zrem 2',
  'poll 1 by name': 'evalsha 1, hmget 1, hset 1, publish 2, rpushx 1, time 1, zadd 2, zpopmin 1, zrem 2',
  'poll 50': 'evalsha 1, hmget 50, hset 50, publish 100, rpushx 50, time 1, zadd 100, zpopmin 50, zrem 100',
  'empty poll': 'evalsha 1, zpopmin 1',
  'empty poll by name': 'evalsha 1, zpopmin 1',
  claim: 'evalsha 1, hmget 1, hset 1, publish 2, rpushx 1, time 1, zadd 2, zrem 3',
  ack: 'evalsha 1, hmget 1, hset 1, publish 2, rpushx 1, time 1, zadd 2, zrem 1',
  progress: 'evalsha 1, hmget 2, hset 2, publish 2, rpush 1, rpushx 1, time 1, zadd 1, zrem 1',
  keepalive: 'evalsha 1, hmget 1, hset 1, time 1, zadd 1, zrem 1',
  checkpoint: 'evalsha 1, hmget 2, hset 2, publish 2, rpush 1, rpushx 1, time 1, zadd 1, zrem 1',
  event: 'evalsha 1, hmget 2, hset 2, publish 2, rpush 1, rpushx 1, time 1, zadd 1, zrem 1',
  'logs, one entry': 'evalsha 1, hget 1, hmget 1, publish 2, rpush 1, time 1',
  'logs, ten entries': 'evalsha 1, hget 1, hmget 1, publish 2, rpush 1, time 1',
  complete: 'evalsha 1, hmget 1, hset 1, publish 2, rpushx 1, time 1, zadd 2, zrem 1',
  'complete with callback': 'evalsha 1, hmget 1, hset 1, publish 3, rpushx 1, time 1, zadd 3, zrem 1',
  'fail, to be tried again': 'evalsha 1, hdel 1, hmget 2, hset 1, publish 2, rpush 1, rpushx 1, time 1, zadd 4, zrem 2',
  'fail for good': 'evalsha 1, hexists 1, hmget 2, hset 1, publish 2, rpush 1, rpushx 1, time 1, zadd 2, zrem 1',
  'kill of a pending job': 'evalsha 1, hmget 1, hset 1, publish 2, rpush 1, rpushx 1, time 1, zadd 2, zrem 3',
  'kill of a running job': 'evalsha 1, hmget 2, hset 1, publish 2, rpush 1, rpushx 1, time 1, zadd 2, zrem 1',
  redeliver: 'evalsha 1, hdel 1, hmget 2, hset 1, publish 1, time 1, zadd 1',
};
