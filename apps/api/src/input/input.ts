import { knownFieldsOf, validate } from '@yardmaster/protocol';
import type { z } from 'zod';
import type { Call, Examples } from '../call.js';
import type { SizeLimits } from './sizes.js';

/** What a row reads of a request. */
export interface Input<B> {
  /** Schemas of the query. */
  queries: readonly z.ZodType[];
  /** Names of the parameters of the query; others are refused. */
  parameters: readonly string[];
  /** The body, as the OpenAPI document describes it; null when it is not read. */
  body: BodyDescription | null;
  /**
   * Read and check it.
   *
   * @param held keeps what a large body has reserved, until the request is done
   * @throws INVALID_REQUEST, TOO_LARGE, UNSUPPORTED_MEDIA_TYPE, FORBIDDEN, OVERLOADED
   */
  read(call: Call, held: Held): B | Promise<B>;
}

/** A body in the OpenAPI document. */
export interface BodyDescription {
  /** Schema and examples by content type. */
  content: Record<string, { schema: z.ZodType; examples: Examples }>;
  /** For a body that may be a list, too. */
  list?: { schema: z.ZodType; examples: Examples; response: z.ZodType; responses: Examples };
  isOptional: boolean;
  /** Return how large it may be, in sentences. */
  sizes(limits: SizeLimits): string;
}

/** Keeps what a request has reserved until it is done. Its client may disconnect while it waits for a reservation. */
export class Held {
  #release: () => void = () => undefined;
  #isDone = false;

  /** Set the function to be called when the request is done, however it ends. */
  hold(release: () => void): void {
    if (this.#isDone) release();
    else this.#release = release;
  }

  done(): void {
    this.#isDone = true;
    this.#release();
  }
}

/**
 * Input from the query alone.
 *
 * @param check refuses a caller that may not ask for this
 */
export function query<Q>(schema: z.ZodType<Q>, check?: (query: Q, call: Call) => void): Input<Q> {
  const fields = knownFieldsOf(schema);
  const ofNone = schema.safeParse({});
  return {
    queries: [schema],
    parameters: fields instanceof Map ? [...fields.keys()] : [],
    body: null,
    read(call) {
      // Express would parse the URL of every request.
      const isNone = ofNone.success && !call.req.url.includes('?');
      const input = isNone ? ofNone.data : validate(schema, call.req.query, 'query');
      check?.(input, call);
      return input;
    },
  };
}

/** Input from the query and from a body. */
export const withQuery = <Q, B>(ofQuery: Input<Q>, ofBody: Input<B>): Input<{ query: Q; body: B }> => ({
  ...ofQuery,
  body: ofBody.body,
  async read(call, held) {
    const query = ofQuery.read(call, held) as Q;
    return { query, body: await ofBody.read(call, held) };
  },
});
