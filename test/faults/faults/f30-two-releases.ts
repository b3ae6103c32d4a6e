import type { Fault } from '../fault.js';
import { makeOtherRelease } from '../release.js';
import { runs } from '../scripts.js';
import { within } from '../within.js';

/** For calls that come many times a second. */
const MOMENT_MS = 10_000;

export const faults: Fault[] = [
  {
    id: 'F30',
    title: 'two releases with other scripts run side by side',
    promises: ['P15', 'P16'],
    stops: [],
    lastsMs: 8_000,
    installation: { gateways: 2, makeOtherRelease },
    async inject({ installation: { apis }, found }) {
      // Both are at work: one runs this release's scripts, and the other runs some, and none of these.
      const [ours, theirs] = apis.map(({ proxy }) => proxy.onNext(runs('ack'), { does: 'notice' }));
      const other = apis[1]?.proxy.onNext(([command]) => command?.toLowerCase() === 'evalsha', { does: 'notice' });
      if ((await within(MOMENT_MS, Promise.all([ours?.happened, other?.happened]))) === null)
        found({ jobId: null, says: 'one of the releases is not at work' });
      return async () => {
        if (theirs?.at !== null) found({ jobId: null, says: 'both releases have the same scripts' });
        for (const ambush of [ours, theirs, other]) ambush?.disarm();
      };
    },
  },
];
