import { OF_CALLBACKS } from './callbacks.js';
import { OF_JOBS } from './jobs.js';
import type { Mutant } from './mutant.js';
import { OF_OUTAGES } from './outages.js';
import { OF_STREAMS } from './streams.js';

/** What must not go unseen. Under each of them the suite has to fail, and to say which promise is broken. */
export const MUTANTS: readonly Mutant[] = [...OF_JOBS, ...OF_STREAMS, ...OF_CALLBACKS, ...OF_OUTAGES];
