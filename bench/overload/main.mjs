// npm run test:long -- overload [-- --only pipelining,redis-slow --seconds 60]
//
// Overload a service over HTTP, and check the effects. Each scenario starts its own Redis and API. Prints the checks, and exits
// with 1 if one fails. Takes about twelve minutes. Times are compared with GET /livez in the same run, so that the speed of the
// machine does not matter.
import { parseArgs } from 'node:util';
import { longReads, pausing, pipelining, saturated } from './scenarios.mjs';
import { tenants } from './tenants.mjs';

const { values } = parseArgs({
  options: { only: { type: 'string', default: '' }, seconds: { type: 'string', default: '60' } },
});
const seconds = Number(values.seconds);
const SLOW_REDIS = { limited: 'redis', share: 0.04, periodMs: 100, seconds };
const SLOW_API = { limited: 'api', share: 0.3, periodMs: 20, seconds };

const SCENARIOS = {
  pipelining: ['one connection, 120,000 polls', () => pipelining({ connections: 1, requests: 120_000, hasKey: true })],
  'pipelining-no-key': [
    'one connection, 120,000 polls, with a wrong key',
    () => pipelining({ connections: 1, requests: 120_000, hasKey: false }),
  ],
  connections: ['100 connections, endless polls', () => pipelining({ connections: 100, seconds: 30, hasKey: true })],
  'connections-no-key': [
    '100 connections, endless polls, with a wrong key',
    () => pipelining({ connections: 100, seconds: 30, hasKey: false }),
  ],
  'redis-slow': ['Redis is paused for 1 s repeatedly', () => pausing({ ms: 1_000, seconds })],
  'redis-stopped': ['Redis is paused for 3 s repeatedly', () => pausing({ ms: 3_000, seconds })],
  'redis-saturated': ['three times the capacity of Redis', () => saturated(SLOW_REDIS)],
  'api-saturated': ['three times the capacity of the API', () => saturated(SLOW_API)],
  'tenant-creates': ['one tenant creates jobs', () => tenants('creates', { seconds: seconds / 3 })],
  'tenant-bodies': ['one tenant begins bodies', () => tenants('bodies', { seconds: seconds / 3 })],
  'tenant-progress': ['one tenant reports progress', () => tenants('progress', { seconds: seconds / 3 })],
  'tenant-reads': ['one tenant makes expensive reads', () => tenants('reads', { seconds: seconds / 3 })],
  'tenant-waits': ['one tenant waits', () => tenants('waits', { seconds: seconds / 3 })],
  'long-reads': ['40 readers of a page of 25 MB with one key', longReads],
};

const chosen = values.only === '' ? Object.keys(SCENARIOS) : values.only.split(',');
let broken = 0;
for (const name of chosen) {
  const [title, run] = SCENARIOS[name] ?? [];
  if (run === undefined) throw new Error(`no scenario ${name}; there are ${Object.keys(SCENARIOS).join(', ')}`);
  process.stdout.write(`\n${name}: ${title}\n`);
  for (const [what, seen, isRight] of await run()) {
    if (!isRight) broken++;
    process.stdout.write(`  ${isRight ? 'ok    ' : 'BROKEN'} ${what}: ${seen}\n`);
  }
}
process.stdout.write(`\n${broken === 0 ? 'All checks passed' : `${broken} checks failed`}\n`);
process.exit(broken === 0 ? 0 : 1);
