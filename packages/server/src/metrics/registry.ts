import { readFileSync } from 'node:fs';
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';

/** Metrics of prom-client to leave out: each scrape would list every socket, of which there may be tens of thousands. */
const COSTLY = ['handles', 'requests', 'resources'].flatMap((what) => [
  `nodejs_active_${what}`,
  `nodejs_active_${what}_total`,
]);

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

/** Create a registry with the metrics of any Node process, and with the release of this one. */
export function createRegistry(): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  for (const name of COSTLY) registry.removeSingleMetric(name);
  new Gauge({
    name: 'yardmaster_build_info',
    help: 'Always 1; the label is the release that runs.',
    labelNames: ['version'],
    registers: [registry],
  }).set({ version }, 1);
  return registry;
}
