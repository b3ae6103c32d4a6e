import type { IncomingMessage } from 'node:http';
import type { Logger } from '@yardmaster/runtime';
import { Counter, type Registry } from 'prom-client';

/** At most one warning per address in this time: a worker whose key has expired polls for days. */
const MINUTE_MS = 60_000;

/** Most addresses to warn about in a minute. Keys from others are only counted: an attacker may have many addresses. */
const MOST_ADDRESSES = 1_000;

/** Longer than any address, because a proxy may write anything in its place. */
const ADDRESS_LENGTH = 64;

export interface RejectedKeyReportOptions {
  registry: Registry;
  /** Return the address of a request's client. */
  addressOf(req: IncomingMessage): string;
  log: Logger;
}

/**
 * Create a function that counts a request whose API key is wrong, and warns about its client's address once a minute.
 * No part of the key is logged, because it may be the password of something else.
 */
export function createRejectedKeyReport({ registry, addressOf, log }: RejectedKeyReportOptions) {
  const rejected = new Counter({
    name: 'yardmaster_rejected_keys_total',
    help: 'Calls and streams refused because their API key is unknown, revoked or expired, or has a wrong secret.',
    registers: [registry],
  });
  const warnedOf = new Set<string>();
  let minuteEnds = 0;
  return (req: IncomingMessage): void => {
    rejected.inc();
    const now = performance.now();
    if (now >= minuteEnds) {
      minuteEnds = now + MINUTE_MS;
      warnedOf.clear();
    }
    const address = addressOf(req).slice(0, ADDRESS_LENGTH);
    if (warnedOf.has(address) || warnedOf.size >= MOST_ADDRESSES) return;
    warnedOf.add(address);
    log.warn({ address }, 'API key rejected');
  };
}
