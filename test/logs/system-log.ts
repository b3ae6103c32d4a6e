import type { LogLevel } from '@yardmaster/protocol';
import { type Random, randomOf } from './random.js';

/** An entry as a collector of a machine's logs sends it. */
export interface SystemEntry {
  level: LogLevel;
  source: string;
  message: string;
}

const USERS = ['root', 'deploy', 'admin', 'jürgen', 'www-data', 'oracle'];
const PATHS = ['/api/v1/orders', '/healthz', '/static/app.js', '/wp-login.php', '/search?q=a+b%20c', '/caf%C3%A9'];
const FILES = ['/var/log/syslog.1', '/etc/nginx/nginx.conf', 'C:\\Windows\\Temp\\~a.tmp', '/srv/données/été.csv'];
const HOSTS = ['db-1.internal', 'db-2.internal', 'cache.internal', 'Example.COM'];

const ip = (r: Random) => `${r.of([10, 172, 192])}.${r.below(256)}.${r.below(256)}.${r.below(256)}`;
const hex = (r: Random, digits: number) => Array.from({ length: digits }, () => r.below(16).toString(16)).join('');
const port = (r: Random) => 1_024 + r.below(60_000);

type Line = [level: LogLevel, source: string, message: (r: Random) => string];

/** What is written often stands in it more than once. */
const LINES: readonly Line[] = [
  [
    'info',
    'sshd',
    (r) => `Accepted publickey for ${r.of(USERS)} from ${ip(r)} port ${port(r)} ssh2: SHA256:${hex(r, 20)}`,
  ],
  ['warn', 'sshd', (r) => `Failed password for invalid user ${r.of(USERS)} from ${ip(r)} port ${port(r)} ssh2`],
  ['debug', 'sshd', (r) => `pam_unix(sshd:session): session closed for user ${r.of(USERS)}(uid=${r.below(2_000)})`],
  [
    'error',
    'kernel',
    (r) => `[${r.below(9e5)}.${r.below(9e5)}] Out of memory: Killed process ${r.below(32_768)} (java)`,
  ],
  ['warn', 'kernel', (r) => `TCP: request_sock_TCP: Possible SYN flooding on port ${port(r)}. Sending cookies.`],
  [
    'error',
    'kernel',
    (r) => `EXT4-fs error (device sd${r.of(['a', 'b'])}1): ext4_find_entry:1455: inode #${r.below(1e6)}`,
  ],
  ...Array<Line>(4).fill([
    'info',
    'nginx',
    (r) =>
      `${ip(r)} - - "GET ${r.of(PATHS)} HTTP/1.1" ${r.of([200, 200, 304, 404, 502])} ${r.below(9_999)} "-" "curl/8.5.0"`,
  ]),
  [
    'error',
    'nginx',
    (r) => `*${r.below(1e5)} upstream timed out (110: Connection timed out), client: ${ip(r)}, server: ${r.of(HOSTS)}`,
  ],
  [
    'info',
    'cron',
    (r) => `(${r.of(USERS)}) CMD (/usr/bin/find ${r.of(FILES)} -name "*.gz" -mtime +${r.below(9)} -delete)`,
  ],
  [
    'debug',
    'app',
    (r) => `request_id=${hex(r, 8)} path=${r.of(PATHS)} duration=${r.below(3_000)}ms rows=${r.below(99)}`,
  ],
  [
    'info',
    'app',
    (r) => `Order ${hex(r, 12)} paid: ${r.below(500)}.${10 + r.below(89)} € by ${r.of(USERS)} [retry=${r.below(3)}]`,
  ],
  ['warn', 'app', (r) => `Cache miss ratio ${r.below(100)}% on ${r.of(HOSTS)} (threshold: 50%)`],
  ['error', 'app', (r) => `connect ECONNREFUSED ${ip(r)}:5432 while reading ${r.of(FILES)}`],
  ['fatal', 'app', (r) => `panic: runtime error: index out of range [${r.below(9)}] with length ${r.below(5)}`],
  ['trace', 'app', (r) => `  at com.example.Orders$Pay.run(Orders.java:${r.below(900)}) ~[orders.jar:1.${r.below(9)}]`],
  ['trace', 'app', (r) => `{"event":"tick","n":${r.below(1e6)},"ok":${r.chance(0.9)},"path":"${r.of(PATHS)}"}`],
];

/** Lines as the logs of a small server have them, the same for the same seed. */
export function systemLog(count: number, seed: number): SystemEntry[] {
  const random = randomOf(seed);
  return Array.from({ length: count }, () => {
    const [level, source, message] = random.of(LINES);
    return { level, source: `${source}[${random.below(32_768)}]`, message: message(random) };
  });
}
