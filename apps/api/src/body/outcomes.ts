import { type Action, findUnknownFields, type Outcome, validate } from '@yardmaster/protocol';
import { eventSize, payloadSize, type Route, type SizeRule } from '../routes/route.js';
import { ALWAYS, jsonIn, readLargeText } from './large-json.js';
import { checkSizes, type Measured, type SizeLimits } from './sizes.js';

type SettlesIn = NonNullable<Route['settlesIn']>;

/** Size rules of each action, which are those of its endpoint. */
const SIZE_RULES: Partial<Record<Action, readonly SizeRule[]>> = {
  progress: eventSize(null),
  checkpoint: eventSize('data'),
  event: eventSize('data'),
  complete: payloadSize('result'),
  fail: eventSize('error'),
  release: eventSize('reason'),
};

/** Check the sizes of the parts of outcomes. @throws TOO_LARGE */
export function checkOutcomes(list: SettlesIn, { input, bytes }: Measured, sizes: SizeLimits): void {
  const outcomes = (input as { [list in SettlesIn]?: Outcome[] })[list] ?? [];
  for (const [i, outcome] of outcomes.entries()) {
    checkSizes(SIZE_RULES[outcome.action], { input: outcome, bytes }, sizes, `${list}[${i}]`);
  }
}

/**
 * Return the reader of a body that is a list of outcomes, which may be as large as a list of jobs.
 *
 * @returns the output of the row's schema
 * @throws TOO_LARGE, UNSUPPORTED_MEDIA_TYPE, INVALID_REQUEST, OVERLOADED
 */
export const readOutcomes =
  (route: Route): NonNullable<Route['readBody']> =>
  async (req, bounds) => {
    const { value = {}, bytes } = jsonIn(await readLargeText(req, bounds, ALWAYS));
    findUnknownFields(route.fields, value, bounds.unknown);
    const input = validate(route.body as NonNullable<Route['body']>, value);
    checkOutcomes('outcomes', { input, bytes }, bounds.sizes);
    return input;
  };
