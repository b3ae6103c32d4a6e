import { StreamClient } from '../../support/stream-client.js';
import { until } from '../../support/until.js';
import type { Fault } from '../fault.js';
import type { Installation } from '../installation.js';
import { makeNoise } from '../load/noise.js';
import { createWatchers } from '../load/watchers.js';
import { watchMemory } from '../memory.js';
import { sumOf } from '../metrics.js';

const SPACE = 'yard-noise';
const SOCKETS = 20;

/** 18 MB for each socket: what the system takes for one that does not read is some 5 MB. */
const EVENTS = 300;
const BYTES = 60_000;

/** 1 MB may wait for each, beside some 100 MB that a gateway has under load; all of it would be 260 MB more. */
const MOST_MB = 220;

/** Its code, or what cuts off a client that does not answer a close, is counted here. */
const CLOSED = 'yardmaster_stream_closes_total{code="1013"}';

export const faults: Fault[] = [
  {
    id: 'F20',
    title: `${SOCKETS} watchers of a busy space stop reading`,
    promises: ['P10', 'P8'],
    stops: [],
    lastsMs: 2_000,
    async inject({ installation, history, call, found, figures, atEnd }) {
      const memory = watchMemory(installation.gateways);
      const others = createWatchers(installation.gateways, installation.key, history);
      const idle = await neverReaders(installation);
      others.watchSpace('watcher-noise', SPACE);
      atEnd(async () => {
        await others.stop();
        for (const { ws } of idle) ws.terminate();
        memory.stop();
        figures['gateway MB'] = memory.mostMb;
        if (memory.mostMb > MOST_MB) found({ jobId: null, says: `a gateway held ${memory.mostMb} MB` });
      });
      await makeNoise(call, { spaceId: SPACE, events: EVENTS, bytes: BYTES });
      const count = () =>
        sumOf(
          installation.gateways.map(({ url }) => url),
          CLOSED,
        );
      await until(async () => (await count()) >= SOCKETS, 10_000).catch(() => undefined); // Told here:
      figures['closed 1013'] = await count();
      if (figures['closed 1013'] < SOCKETS)
        found({ jobId: null, says: `of ${SOCKETS} that do not read ${figures['closed 1013']} were closed` });
      return async () => undefined;
    },
  },
];

/** Open streams, and read nothing from them but their beginning. */
async function neverReaders({ gateways, key }: Installation): Promise<StreamClient[]> {
  const urls = gateways.map(({ url }) => url);
  const clients: StreamClient[] = [];
  for (let i = 0; i < SOCKETS; i++) {
    const client = await StreamClient.open(urls[i % urls.length] as string, `/spaces/${SPACE}?token=${key}`);
    client.ws.pause();
    clients.push(client);
  }
  return clients;
}
