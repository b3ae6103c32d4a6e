import type { Service } from '../addresses.js';
import { speakable } from '../speakable.js';

/** Says that the service is away: once for each outage, however many attempts it outlasts. */
export class Contact {
  readonly #service: Service;
  readonly #notice: (sentence: string) => void;
  #isMade = false;
  #isTold = false;

  /** @param notice says a printable sentence */
  constructor(service: Service, notice: (sentence: string) => void) {
    this.#service = service;
    this.#notice = notice;
  }

  made(): void {
    this.#isMade = true;
    this.#isTold = false;
  }

  lost(reason: string): void {
    if (this.#isTold) return;
    this.#isTold = true;
    const what = this.#isMade ? 'connection lost' : `no connection to ${this.#service.url.origin}`;
    this.#notice(`${what} (${speakable(reason, this.#service)}), connecting again`);
  }
}
