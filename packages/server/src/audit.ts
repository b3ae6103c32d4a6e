import type { IncomingMessage } from 'node:http';
import { YardmasterError } from '@yardmaster/protocol';
import { every, type Logger, type Service } from '@yardmaster/runtime';
import { type Act, type Authenticator, appendAct, type Principal, type Store } from '@yardmaster/store';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

const DENIED = 'access.denied';

/**
 * Acts that clients repeat, with the period in which they add at most one entry per key, space, address and status. The
 * first act is added immediately; each further entry counts the acts since the previous one.
 */
const COUNTED_MS: Readonly<Record<string, number>> = {
  [DENIED]: MINUTE_MS,
  ...{ 'key.list': HOUR_MS, 'secret.read': HOUR_MS, 'token.create': HOUR_MS, 'job.replace': HOUR_MS },
};

/**
 * Maximum number of counts per action. Further refusals are counted together, because an attacker may have many addresses;
 * further successful acts get an entry each, so that nobody can hide who read a secret.
 */
const MOST_COUNTED = 1_000;
const OTHERS = { keyId: '', keyName: '', spaceId: null, jobId: null, address: '*' };

/** Time between two checks for counts that are due. */
const LOOK_EVERY_MS = 5_000;

/** Maximum length of an address. No real one is longer, but a proxy may send anything in its place. */
const ADDRESS_LENGTH = 64;

export interface AuditOptions {
  store: Store;
  log: Logger;
  authenticator: Pick<Authenticator, 'knownBy'>;
  /** Return the address of a request's client. */
  addressOf(req: IncomingMessage): string;
}

/** The request that an act came from. */
export interface ActSource {
  req: IncomingMessage;
  requestId: string;
}

/** An act without the fields that come from its request. */
export type ActOf = Omit<Act, 'address' | 'requestId'>;

/** Whose access was denied: the caller, or the text that was presented as an API key. */
export interface Denied {
  caller?: Principal | undefined;
  presented?: unknown;
}

interface Counted {
  act: Act;
  /** Acts since the last entry. */
  count: number;
  everyMs: number;
  dueAt: number;
}

/** Logs acts and adds them to the audit in Redis. A process that crashes loses its counts of repeated acts. */
export class Audit implements Service {
  readonly name = 'audit';
  readonly #options: AuditOptions;
  /** By action. */
  readonly #counts = new Map<string, Map<string, Counted>>();
  readonly #repeated: Service;

  constructor(options: AuditOptions) {
    this.#options = options;
    const addAll = () => this.#addCounts(Number.POSITIVE_INFINITY);
    const add = () => this.#addCounts(performance.now());
    this.#repeated = every({ name: this.name, ms: LOOK_EVERY_MS, run: add, atStop: addAll });
  }

  start(): Promise<void> {
    return this.#repeated.start();
  }

  stop(withinMs: number): Promise<void> {
    return this.#repeated.stop(withinMs);
  }

  /** Record an act that succeeded; repeated acts are only counted. Resolves once the act is recorded. */
  async record(of: ActOf, { req, requestId }: ActSource): Promise<void> {
    const act = { ...of, address: this.#options.addressOf(req).slice(0, ADDRESS_LENGTH), requestId };
    const everyMs = COUNTED_MS[act.action];
    await (everyMs === undefined ? this.#append(act) : this.#count(act, everyMs));
  }

  /** Record a refused request if its key was the reason. */
  denied(error: unknown, { caller, presented }: Denied, source: ActSource): void {
    const status = error instanceof YardmasterError ? error.status : 0;
    if (status !== 401 && status !== 403) return;
    const {
      keyId = '',
      name: keyName = '',
      spaceId = null,
    } = caller ?? this.#options.authenticator.knownBy(presented) ?? {};
    void this.record({ keyId, keyName, action: DENIED, spaceId, jobId: null, details: { status } }, source);
  }

  #count(act: Act, everyMs: number): Promise<void> | undefined {
    const { action, keyId, spaceId, address, details } = act;
    const own = [keyId, spaceId, address, details.status].join(' ');
    const counts = this.#counts.get(action) ?? new Map<string, Counted>();
    this.#counts.set(action, counts);
    const isOther = !counts.has(own) && counts.size >= MOST_COUNTED;
    if (isOther && action !== DENIED) return this.#append(withCount(act, 1));
    const shown = isOther ? { ...act, ...OTHERS } : act;
    const counted = counts.get(isOther ? '' : own);
    if (counted === undefined) {
      counts.set(isOther ? '' : own, { act: shown, count: 0, everyMs, dueAt: performance.now() + everyMs });
      return this.#append(withCount(shown, 1));
    }
    counted.act = shown;
    counted.count++;
    return undefined;
  }

  /** Add the counts that are due, and forget acts that were not repeated. */
  async #addCounts(now: number): Promise<void> {
    const adding: Promise<void>[] = [];
    for (const counts of this.#counts.values()) {
      for (const [key, counted] of counts) {
        const { act, count, everyMs, dueAt } = counted;
        if (dueAt > now) continue;
        if (count === 0) counts.delete(key);
        else adding.push(this.#append(withCount(act, count)));
        Object.assign(counted, { count: 0, dueAt: now + everyMs });
      }
    }
    await Promise.all(adding);
  }

  /** Log an act and add it to the audit. The act has already taken effect, so a failed write is only logged. */
  async #append(act: Act): Promise<void> {
    const { log, store } = this.#options;
    if (act.action === DENIED) log.warn(act, 'access denied');
    else log.info(act, 'audited action');
    try {
      await appendAct(store, act);
    } catch (err) {
      log.warn({ err, requestId: act.requestId, action: act.action }, 'action not added to the audit log');
    }
  }
}

const withCount = (act: Act, count: number): Act => ({ ...act, details: { ...act.details, count } });
