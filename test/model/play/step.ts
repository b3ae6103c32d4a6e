import { newJobId } from '@yardmaster/store';
import type { Call } from './calls.js';

/**
 * What a sequence is made of: time that passes, a step of the clock which schedulers notice, or calls at once, of which most
 * are alone. Jobs go by their labels, so that
 * a sequence from which steps were dropped still says something: a job that was not created is one that nobody knows.
 * The lease of an attempt at a callback is `held` (the latest that was given), `earlier` (the one before), or `none`.
 */
export type Step = { passMs: number } | { stepMs: number } | { calls: Call[] };

/** A text that is no id of a job, as its own label. */
export const NO_ID = 'nonsense';

/** What the store has given out by now. */
export class GivenOut {
  private readonly ids = new Map<string, string>();
  private readonly labels = new Map<string, string>();
  private readonly leases = new Map<string, string[]>();

  /** Learn from an answer. */
  note(call: Call, value: unknown): void {
    if (call.verb === 'create') this.name(call.label, (value as { id: string }).id);
    const { lease } = (value ?? {}) as { lease?: string };
    if (call.verb === 'begin' && lease !== undefined) this.leases.set(call.job, [...this.leasesOf(call.job), lease]);
  }

  labelOf(id: string): string {
    return this.labels.get(id) ?? id;
  }

  /** Put the real ids and leases in. */
  resolved(call: Call): Call {
    if (!('job' in call)) return call;
    const job = this.idOf(call.job);
    if (call.verb !== 'record') return { ...call, job };
    const place = { held: -1, earlier: -2 }[call.lease];
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

/** A step as a line to read. */
export function lineOf(step: Step): string {
  if ('passMs' in step) return `${step.passMs} ms pass`;
  if ('stepMs' in step) return `the clock steps by ${step.stepMs} ms`;
  return step.calls.map(textOf).join('  ||  ');
}

function textOf({ verb, ...asked }: Call): string {
  const { label, job, ...rest } = asked as { label?: string; job?: string };
  return [label && `${label} =`, verb, job, JSON.stringify(rest)].filter(Boolean).join(' ');
}
