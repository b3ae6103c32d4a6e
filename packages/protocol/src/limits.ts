/**
 * Numbers of spec §8 and contract that no deployment changes. Sizes that operators may change are configuration
 * (`MAX_*_BYTES`), with their defaults here so that documents and clients can name them.
 */
export const LIMITS = {
  nameCharacters: 128,
  spaceIdCharacters: 128,
  listDefault: 50,
  listMax: 100,
  pollDefault: 1,
  /** Two statements of the specification disagree (50 and 10); the contract serves 50. */
  pollMax: 50,
  /** Our choice: one poll looks at one queue per name, and a script loops over at most 100 things. */
  pollNames: 100,
  maxRetriesDefault: 3,
  maxRetriesMax: 100,
  timeoutSecondsDefault: 300,
  timeoutSecondsMax: 86_400,
  subProgressStages: 50,
  /** Our choice: more than there are scopes. */
  keyScopes: 50,
  /** Our choice: a 400 lists this many faults, and quotes this much of a name that the caller made up. */
  faultDetails: 20,
  faultPathCharacters: 100,
  jsonDepth: 64,
  callbackUrlCharacters: 2048,
  callbackHeaders: 20,
  callbackHeadersBytes: 4096,
} as const;

/** Sizes in bytes, each the default of a variable. */
export const SIZE_DEFAULTS = {
  /** Whole request body, on the wire and inflated. */
  bodyBytes: 1_048_576,
  /** `payload` and `result`, as JSON text. */
  payloadBytes: 262_144,
  /** Checkpoint, event, progress, and the error of a failure, as JSON text. */
  eventBytes: 65_536,
} as const;
