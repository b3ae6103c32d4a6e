import { expect, it } from '@jest/globals';
import { ConfigError, readConfig } from '@yardmaster/runtime';
import { parseRedisUrl } from '../../packages/redis/src/url.js';

const node = (host: string, port: number) => ({ host, port });

it.each([
  ['unix:///run/redis.sock', { kind: 'socket', path: '/run/redis.sock', tls: null }],
  ['redis://r', { kind: 'single', node: node('r', 6379), db: 0, tls: null }],
  ['redis://r/', { kind: 'single', node: node('r', 6379), db: 0, tls: null }],
  ['redis://r:1/2', { kind: 'single', node: node('r', 1), db: 2, tls: null }],
  ['redis://[::1]:1/2', { kind: 'single', node: node('::1', 1), db: 2, tls: null }],
  ['redis://:p%40%2F%3A%25@r', { kind: 'single', node: node('r', 6379), db: 0, password: 'p@/:%', tls: null }],
  ['redis://u:p:q@r', { kind: 'single', node: node('r', 6379), db: 0, username: 'u', password: 'p:q', tls: null }],
  ['redis://u@r', { kind: 'single', node: node('r', 6379), db: 0, username: 'u', tls: null }],
  ['rediss://r', { kind: 'single', node: node('r', 6379), db: 0, tls: {} }],
  [
    'rediss://r/?ca=/a%20b&cert=/c&key=/k&servername=s',
    { kind: 'single', node: node('r', 6379), db: 0, tls: { ca: '/a b', cert: '/c', key: '/k', servername: 's' } },
  ],
  [
    'redis+sentinel://u:p@a,b:1/main/3?sentinelUsername=su&sentinelPassword=sp%26',
    {
      kind: 'sentinel',
      nodes: [node('a', 26379), node('b', 1)],
      name: 'main',
      db: 3,
      sentinel: { username: 'su', password: 'sp&' },
      username: 'u',
      password: 'p',
      tls: null,
    },
  ],
  [
    'rediss+sentinel://a/main?ca=/ca',
    { kind: 'sentinel', nodes: [node('a', 26379)], name: 'main', db: 0, sentinel: {}, tls: { ca: '/ca' } },
  ],
  [
    'redis+cluster://:p@a,[::2]:7',
    { kind: 'cluster', nodes: [node('a', 6379), node('::2', 7)], password: 'p', tls: null },
  ],
  ['rediss+cluster://a/0', { kind: 'cluster', nodes: [node('a', 6379)], tls: {} }],
])('reads the REDIS_URL %s', (url, address) => {
  expect(parseRedisUrl(url)).toEqual(address);
});

it.each([
  ['redis', 'must be redis://'],
  ['http://r', 'must be redis://'],
  ['redis://', 'must be redis://'],
  ['unix://', 'must be redis://'],
  ['redis+tls://r', 'must be redis://'],
  ['redis://r?x#y', 'must be redis://'],
  ['redis://a,b', 'redis+sentinel:// or redis+cluster://'],
  ['redis://a b', 'must name each host'],
  ['redis://a:0', 'must name each host'],
  ['redis://a:65536', 'must name each host'],
  ['redis://a:x', 'must name each host'],
  ['redis://::1', 'must name each host'],
  ['redis+cluster://a,,b', 'must name each host'],
  ['redis://:pa/ss@r', 'a / or @ in a password is written %2F or %40'],
  ['redis://:%zz@r', 'percent-encoding'],
  ['redis://r/x', 'number of a database'],
  ['redis+cluster://r/1', 'only one database'],
  ['redis+sentinel://a', 'name of the primary'],
  ['redis+sentinel://a/n/x', 'number of a database'],
  ['redis+sentinel://a/n/1/2', 'name of the primary'],
  ['redis://r?ca=/x', 'no parameter "ca" here'],
  ['rediss://r?sentinelPassword=x', 'it may have ca, cert, key, servername'],
  ['redis+sentinel://r/n?family=6', 'it may have sentinelUsername, sentinelPassword'],
])('refuses the REDIS_URL %s', (url, why) => {
  const read = () => readConfig({ REDIS_URL: url }, ['REDIS_URL']);
  expect(read).toThrow(ConfigError);
  expect(read).toThrow(/^Invalid configuration:\n {2}REDIS_URL (must|of|with|has)/);
  expect(read).toThrow(why);
});

it.each(['redis://:s3cret/@@r', 'redis://:s3cret@a b', 'redis+cluster://u:s3cret@', 'redis://:%zzs3cret@r'])(
  'hides the password when it refuses the REDIS_URL %s',
  (url) => {
    let message = '';
    try {
      readConfig({ REDIS_URL: url }, ['REDIS_URL']);
    } catch (error) {
      message = (error as Error).message;
    }
    expect(message).toContain('REDIS_URL');
    expect(message).not.toContain('s3cret');
  },
);

it('refuses a REDIS_URL that names an unreadable file', () => {
  const read = () => readConfig({ REDIS_URL: 'rediss://r/?ca=/not/there.pem' }, ['REDIS_URL']);
  expect(read).toThrow(ConfigError);
  expect(read).toThrow('REDIS_URL refers to a file that cannot be read: ENOENT');
});
