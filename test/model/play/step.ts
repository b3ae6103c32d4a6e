import { newJobId } from '@yardmaster/store';
import type { Call } from './calls.js';
import { createdIn } from './outcome.js';

/**
 * A step of a sequence: time that passes, a clock step that schedulers notice, concurrent calls (mostly a single one), or
 * a restart. Jobs have labels, so that a sequence still makes sense after steps were dropped: a job that was not created is unknown.
 * The lease of an attempt at a callback is `latest`, `earlier` (the previous one), or `none`.
 */
export type Step = { passMs: number } | { stepMs: number } | { calls: Call[] } | { restart: Restart };

/** Processes that lose their memory, a script cache that is flushed, or a Redis that starts again on its files. */
export type Restart = 'process' | 'scripts' | 'redis';

/** A text that is not a job id, as its own label. */
export const NO_ID = 'nonsense';

/** Ids and leases that the store has issued. */
export class IssuedIds {
  private readonly ids = new Map<string, string>();
  private readonly labels = new Map<string, string>();
  private readonly leases = new Map<string, string[]>();

  /** Note the ids and leases of a response. */
  note(call: Call, value: unknown): void {
    for (const [i, id] of createdIn(call, value).entries()) {
      if ('label' in call) this.name(call.verb === 'createMany' ? `${call.label}.${i}` : call.label, id);
    }
    const { lease } = (value ?? {}) as { lease?: string };
    if (call.verb === 'begin' && lease !== undefined) this.leases.set(call.job, [...this.leasesOf(call.job), lease]);
  }

  labelOf(id: string): string {
    return this.labels.get(id) ?? id;
  }

  /** Replace labels by real ids and leases. */
  resolved(call: Call): Call {
    if (!('job' in call)) return call;
    const job = this.idOf(call.job);
    if (call.verb !== 'record') return { ...call, job };
    const place = { latest: -1, earlier: -2 }[call.lease];
    const lease = (place && this.leasesOf(job).at(place)) || '';
    return { ...call, job, lease };
  }

  private idOf(label: string): string {
    if (label !== NO_ID && !this.ids.has(label)) this.name(label, newJobId(label));
    return this.ids.get(label) ?? label;
  }

  private name(label: string, id: string): void {
    this.ids.set(label, id);
    this.labels.set(id, label);
  }

  private leasesOf(id: string): string[] {
    return this.leases.get(id) ?? [];
  }
}

/** Describe a step in one line. */
export function lineOf(step: Step): string {
  if ('passMs' in step) return `${step.passMs} ms pass`;
  if ('stepMs' in step) return `the clock steps by ${step.stepMs} ms`;
  if ('restart' in step) return `restart: ${step.restart}`;
  return step.calls.map(textOf).join('  ||  ');
}

function textOf({ verb, ...input }: Call): string {
  const { label, job, ...rest } = input as { label?: string; job?: string };
  return [label && `${label} =`, verb, job, JSON.stringify(rest)].filter(Boolean).join(' ');
}
