import type { Fault, Run } from '../fault.js';
import type { Stream } from '../history.js';
import type { Found } from '../rules/rule.js';

/** Watchers connect again at once; the rest is for a busy machine. */
const AGAIN_MS = 3_000;

/** Every watcher of a space, whose streams never end by themselves, was cut off, and had its snapshot again soon. */
function watchersAreBack({ history, outage }: Run): Found[] {
  const streams = history.entries.filter(
    (entry): entry is Stream => entry.kind === 'stream' && entry.scope === 'space',
  );
  const watchers = new Set(streams.map(({ client }) => client));
  return [...watchers].flatMap((client) => {
    const own = streams.filter((stream) => stream.client === client);
    const isBack = own.some(({ openedAt }) => openedAt >= outage.from && openedAt <= outage.until + AGAIN_MS);
    return isBack ? [] : [{ jobId: null, says: `${client} is not back`, lines: own.map(({ line }) => line) }];
  });
}

export const faults: Fault[] = [
  {
    id: 'F3',
    title: 'a gateway is killed',
    promises: ['P8'],
    stops: ['gateway'],
    lastsMs: 1_000,
    async inject({ installation, random, hits }) {
      const gateway = random.of(installation.gateways);
      hits(gateway);
      await gateway.kill();
      return () => gateway.start();
    },
    expect: watchersAreBack,
  },
];
