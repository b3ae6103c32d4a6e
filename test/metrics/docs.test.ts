import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { createApi } from '@yardmaster/api';
import { createGateway } from '@yardmaster/gateway';
import { createScheduler } from '@yardmaster/scheduler';
import { createWhole } from '@yardmaster/standalone';
import { startService } from '../support/service.js';

const page = readFileSync(fileURLToPath(new URL('../../docs/metrics.md', import.meta.url)), 'utf8');

const rows = [
  ...page.matchAll(/^\| `(yardmaster_\w+)` \| (\w+) \| (.*?) ?\| (every|gateway|scheduler) \| (.+) \|$/gm),
].map(([, name, type, labels = '', process]) => ({
  name: name as string,
  type: type as string,
  labels: [...labels.matchAll(/`(\w+)`/g)].map(([, label]) => label as string).sort(),
  process: process as string,
}));

/** What an app exports of ours: types by name, and the labels that its series have. */
async function exportsOf(app: typeof createWhole) {
  const service = await startService({}, { app });
  try {
    await service.http.call('GET', '/livez');
    const { text } = await service.http.call('GET', '/metrics');
    const types = new Map(
      [...text.matchAll(/^# TYPE (yardmaster_\w+) (\w+)$/gm)].map(([, name, type]) => [name, type]),
    );
    const labels = new Map<string, string[]>();
    for (const [, series, list] of text.matchAll(/^(yardmaster_\w+)\{(.*)\} \S+$/gm)) {
      const names = [...(list as string).matchAll(/(\w+)="/g)].map(([, label]) => label as string);
      labels.set(
        (series as string).replace(/_(bucket|sum|count)$/, ''),
        names.filter((label) => label !== 'le').sort(),
      );
    }
    return { types, labels };
  } finally {
    await service.stop();
  }
}

const APPS = [
  { app: 'api', create: createApi, processes: ['every'] },
  { app: 'gateway', create: createGateway, processes: ['every', 'gateway'] },
  { app: 'scheduler', create: createScheduler, processes: ['every', 'scheduler'] },
  { app: 'standalone', create: createWhole, processes: ['every', 'gateway', 'scheduler'] },
];

describe.each(APPS)('docs/metrics.md and the $app', ({ create, processes }) => {
  it('tell of the same metrics', async () => {
    const { types, labels } = await exportsOf(create as typeof createWhole);
    const documented = rows.filter(({ process }) => processes.includes(process));
    expect([...types].sort()).toEqual(documented.map(({ name, type }) => [name, type]).sort());
    for (const row of documented) {
      // Not every labelled metric has a series at rest.
      if (labels.has(row.name))
        expect({ name: row.name, labels: labels.get(row.name) }).toEqual({ name: row.name, labels: row.labels });
    }
  });
});

it('the alerts of docs/metrics.md are about metrics that there are', () => {
  const named = [...page.matchAll(/yardmaster_[a-z_]+/g)].map(([name]) => name.replace(/_(bucket|count)$/, ''));
  const known = new Set(rows.map(({ name }) => name));
  expect(named.filter((name) => !known.has(name))).toEqual([]);
});
