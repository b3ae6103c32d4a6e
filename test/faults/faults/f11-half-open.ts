import { setTimeout as delay } from 'node:timers/promises';
import type { AppProcess } from '../app-process.js';
import type { Fault, Ground, Run } from '../fault.js';
import type { Installation } from '../installation.js';
import { type Listener, listen } from '../listener.js';
import { heardAgainAfter, servedAgainAfter, timeOutsIn } from '../measures.js';

const LASTS_MS = 15_000;

/** While new connections work, a process must not need more than this from the beginning on… */
const STRANDED_MS = 15_000;

/** …and when none did, than this from the end on: it finds that the one it has just made is lost, and makes another. */
const DARK_MS = 5_000;

type Kind = 'api' | 'gateway' | 'scheduler';

const listeners = new WeakMap<Installation, Listener>();

/** After how long the last of these processes worked again, milliseconds from the beginning. */
const AGAIN: Record<Kind, (run: Run) => number> = {
  api: (run) => servedAgainAfter(run, run.outage.from),
  gateway: (run) => heardAgainAfter(listeners.get(run.installation)?.heardAt ?? [], run, run.outage.until),
  scheduler: (run) =>
    heardAgainAfter(
      timeOutsIn(run).map(({ at }) => at),
      run,
      run.outage.until,
    ),
};

const processesOf = ({ apis, gateways, schedulers }: Installation): Record<Kind, AppProcess[]> => ({
  api: apis,
  gateway: gateways,
  scheduler: schedulers,
});

/** All connections of these processes are dead, and nobody has told them. */
const WAYS = {
  stranded: {
    how: 'new ones work',
    begin: ({ proxy }: AppProcess) => proxy.strand(),
    /** Nothing is to be healed: who has not found out by itself does not work. */
    end: () => undefined,
    after: (againMs: number) => againMs,
    atMost: STRANDED_MS,
  },
  dark: {
    how: 'new ones are lost as well',
    begin: ({ proxy }: AppProcess) => proxy.set('drop'),
    end: ({ proxy }: AppProcess) => proxy.set('pass'),
    after: (againMs: number) => Math.max(0, againMs - LASTS_MS),
    atMost: DARK_MS,
  },
};

function halfOpen(kind: Kind, way: keyof typeof WAYS): Fault {
  const { how, begin, end, after, atMost } = WAYS[way];
  return {
    id: 'F11',
    variant: `${kind}-${way}`,
    title: `connections of each ${kind} are half-open, ${how}`,
    promises: [kind === 'api' ? 'P12' : kind === 'gateway' ? 'P8' : 'P4'],
    stops: ['redis'],
    lastsMs: LASTS_MS,
    async inject({ installation, hits }: Ground) {
      const processes = processesOf(installation)[kind];
      const listener = listen(installation);
      listeners.set(installation, listener);
      hits(...processes);
      processes.forEach(begin);
      return async () => {
        processes.forEach(end);
        if (way === 'dark') await delay(DARK_MS);
        await listener.stop();
      };
    },
    expect(run) {
      const ms = after(AGAIN[kind](run));
      run.figures['works again after ms'] = ms;
      return ms <= atMost ? [] : [{ jobId: null, damage: 'late', says: `it worked again after ${ms} ms` }];
    },
  };
}

const KINDS: Kind[] = ['api', 'gateway', 'scheduler'];

export const faults: Fault[] = KINDS.flatMap((kind) => [halfOpen(kind, 'stranded'), halfOpen(kind, 'dark')]);
