import type { FaultDetail } from '@yardmaster/protocol';
import type { z } from 'zod';
import type { Call, Examples } from '../routes/route.js';

/** How a row serves a list. Each item is checked, packed and dropped before the next one is parsed. */
export interface ListRow<B, P, L> {
  /** Most items. */
  max: number;
  /** Noun of the items, for errors. */
  what: string;
  /** Schemas that describe the body and the response. */
  body: z.ZodType;
  response: z.ZodType<L>;
  examples: { request: Examples; response: Examples };
  /** Return the faults that an item has in a list only. */
  faultsOf(item: B): FaultDetail[];
  /** Return what is kept of a valid item. */
  pack(item: B, call: Call<unknown>): P;
  /** @returns the body of the response */
  handler(call: Call<P[]>): Promise<L>;
}
