import type { Service } from '../addresses.js';
import { redact } from '../redact.js';

/** A part of the service that may be out of reach. */
type Way = 'logs' | 'stream';

/** Reports that the service is away: once for each outage, after however many attempts and in whichever part. */
export class Connectivity {
  readonly #service: Service;
  readonly #notice: (sentence: string) => void;
  readonly #lost = new Set<Way>();
  #isMade = false;

  /** @param notice shows a printable sentence */
  constructor(service: Service, notice: (sentence: string) => void) {
    this.#service = service;
    this.#notice = notice;
  }

  made(way: Way): void {
    this.#isMade = true;
    this.#lost.delete(way);
  }

  lost(way: Way, reason: string): void {
    const isOutageShown = this.#lost.size > 0;
    this.#lost.add(way);
    if (isOutageShown) return;
    const what = this.#isMade ? 'connection lost' : `no connection to ${this.#service.url.origin}`;
    this.#notice(`${what} (${redact(reason, this.#service)}), connecting again`);
  }
}
