import { isOverload } from './answer-rules.js';
import type { Verdict } from './trial.js';

const ROW = (cells: (string | number)[]) => `| ${cells.join(' | ')} |`;

/** Counts of a run. */
export class Tally {
  readonly #byEndpoint = new Map<string, Map<string, number>>();
  readonly #byOddity = new Map<string, [all: number, decided: number, taken: number]>();
  requests = 0;
  overloads = 0;
  readBack = 0;

  add({ request, status, told, expected }: Verdict): void {
    this.requests++;
    const statuses = this.#byEndpoint.get(request.name) ?? new Map<string, number>();
    this.#byEndpoint.set(request.name, statuses);
    const key = status === null ? 'closed' : String(status);
    statuses.set(key, (statuses.get(key) ?? 0) + 1);
    if (status !== null && isOverload({ status, headers: [], body: Buffer.from(told) })) this.overloads++;
    for (const oddity of request.oddity.split(', ')) {
      const [all, decided, taken] = this.#byOddity.get(oddity) ?? [0, 0, 0];
      const { outcomes } = expected;
      const isDecided = outcomes !== null && new Set(outcomes.map((each) => each.status)).size === 1;
      this.#byOddity.set(oddity, [
        all + 1,
        decided + Number(isDecided),
        taken + Number(status !== null && status < 300),
      ]);
    }
  }

  toString(): string {
    const statuses = [...new Set([...this.#byEndpoint.values()].flatMap((each) => [...each.keys()]))].sort();
    const endpoints = [...this.#byEndpoint].sort(([a], [b]) => a.localeCompare(b));
    return [
      ROW(['endpoint', ...statuses]),
      ROW(['---', ...statuses.map(() => '---:')]),
      ...endpoints.map(([name, counts]) => ROW([name, ...statuses.map((status) => counts.get(status) ?? '')])),
      '',
      ROW(['oddity', 'requests', 'of which only one status is right', 'answered 2xx']),
      ROW(['---', '---:', '---:', '---:']),
      ...[...this.#byOddity].map(([name, counts]) => ROW([name, ...counts])),
    ].join('\n');
  }
}
