import { redact, type Service } from './service.js';

/** A part of the service that may be unreachable. */
type Part = 'logs' | 'stream' | 'poll';

/** Reports each outage of the service once, however many attempts fail in however many parts. */
export class Connectivity {
  readonly #service: Service;
  readonly #notice: (sentence: string) => void;
  readonly #consequence: string;
  readonly #lost = new Set<Part>();
  #wasConnected = false;

  /**
   * @param notice shows a printable sentence
   * @param consequence what a lost connection means for the user, appended to the sentence
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
    const because = `(${redact(reason.replace(/^No response: /, ''), this.#service)}), reconnecting`;
    this.#notice(
      this.#wasConnected
        ? `connection lost ${because}${this.#consequence}`
        : `cannot connect to ${this.#service.url.origin} ${because}`,
    );
  }
}
