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
    const because = `(${redact(reason.replace(/^No response: /, ''), this.#service)}), connecting again`;
    this.#notice(
      this.#wasConnected
        ? `connection lost ${because}${this.#consequence}`
        : `no connection to ${this.#service.url.origin} ${because}`,
    );
  }
}
