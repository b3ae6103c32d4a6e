import { z } from 'zod';
import { LIMITS } from './limits.js';
import { numberBetween } from './schema/fields.js';
import { instant } from './schema/response-fields.js';

/** Body of `POST /test/clock`. With 0 it only reads the clock. */
export const advanceClockRequest = z.object({ advanceSeconds: numberBetween(0, LIMITS.delaySecondsMax) });

/** What the clock shows then. */
export const clockResponse = z.object({ now: instant });
