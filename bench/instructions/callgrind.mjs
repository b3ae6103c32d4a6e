// A redis-server under callgrind, which counts the instructions of scripts, but not those of the network, the event loop and the
// append-only file.
import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findRedis, startRedis } from '../processes.mjs';

/** Function of redis-server that runs a script. Only instructions between its start and its end are counted. */
const SCRIPT = 'evalGenericCommand';

/** Function of ECHO, which nothing else sends. It makes callgrind write its count to a file and reset it. */
const ECHO = 'echoCommand';

/** Settings with which a script takes the same number of instructions whenever it runs. */
const SETTINGS = {
  // Redis scans a short list from its first entry, so the cost of a call would depend on the number of jobs, and hide a change in
  // its script. A busy space has long lists.
  'zset-max-ziplist-entries': '0',
  // Otherwise, the event loop rehashes for a millisecond of each second, and scripts do the rest.
  activerehashing: 'no',
  // Under callgrind, commands are slow enough for the slow log.
  'slowlog-log-slower-than': '-1',
};

/** Timeout of a command, in milliseconds: fifty times the usual duration, for a busy machine. */
const COMMAND_TIMEOUT_MS = 120_000;

/**
 * Return what the counts depend on, apart from the scripts.
 *
 * @returns version and build of redis-server, and version of valgrind; null if it is not installed
 */
export async function readVersions() {
  const { command, args } = await findRedis();
  const text = spawnSync(command, [...args, '--version']).stdout.toString();
  const read = (field) => new RegExp(`\\b${field}=(\\S+)`).exec(text)?.[1];
  const valgrind = spawnSync('valgrind', ['--version']).stdout?.toString().trim() ?? null;
  return { redis: `redis-server ${read('v')} on ${process.arch}`, build: read('build'), valgrind };
}

/** Start a redis-server under callgrind, with a client. */
export async function startCountingRedis() {
  const dir = await mkdtemp(join(tmpdir(), 'yardmaster-counts-'));
  const callgrind = ['--tool=callgrind', `--callgrind-out-file=${dir}/counts`];
  const { redis, stop } = await startRedis({
    persistence: 'everysec',
    under: ['valgrind', ...callgrind, `--toggle-collect=${SCRIPT}`, `--dump-before=${ECHO}`],
    others: SETTINGS,
    commandTimeoutMs: COMMAND_TIMEOUT_MS,
  });
  let files = 0;
  return {
    redis,
    /** Return the number of instructions of all scripts since the last count. */
    async count() {
      await redis.echo('');
      const text = await readFile(`${dir}/counts.${++files}`, 'utf8');
      const total = Number(/^totals: (\d+)$/m.exec(text)?.[1]);
      if (!(total > 0)) throw new Error(`callgrind counted nothing: does redis-server have a symbol ${SCRIPT}?`);
      return total;
    },
    async stop() {
      await stop();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

/** Number of scripts after which Redis makes Lua take a step of garbage collection. */
const PERIOD = 50;

/**
 * Make garbage collection regular: a full collection with every fiftieth script, and none in between. By default, its steps depend
 * on all scripts that ran before. Also flush all scripts, because the collector would search those that no call needs.
 */
export async function startLua(redis) {
  await redis.script('FLUSH', 'SYNC');
  await redis.eval("collectgarbage('setpause', 1000) collectgarbage('setstepmul', 1000000)", 0);
}

/** Run empty scripts until garbage has just been collected. */
export async function endPeriod(redis) {
  const stats = await redis.info('commandstats');
  const read = (field) => Number(new RegExp(`^cmdstat_${field}=(\\d+)`, 'm').exec(stats)?.[1] ?? 0);
  // An EVALSHA of an unknown script fails and runs nothing.
  const scripts = read('eval:calls') + read('evalsha:calls') - read('evalsha:.*failed_calls');
  for (let n = scripts % PERIOD; n < PERIOD; n++) await redis.eval('return 0', 0);
}
