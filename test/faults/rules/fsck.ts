import type { Rule } from './rule.js';

/** Records, indexes and histories agree (P16), whoever crashed before. */
export const fsckRule: Rule = {
  name: 'fsck',
  promise: 'P16',
  check: ({ dump }) => dump.fsck.map((says) => ({ jobId: null, says })),
};
