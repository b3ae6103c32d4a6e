import { redact, type Service } from './service.js';

/** A part of the service that may be out of reach. */
type Part = 'logs' | 'stream' | 'poll';

/** Reports that the service is out of reach: once per outage, for any number of failed attempts in any part. */
export class Connectivity {
  readonly #service: Service;
  readonly #notice: (sentence: string) => void;
  readonly #consequence: string;
  readonly #lost = new Set<Part>();
  #wasConnected = false;

  /**
   * @param notice shows a printable sentence
   * @param consequence effect of a lost connection for the reader, appended to the sentence
   */
  constructor(service: Service, notice: (sentence: string) => void, consequence = '') {
    this.#service = service;
    this.#notice = notice;
    this.#consequence = consequence;
  }

  markConnected(part: Part): void {
    this.#wasConnected = true;
    this.#lost.delete(part);
  }

  markLost(part: Part, reason: string): void {
    const isReported = this.#lost.size > 0;
    this.#lost.add(part);
    if (isReported) return;
    const because = `(${redact(reason, this.#service)}), connecting again`;
    this.#notice(
      this.#wasConnected
        ? `connection lost ${because}${this.#consequence}`
        : `no connection to ${this.#service.url.origin} ${because}`,
    );
  }
}

/** HTTP statuses of refusals that may pass: too much at once, and servers that are unavailable or overloaded. */
export const PASSING_STATUSES = new Set([429, 502, 503, 504]);

/** Upper limit of the first pause. It doubles with each failure. */
const FIRST_MS = 500;

const MAX_MS = 15_000;

/**
 * Return how long to wait before connecting again, in milliseconds.
 *
 * It is a random time up to a limit, which doubles from 0.5 s to 15 s (full jitter). So clients that lost the same
 * process do not all return at once.
 *
 * @param failures connections that have failed in a row, from 1
 */
export function backoffMs(failures: number, random: () => number = Math.random): number {
  return random() * Math.min(MAX_MS, FIRST_MS * 2 ** (failures - 1));
}
