import type { Scope } from './scopes.js';

/** An API key without its secret. */
export interface ApiKey {
  /** Middle part of `ym_<id>_<secret>`. */
  id: string;
  name: string;
  scopes: Scope[];
  /** The one space the key works in; null for every space. */
  spaceId: string | null;
  /** ISO 8601; null when it never expires. */
  expiresAt: string | null;
  /** ISO 8601. */
  createdAt: string;
}

/** Answer of Create Key: the only time the key itself is shown. */
export interface NewApiKey extends ApiKey {
  /** `ym_<id>_<secret>`, 256 random bits of secret. */
  key: string;
}
