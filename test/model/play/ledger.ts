import { isTerminal } from '@yardmaster/protocol';
import type { ModelMessage, World } from '../world.js';
import type { Call } from './calls.js';
import type { CallResult } from './candidates.js';
import { Disagreement } from './disagreement.js';
import { claimedIn, createdIn } from './outcome.js';

/** What clients rely on, judged by responses and messages of the store, because the model may have the same fault. */
export class Ledger {
  private readonly tokens = new Set<string>();
  /** Token of the newest delivery, by job; null where it is not known. */
  private readonly newest = new Map<string, string | null>();
  private readonly created = new Set<string>();

  /** Note the results of a step. In which order concurrent calls came is not known. @throws Disagreement */
  note(results: readonly CallResult[]): void {
    for (const { call, response } of results) {
      if (!('value' in response)) continue;
      for (const id of createdIn(call, response.value)) this.created.add(id);
      for (const { id, deliveryToken } of claimedIn(call, response.value)) {
        const token = `${id} ${deliveryToken}`;
        if (this.tokens.has(token)) throw new Disagreement(`two deliveries of ${id} have the token ${deliveryToken}`);
        this.tokens.add(token);
        this.newest.set(id, results.length === 1 ? deliveryToken : null);
      }
      if (results.length === 1) this.checkEffect(call);
    }
  }

  private checkEffect(call: Call): void {
    if (call.verb !== 'ack' && call.verb !== 'heartbeat' && call.verb !== 'complete') return;
    const newest = this.newest.get(call.job);
    if (newest !== null && call.token !== null && call.token !== newest)
      throw new Disagreement(`${call.verb} of ${call.job} succeeded with the token of a delivery that is over`);
  }

  /** Check that each job that was created has ended, and that nothing but a new create follows a completion. */
  check(messages: ReadonlyMap<string, readonly ModelMessage[]>): void {
    for (const id of this.created) {
      const all = messages.get(id) ?? [];
      if (!isTerminal(all.at(-1)?.status ?? null)) throw new Disagreement(`${id} was created, and has not ended`);
      const after = all.find(({ type, status }, n) => {
        const wasCompleted = all[n - 1]?.status === 'completed';
        return wasCompleted && type !== 'created' && (type === 'completed' || status !== 'completed');
      });
      if (after) throw new Disagreement(`${id} was completed, and ${after.type} came after it`);
    }
  }
}

/** Check that no two open jobs have a unique key that lasts to their end. */
export function checkUnique({ jobs }: World): void {
  const keys = [...jobs.values()].flatMap(({ status, spaceId, request: { name, unique } }) =>
    isTerminal(status) || unique?.until !== 'ended' ? [] : [JSON.stringify([spaceId, name, unique.key])],
  );
  if (new Set(keys).size < keys.length) throw new Disagreement(`two open jobs have one unique key: ${keys.join(', ')}`);
}
