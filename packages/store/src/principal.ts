import type { Scope } from '@yardmaster/protocol';

/** Whose call it is: what an API key may do and where. */
export interface Principal {
  keyId: string;
  /** Every scope granted, the covered ones included. */
  grants: ReadonlySet<Scope>;
  /** The one space it works in; null for every space. */
  spaceId: string | null;
}
