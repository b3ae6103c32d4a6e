import { advanceClockRequest, clockResponse, YardmasterError } from '@yardmaster/protocol';
import { advanceClock } from '@yardmaster/store';
import { json } from '../input/input.js';
import { type Route, route } from './route.js';

/** Endpoint of services with a manual clock. Not part of the API: neither in ROUTES nor in the OpenAPI document. */
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
    // All spaces share the clock.
    if (caller.spaceId !== null) throw new YardmasterError('FORBIDDEN');
    return { now: await advanceClock(store, input.advanceSeconds) };
  },
});
