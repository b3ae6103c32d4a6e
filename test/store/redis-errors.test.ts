import { expect, it } from '@jest/globals';
import { fromRedisError } from '../../packages/redis/src/errors.js';

const codeOf = (message: string) => (fromRedisError(new Error(message)) as { code?: string }).code;

// An error as Redis 7 returns it, and as Redis 6.2 wraps that of a command in a script.
const inScript = (reply: string) =>
  `ERR Error running script (call to f_85171714ede222673aa7cb5b3a1591598d6228f2): @user_script:13: @user_script: 13: -${reply}`;

const REPLIES: [reply: string, code: string][] = [
  ["OOM command not allowed when used memory > 'maxmemory'.", 'STORAGE_FULL'],
  ["READONLY You can't write against a read only replica.", 'UNAVAILABLE'],
  [
    'MISCONF Redis is configured to save RDB snapshots, but it is currently not able to persist on disk.',
    'UNAVAILABLE',
  ],
  ['NOREPLICAS Not enough good replicas to write.', 'UNAVAILABLE'],
  ['LOADING Redis is loading the dataset in memory', 'UNAVAILABLE'],
  ['BUSY Redis is busy running a script.', 'UNAVAILABLE'],
  ["MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.", 'UNAVAILABLE'],
  ['CLUSTERDOWN The cluster is down', 'UNAVAILABLE'],
];

it.each(REPLIES)('maps the Redis error "%s" to %s, even inside a script of Redis 6.2', (reply, code) => {
  expect(codeOf(reply)).toBe(code);
  expect(codeOf(inScript(reply))).toBe(code);
});

it.each([
  'Command timed out',
  'Connection is closed.',
  "Stream isn't writeable and enableOfflineQueue options is false",
  'connect ECONNREFUSED 127.0.0.1:6379',
  'EXECABORT Transaction discarded because of previous errors.',
])('maps the connection error "%s" to UNAVAILABLE', (message) => {
  expect(codeOf(message)).toBe('UNAVAILABLE');
});

it.each([
  'WRONGTYPE Operation against a key holding the wrong kind of value',
  inScript('WRONGTYPE Operation against a key holding the wrong kind of value'),
  'ERR unknown command',
  'NOPERM this user has no permissions',
  'a bug that mentions OOM',
])('rethrows the error "%s", which is a bug or a mistake of the operator', (message) => {
  const error = new Error(message);
  expect(fromRedisError(error)).toBe(error);
});
