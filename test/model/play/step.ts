import { type Creation, type ManyCreated, newJobId } from '@yardmaster/store';
import type { Call } from './calls.js';

/**
 * A step of a sequence: time that passes, a clock step that schedulers notice, or concurrent calls (mostly a single one).
 * Jobs have labels, so that a sequence still makes sense after steps were dropped: a job that was not created is unknown.
 * The lease of an attempt at a callback is `latest`, `earlier` (the previous one), or `none`.
 */
export type Step = { passMs: number } | { stepMs: number } | { calls: Call[] };

/** A text that is not a job id, as its own label. */
export const NO_ID = 'nonsense';

/** Ids and leases that the store has issued. */
export class IssuedIds {
  private readonly ids = new Map<string, string>();
  private readonly labels = new Map<string, string>();
  private readonly leases = new Map<string, string[]>();

  /** Note the ids and leases of a response. */
  note(call: Call, value: unknown): void {
    if (call.verb === 'create' || call.verb === 'copy') this.name(call.label, (value as { id: string }).id);
    if (call.verb === 'createKeyed') this.name(call.label, (value as Creation).job.id);
    if (call.verb === 'createMany') {
      for (const [i, { id }] of (value as ManyCreated).jobs.entries()) this.name(`${call.label}.${i}`, id);
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
  return step.calls.map(textOf).join('  ||  ');
}

function textOf({ verb, ...input }: Call): string {
  const { label, job, ...rest } = input as { label?: string; job?: string };
  return [label && `${label} =`, verb, job, JSON.stringify(rest)].filter(Boolean).join(' ');
}
