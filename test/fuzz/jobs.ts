import type { HttpClient } from '../support/http.js';
import { JOBS_SPACE } from './keys.js';
import type { Place } from './request.js';

type Step = [verb: string, body?: object];

const RUN: Step[] = [['claim'], ['ack']];

/** How a job comes to where it is asked for; the two that are no more are not made. */
const STEPS: Record<Exclude<Place, 'purged' | 'unknown'>, Step[]> = {
  pending: [],
  delivered: [['claim']],
  running: RUN,
  completed: [...RUN, ['complete', { result: 1 }]],
  called: [...RUN, ['complete', { result: 1 }]],
  dead: [...RUN, ['fail', { error: 'broken' }]],
  killed: [['kill', {}]],
};

/** A day: none of these jobs is to time out. */
const TIMEOUT_SECONDS = 86_400;

/** A job whose history gets long makes reading it back slow. */
const MOST_USES = 10;

/** Jobs in every status, each for one request at a time. */
export class Jobs {
  readonly #free = new Map<Place, string[]>();
  readonly #uses = new Map<string, number>();

  constructor(
    readonly http: HttpClient,
    readonly key: string,
    readonly purged: readonly string[],
  ) {}

  async take(place: Place): Promise<string> {
    if (place === 'unknown') return `00${'a'.repeat(26)}`;
    if (place === 'purged') return this.purged[0] as string;
    return this.#free.get(place)?.pop() ?? (await this.make(place));
  }

  /** Give it back, when it is still where it was. */
  give(place: Place, jobId: string): void {
    const uses = (this.#uses.get(jobId) ?? 0) + 1;
    this.#uses.set(jobId, uses);
    if (uses >= MOST_USES || place === 'unknown' || place === 'purged') return void this.#uses.delete(jobId);
    this.#free.set(place, [...(this.#free.get(place) ?? []), jobId]);
  }

  async make(place: keyof typeof STEPS): Promise<string> {
    const callbackUrl = place === 'called' ? 'http://127.0.0.1:9/' : null;
    const maxRetries = place === 'dead' ? 0 : 3;
    const body = { name: 'work', timeoutSeconds: TIMEOUT_SECONDS, callbackUrl, maxRetries };
    const jobId: string = await this.#call(`/api/v1/spaces/${JOBS_SPACE}/jobs`, body);
    for (const [verb, given] of STEPS[place]) await this.#call(`/api/v1/jobs/${jobId}/${verb}`, given);
    return jobId;
  }

  async #call(path: string, body?: object): Promise<string> {
    const { status, text, body: answer } = await this.http.call('POST', path, { key: this.key, body });
    if (status >= 300) throw new Error(`POST ${path}: ${text}`);
    return answer.id;
  }
}
