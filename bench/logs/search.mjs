// npm run bench:search [--entries 10000] [--rounds 5] [--json]
//
// What a search through all logs of a job costs Redis, whose time all jobs share: in total, and the longest that one
// call keeps everybody else waiting. For lines as workers write them, and for entries as large as may be. The searches
// are read page by page over HTTP, as clients read them; the times are Redis' own, of its slow log: a script each.
import { parseArgs } from 'node:util';
import { startApp, startRedis } from '../processes.mjs';
import { mustCall } from '../timers/calls.mjs';
import { CONTENTS } from './contents.mjs';

const { values } = parseArgs({
  options: {
    entries: { type: 'string', default: '10000' },
    rounds: { type: 'string', default: '5' },
    json: { type: 'boolean' },
  },
});
const [entries, rounds] = [values.entries, values.rounds].map(Number);

const say = (line) => process.stdout.write(`${line}\n`);

const redis = await startRedis();
const api = await startApp('api', { REDIS_URL: redis.url });
const raw = redis.store.redis;
await raw.config('SET', 'slowlog-log-slower-than', '0', 'slowlog-max-len', '100000');

/** A job with that many entries, in batches that fit. */
async function jobWithLogs({ entry, batch }) {
  const { id } = await mustCall(api, 'POST', '/spaces/bench/jobs', { name: 'bench' });
  for (let from = 0; from < entries; from += batch) {
    const logs = Array.from({ length: Math.min(batch, entries - from) }, (_, i) => entry(from + i));
    await mustCall(api, 'POST', `/jobs/${id}/logs`, { logs });
  }
  return id;
}

/** Read all pages of a search. */
async function search(jobId, query) {
  let requests = 0;
  let found = 0;
  for (let after = 0; ; ) {
    const { logs, cursor } = await mustCall(api, 'GET', `/jobs/${jobId}/logs?limit=500&after=${after}&${query}`);
    requests++;
    found += logs.length;
    if (!cursor.hasMore) return { requests, found };
    after = cursor.newestSeq;
  }
}

/** One search, and how long each script of it took Redis, in microseconds. */
async function measure(jobId, query) {
  await raw.slowlog('RESET');
  const outcome = await search(jobId, query);
  const slowlog = await raw.slowlog('GET', 100_000);
  // The slow log tells of what scripts call as well, whose time is part of theirs.
  const micros = slowlog.filter(([, , , [name]]) => name.toLowerCase() === 'evalsha').map(([, , took]) => took);
  return { ...outcome, micros };
}

const median = (numbers) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];

async function measureSearch(jobId, { finds, query }) {
  await measure(jobId, query); // Warms up.
  const measured = [];
  for (let round = 0; round < rounds; round++) measured.push(await measure(jobId, query));
  const { found, requests, micros } = measured[0];
  const all = measured.flatMap((each) => each.micros);
  return {
    finds,
    found,
    requests,
    scripts: micros.length,
    totalMicros: median(measured.map((each) => each.micros.reduce((sum, took) => sum + took, 0))),
    scriptMicros: median(all),
    longestMicros: Math.max(...all),
  };
}

const row = (label, columns) => `  ${label.padEnd(12)}${columns.map((text) => `${text}`.padStart(12)).join('')}`;

const ms = (micros) => (micros / 1_000).toFixed(2);

function report({ version, kinds }) {
  return [
    `Redis ${version}, ${entries} entries in one job. Time of Redis in ms: of a whole search, the median of ${rounds};`,
    'of one script, the median and the longest of all searches.',
    ...kinds.flatMap(({ what, bytes, searches }) => [
      '',
      `${what}, ${bytes} bytes each`,
      row('finds', ['entries', 'requests', 'scripts', 'whole', 'script', 'longest']),
      ...searches.map(({ finds, found, requests, scripts, ...times }) =>
        row(finds, [found, requests, scripts, ms(times.totalMicros), ms(times.scriptMicros), ms(times.longestMicros)]),
      ),
    ]),
  ].join('\n');
}

try {
  const kinds = [];
  for (const content of CONTENTS) {
    const jobId = await jobWithLogs(content);
    const bytes = (await raw.memory('USAGE', `${redis.store.keys.job(jobId)}:logs`, 'SAMPLES', 0)) / entries;
    const searches = [];
    for (const each of content.searches) searches.push(await measureSearch(jobId, each));
    kinds.push({ what: content.what, bytes: Math.round(bytes), searches });
  }
  const version = /^redis_version:(\S+)/m.exec(await raw.info('server'))[1];
  const figures = { version, entries, rounds, kinds };
  say(values.json ? JSON.stringify(figures) : report(figures));
} finally {
  await api.stop();
  await redis.stop();
}
