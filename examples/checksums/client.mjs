import { setTimeout as sleep } from 'node:timers/promises';

/** The service refused a request. */
export class Refusal extends Error {
  /** @param repeated whether the request had been sent before, with an unknown outcome */
  constructor({ request, status, body, repeated }) {
    super(`${request} was refused with ${status}: ${body.error ?? 'no reason given'}`);
    this.status = status;
    this.repeated = repeated;
  }
}

/** The service does not respond. */
export class Unreachable extends Error {}

/** Statuses after which the same request is sent again. The first one may have taken effect. */
const OUTCOME_UNKNOWN = new Set([429, 502, 503, 504]);

const RESPONSE_WITHIN_MS = 30_000;

/**
 * Create the one function that sends all requests of this example to the service.
 *
 * A request without a response, and a 503, is sent again for up to `retryForMs`, after the `Retry-After` of the service
 * or a growing pause. It may have taken effect the first time: a 409 to a repeated request can mean that the first one
 * succeeded. `repeated` is then true, and the caller reads the job to decide.
 *
 * @returns `call(method, path, body)`, path below /api/v1, which returns the parsed body of a success
 * @throws Refusal, Unreachable
 */
export function createClient({ url, key, retryForMs = 60_000 }) {
  return async function call(method, path, body) {
    const giveUpAt = performance.now() + retryForMs;
    for (let sent = 1; ; sent++) {
      const response = await send(`${url}/api/v1${path}`, { method, key, body });
      if (response.status < 400) return response.body;
      const waitMs = response.retryAfterMs ?? pauseMs(sent);
      if (!OUTCOME_UNKNOWN.has(response.status) || performance.now() + waitMs > giveUpAt) {
        if (response.cause) throw new Unreachable(`${url} does not respond: ${reasonOf(response.cause)}`);
        throw new Refusal({ request: `${method} ${path}`, ...response, repeated: sent > 1 });
      }
      // Clients that were refused at once should not repeat at once.
      await sleep(waitMs * (1 + Math.random() / 4));
    }
  };
}

/** @throws Unreachable with what to do about it */
export async function assertReachable(url) {
  try {
    await (await fetch(`${url}/livez`, { signal: AbortSignal.timeout(RESPONSE_WITHIN_MS) })).text();
  } catch (error) {
    throw new Unreachable(
      `The service is not reachable at ${url} (${reasonOf(error)}): start it with npm start, or pass its address with --url.`,
    );
  }
}

/** Growing pauses with full jitter: about 0.1 s, then twice as long each time, at most 5 s. */
export function pauseMs(times, { first = 100, max = 5_000 } = {}) {
  return Math.min(max, first * 2 ** (times - 1)) * (0.5 + Math.random() / 2);
}

/** Send one request. A missing response counts as a 503, because the service may have received the request. */
async function send(url, { method, key, body }) {
  const headers = { 'x-api-key': key, ...(body === undefined ? {} : { 'content-type': 'application/json' }) };
  const signal = AbortSignal.timeout(RESPONSE_WITHIN_MS);
  try {
    const response = await fetch(url, { method, headers, body: JSON.stringify(body), signal });
    const retryAfter = Number(response.headers.get('retry-after') ?? Number.NaN);
    const result = { status: response.status, body: parse(await response.text()) };
    return Number.isNaN(retryAfter) ? result : { ...result, retryAfterMs: retryAfter * 1_000 };
  } catch (cause) {
    return { status: 503, body: {}, cause };
  }
}

/** Parse a body. A proxy before the service may send HTML. */
function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return { error: text.slice(0, 200) };
  }
}

/** fetch only says "fetch failed"; the reason is in its cause. */
const reasonOf = (error) => error.cause?.code ?? error.cause?.message ?? error.message;
