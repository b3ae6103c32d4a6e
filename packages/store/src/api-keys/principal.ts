import type { Scope } from '@yardmaster/protocol';

/** The caller as its API key defines it: what the key may do, and where. */
export interface Principal {
  keyId: string;
  /** Every scope granted, including those that other scopes cover. */
  grants: ReadonlySet<Scope>;
  /** The one space it works in; null for every space. */
  spaceId: string | null;
}
