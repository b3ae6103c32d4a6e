import type { AppProcess } from '../app-process.js';
import type { Ground } from '../fault.js';
import type { Ambushed } from '../proxy.js';

/** How a reply is lost: its connection is cut, or nothing is heard on it any more. */
export type Loss = 'cut' | 'silence';

/** One reply of Redis that somebody waits for, and what must be so when it does not come. */
export interface LostReply {
  /** Who waits for it: an operation of the API's table of routes, or what a gateway opens or does. */
  endpoint: string;
  /** The script whose reply it is; the command, where it is none. */
  runs: string;
  /** Another command, sent together with it, whose reply is lost with it. */
  beside?: string;
  /** The process that loses it. */
  at: 'api' | 'gateway';
  /** Only sent once another reply of the same call has come, so that one must not be lost beside it. */
  isLater?: true;
  /** Bring about what it takes, and lie in wait for the reply. @param n of no other trial, and of no job of the load */
  begin(ground: Ground, n: number, loss: Loss): Promise<Trial>;
}

/** A reply that somebody lies in wait for. */
export interface Trial {
  /** Have it asked for. */
  send(): Promise<void>;
  /** Tell what is not as it must be, then and when the same is asked for again. */
  judge(): Promise<void>;
}

/** The API that loses replies, and the other one. */
export const LOSING = 0;
export const OTHER = 1;

/** The process that loses the replies of a row. */
export function loserOf({ installation }: Ground, at: LostReply['at']): AppProcess {
  return (at === 'api' ? installation.apis[LOSING] : installation.gateways[0]) as AppProcess;
}

/** Which reply, and how it is lost. */
interface Lost {
  to: (words: string[]) => boolean;
  loss: Loss;
}

/** Lie in wait for the reply to a command of the process that loses it. */
export function lieInWait(ground: Ground, at: LostReply['at'], { to, loss }: Lost): Ambushed {
  const lost = loserOf(ground, at).proxy.onNext(to, { does: 'swallow reply', end: loss });
  void lost.happened.then(() => countLost(ground));
  return lost;
}

/** For the table. */
export function countLost({ figures }: Ground): void {
  figures['replies lost'] = (figures['replies lost'] ?? 0) + 1;
}

/** What is told of a row: `getJob, history: …`. */
export function teller({ found }: Ground, { endpoint, runs }: Pick<LostReply, 'endpoint' | 'runs'>, of = '') {
  const title = `${endpoint}, ${runs}${of && `, ${of}`}`;
  return (says: string, { jobId = null as string | null, lines = [] as number[] } = {}) =>
    found({ jobId, says: `${title}: ${says}`, lines });
}
