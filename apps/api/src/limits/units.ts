// Work of calls at Redis, in units: 1 is a create, some 135,000 instructions or 60 µs of Redis. Tenants share turns at Redis
// by units. Weights of names and bytes are measured in time. Those of jobs and tags lie between the ratios of time and of
// instructions (bench/instructions/bounds.json; a test compares them).

/** Units of each further job that a call touches. */
export const PER_JOB = { created: 0.5, settled: 0.7, claimed: 0.7, listed: 0.2 };

/** Units of each tag of a job that is created: each has an index of its own. */
export const PER_TAG = 0.25;

/** Units of each name that statistics count. */
export const PER_NAME = 0.1;

/** Units of a search before it waits for a slot: it examines up to 100 jobs. */
export const SEARCH = 5;

/** Units of each byte of a body: Redis copies it, and stores or publishes it. */
export const PER_BYTE = 1 / (20 * 1_024);
