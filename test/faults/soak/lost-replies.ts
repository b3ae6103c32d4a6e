import type { Fault } from '../fault.js';
import { repeat } from '../repeat.js';
import { within } from '../within.js';

const EVERY_MS = 100;

/** As the next script comes that the process runs. */
const WAIT_MS = 1_000;

const isScript = ([command]: string[]) => command?.toLowerCase() === 'evalsha';

/** F12 in the mix: of whichever script comes next, of whichever process. */
export const lostReplies: Fault = {
  id: 'F12',
  variant: 'any',
  title: 'replies of scripts are lost, with the connection',
  promises: ['P3', 'P12'],
  stops: ['redis'],
  lastsMs: 8_000,
  async inject({ installation: { apps }, random, figures }) {
    return repeat(EVERY_MS, async () => {
      const { proxy } = random.of(apps);
      const ambush = proxy.onNext(isScript, { does: 'swallow reply', end: 'cut' });
      if ((await within(WAIT_MS, ambush.happened)) !== null)
        figures['replies lost'] = (figures['replies lost'] ?? 0) + 1;
      ambush.disarm();
    });
  },
};
