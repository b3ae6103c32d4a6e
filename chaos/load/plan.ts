import type { TerminalStatus } from '@yardmaster/protocol';
import { Random } from '../../test/support/random.js';
import type { Operation } from '../checker/history.js';

export const SPACES = ['yard-a', 'yard-b', 'yard-c'];
export const SDK_SPACE = 'yard-sdk'; // Space of workers whose calls are not in the history (soak).
export const NAMES = ['resize', 'crop', 'a/b:c'];

/** Steps of a worker between the ack and the end of an attempt, and how likely each is. */
const STEPS = { progress: 4, checkpoint: 2, event: 2, keepalive: 2, logs: 3 };
export type Step = keyof typeof STEPS;

/** How the attempt of a worker ends. */
interface End {
  weight: number; // How likely it is.
  op?: Operation; // Call that ends the attempt; none for a worker that crashes.
  more?: object; // Further fields of that call.
  isTwice?: true; // Report the end twice, whatever the response.
  isBeforeAck?: true;
}

const ENDINGS = {
  completes: { weight: 50, op: 'complete' },
  'completes twice': { weight: 6, op: 'complete', isTwice: true },
  fails: { weight: 14, op: 'fail' },
  'fails twice': { weight: 6, op: 'fail', isTwice: true },
  releases: { weight: 6, op: 'release' },
  'releases twice': { weight: 4, op: 'release', isTwice: true },
  'releases before its ack': { weight: 4, op: 'release', isBeforeAck: true },
  'fails for good': { weight: 3, op: 'fail', more: { retryable: false } }, // No retry follows.
  'fails until later': { weight: 4, op: 'fail', more: { retryAfterSeconds: 0.5 } }, // It sets the delay itself.
  'releases until later': { weight: 3, op: 'release', more: { delaySeconds: 0.5 } },
  vanishes: { weight: 8 }, // Crashes after its ack.
  'never acks': { weight: 8 }, // Crashes before its ack.
  // Sends nothing for longer than its window, and then resumes: a report, and the end of the attempt.
  stalls: { weight: 6, op: 'complete' },
  'stalls and fails': { weight: 3, op: 'fail' },
  'stalls and releases': { weight: 3, op: 'release' },
} satisfies Record<string, End>;
export const ENDS: Record<keyof typeof ENDINGS, End> = ENDINGS;
const END_WEIGHTS = Object.fromEntries(Object.entries(ENDS).map(([how, { weight }]) => [how, weight])) as Record<
  keyof typeof ENDS,
  number
>;

/** What a worker does with a claimed job. */
export interface AttemptPlan {
  steps: Step[];
  end: keyof typeof ENDS;
}

/** Plan of any attempt after the planned ones. */
export const LAST_ATTEMPT: AttemptPlan = { steps: [], end: 'completes' };

/** Behaviors of a callback receiver (receivers.ts), and how likely each is. */
const RECEIVING = {
  ...{ responds: 50, 'fails first': 12, 'resets first': 8, 'hangs first': 4 },
  ...{ 'is slow': 8, 'never stops': 6, 'returns 410': 6, 'returns 500': 6 },
  'fails twice': 0, // For jobs of a fault.
};
export type Receiving = keyof typeof RECEIVING;

const HANGING_UNTIL = 40; // Only the first jobs have a hanging receiver, because it costs 10 s per attempt.

/**
 * Unique keys of jobs. Each key always has the same `until`, because the `until` of the job that occupies the key applies. So a
 * request is replaced only before the first attempt.
 */
const UNIQUE = [
  { key: 'one', until: 'ended', onConflict: 'return' },
  { key: 'one of two', until: 'ended', onConflict: 'return' },
  { key: 'latest', until: 'started', onConflict: 'replace' },
  { key: 'latest of two', until: 'started', onConflict: 'replace' },
] as const;

/** Delays between attempts. */
const RETRIES = [
  { delaySeconds: 0.5 },
  { delaySeconds: [0, 0.4] },
  { delaySeconds: 0.2, factor: 3, maxDelaySeconds: 0.7, jitter: 1 },
] as const;

/** Fields of a create that control when, how often and how long a job runs. Default: none. */
export interface Timing {
  delaySeconds?: number;
  retry?: (typeof RETRIES)[number];
  maxRunSeconds?: number;
  startWithinSeconds?: number;
  priority?: number;
  callbackOn?: readonly TerminalStatus[];
}

/** The plan of a job. */
export interface JobPlan {
  n: number;
  spaceId: string;
  name: string;
  maxRetries: number;
  timeoutSeconds: number;
  receiving: Receiving | null; // Null for no callback.
  usesToken: boolean; // Whether its workers send their delivery token, which older clients do not.
  attempts: AttemptPlan[]; // One for each claim; later attempts complete the job.
  killAfterMs: number | null; // Time from its creation until an operator kills it; null to not kill it.
  isClaimed: boolean; // Whether two workers claim it by its ID at the same time, while others poll.
  watched: 'with key' | 'without' | null;
  creates: 'once' | 'with a key' | 'twice with a key'; // Whether the create has an idempotency key, and whether it is always sent twice.
  unique: (typeof UNIQUE)[number] | null;
  together: number; // Number of following jobs that the same call creates. They get its space and its idempotency key.
  timing: Timing; // Only for jobs without a unique key, because a create may replace the request of a job with a key.
}

/** Draw a word at random, by weight. */
function weighted<T extends string>(random: Random, weights: Record<T, number>): T {
  const words = (Object.entries(weights) as [T, number][]).flatMap(([word, weight]) => Array<T>(weight).fill(word));
  return random.of(words);
}

/** Create the plan of the nth job, which depends only on the seed. */
export function planOf(seed: number, n: number): JobPlan {
  const random = new Random(seed * 1_000_003 + n);
  const steps = () => Array.from({ length: random.below(4) }, () => weighted(random, STEPS));
  const receiving = random.chance(0.3) ? weighted(random, RECEIVING) : null;
  const plan = {
    n,
    spaceId: random.of(SPACES),
    name: random.of(NAMES),
    maxRetries: random.below(4),
    timeoutSeconds: random.of([0.8, 1.5, 2.5]),
    receiving: receiving === 'hangs first' && n >= HANGING_UNTIL ? 'responds' : receiving,
    usesToken: random.chance(0.8),
    attempts: Array.from({ length: 1 + random.below(3) }, () => ({
      steps: steps(),
      end: weighted(random, END_WEIGHTS),
    })),
    killAfterMs: random.chance(0.08) ? random.below(1_500) : null,
    isClaimed: random.chance(0.15),
    watched: random.chance(0.2) ? random.of(['with key', 'with key', 'without'] as const) : null,
    creates: random.of(['once', 'with a key', 'twice with a key'] as const),
    unique: random.chance(0.2) ? random.of(UNIQUE) : null,
  };
  const timing = plan.unique === null ? timingOf(random) : {};
  return { ...plan, timing, together: random.chance(0.1) ? 1 + random.below(2) : 0 };
}

function timingOf(random: Random): Timing {
  const ends: (readonly TerminalStatus[])[] = [['killed'], ['dead', 'killed'], ['completed', 'dead', 'killed']];
  return {
    ...(random.chance(0.12) && { delaySeconds: random.of([0, 0.3, 1, 2]) }),
    ...(random.chance(0.25) && { retry: random.of(RETRIES) }),
    ...(random.chance(0.1) && { maxRunSeconds: random.of([0.1, 1, 3]) }),
    ...(random.chance(0.08) && { startWithinSeconds: random.of([0.2, 1, 5]) }),
    ...(random.chance(0.15) && { priority: random.of([-2, 1, 60]) }),
    ...(random.chance(0.3) && { callbackOn: random.of(ends) }),
  };
}
