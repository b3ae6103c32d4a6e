// Work of calls in Redis, in units: 1 is a create, about 135,000 instructions or 60 µs. Tenants share Redis by units. The
// weights of names and bytes were measured in time; those of jobs and tags lie between the ratios of time and instructions
// (bench/instructions/bounds.json; a test compares them).

/** Units per further job that a call touches. */
export const PER_JOB = { created: 0.5, settled: 0.7, claimed: 0.7, listed: 0.2 };

/** Units per tag of a created job: each has its own index. */
export const PER_TAG = 0.25;

/** Units per name that statistics count. */
export const PER_NAME = 0.1;

/** Units of a search before it waits for a slot: it examines up to 100 jobs. */
export const SEARCH = 5;

/** Units per byte of a body, which Redis copies and stores or publishes. */
export const PER_BYTE = 1 / (20 * 1_024);
