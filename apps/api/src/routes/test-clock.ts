import { advanceClockRequest, clockResponse, YardmasterError } from '@yardmaster/protocol';
import { advanceClock } from '@yardmaster/store';
import { json } from '../input/input.js';
import { type Route, route } from './route.js';

/**
 * The endpoint that only a service with a manual clock has. It is not part of the API: neither ROUTES nor the OpenAPI
 * document contains it.
 */
export const TEST_CLOCK: Route = route({
  operation: 'advanceClock',
  method: 'POST',
  path: '/test/clock',
  scopes: ['keys:manage'],
  tag: 'Keys',
  summary: 'Advance the manual clock',
  input: json(advanceClockRequest, { examples: {} }),
  success: { schema: clockResponse, examples: { 'An hour later': { now: '2026-01-31T10:30:00.000Z' } } },
  handler: async ({ store, caller, input }) => {
    // The clock is that of all spaces.
    if (caller.spaceId !== null) throw new YardmasterError('FORBIDDEN');
    return { now: await advanceClock(store, input.advanceSeconds) };
  },
});
