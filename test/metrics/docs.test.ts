import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from '@jest/globals';
import { type ServiceOptions, startService } from '../support/service.js';

const page = readFileSync(fileURLToPath(new URL('../../docs/metrics.md', import.meta.url)), 'utf8');

const rows = [
  ...page.matchAll(/^\| `(yardmaster_\w+)` \| (\w+) \| (.*?) ?\| (every|api|gateway|scheduler) \| (.+) \|$/gm),
].map(([, name, type, labels = '', process]) => ({
  name: name as string,
  type: type as string,
  labels: [...labels.matchAll(/`(\w+)`/g)].map(([, label]) => label as string).sort(),
  process: process as string,
}));

/** Return the metrics that an app exports: types by name, and the labels of its series. */
async function exportsOf(app: Required<ServiceOptions>['app']) {
  const service = await startService({}, { app, isOwn: app !== 'standalone' });
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

const APPS: { app: Required<ServiceOptions>['app']; processes: string[] }[] = [
  { app: 'api', processes: ['every', 'api'] },
  { app: 'gateway', processes: ['every', 'gateway'] },
  { app: 'scheduler', processes: ['every', 'scheduler'] },
  { app: 'standalone', processes: ['every', 'api', 'gateway', 'scheduler'] },
];

it.each(APPS)('docs/metrics.md names exactly the metrics of the $app, with their types and labels', async (row) => {
  const { types, labels } = await exportsOf(row.app);
  const documented = rows.filter(({ process }) => row.processes.includes(process));
  expect([...types].sort()).toEqual(documented.map(({ name, type }) => [name, type]).sort());
  // Not every labelled metric has a series while the process is idle.
  const labelled = documented.filter(({ name }) => labels.has(name));
  expect(labelled.map(({ name }) => [name, labels.get(name)])).toEqual(
    labelled.map((each) => [each.name, each.labels]),
  );
});

it('docs/metrics.md names only metrics of its tables in other places, such as its alerts', () => {
  const named = [...page.matchAll(/yardmaster_[a-z_]+/g)].map(([name]) => name.replace(/_(bucket|count)$/, ''));
  const documented = new Set(rows.map(({ name }) => name));
  expect(named.filter((name) => !documented.has(name))).toEqual([]);
});
