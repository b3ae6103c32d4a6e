import { Random } from '../../test/support/random.js';

export const SPACES = ['yard-a', 'yard-b', 'yard-c'];
export const NAMES = ['resize', 'crop', 'a/b:c'];

/** What a worker does between the ack and the end of an attempt, and how likely it is. */
const STEPS = { progress: 4, checkpoint: 2, event: 2, keepalive: 2, logs: 3 };
export type Step = keyof typeof STEPS;

/** How a worker that claimed a job ends, and how likely it is. */
const ENDS = {
  completes: 50,
  'completes twice': 6, // It reports the end again, whatever the response.
  fails: 14,
  'fails twice': 6,
  vanishes: 8, // It crashes after its ack; before it.
  'never acks': 8,
  stalls: 8, // It is silent for longer than its window, and then completes anyway.
};

/** What happens to a job each time that it is claimed. */
export interface Life {
  steps: Step[];
  end: keyof typeof ENDS;
}

/** The life of a job whose lives are used up. */
export const LAST_LIFE: Life = { steps: [], end: 'completes' };

/** How the receiver of a callback behaves (receivers.ts), and how likely it is. */
const RECEIVING = {
  ...{ answers: 50, 'fails first': 12, 'resets first': 8, 'hangs first': 4 },
  ...{ 'is slow': 8, pours: 6, 'is gone': 6, 'is down': 6 },
};
export type Receiving = keyof typeof RECEIVING;

const HANGING_UNTIL = 40; // A receiver that hangs costs 10 s per attempt, so only the first jobs have one.

/** All that the seed decides about a job. */
export interface JobPlan {
  n: number;
  spaceId: string;
  name: string;
  maxRetries: number;
  timeoutSeconds: number;
  receiving: Receiving | null; // Null: no callback.
  lives: Life[]; // One for each time that it is claimed; after these it is completed.
  killAfterMs: number | null; // Time from its creation until an operator kills it; null: it is not killed.
  isClaimed: boolean; // Whether two workers claim it by its id at once, while others poll.
  watched: 'with key' | 'without' | null;
}

/** One of some words, each with the likelihood of its number. */
function weighted<T extends string>(random: Random, weights: Record<T, number>): T {
  const words = (Object.entries(weights) as [T, number][]).flatMap(([word, weight]) => Array<T>(weight).fill(word));
  return random.of(words);
}

/** The plan of the nth job, the same for the same seed whatever else is planned. */
export function planOf(seed: number, n: number): JobPlan {
  const random = new Random(seed * 1_000_003 + n);
  const steps = () => Array.from({ length: random.below(4) }, () => weighted(random, STEPS));
  const receiving = random.chance(0.3) ? weighted(random, RECEIVING) : null;
  return {
    n,
    spaceId: random.of(SPACES),
    name: random.of(NAMES),
    maxRetries: random.below(4),
    timeoutSeconds: random.of([0.8, 1.5, 2.5]),
    receiving: receiving === 'hangs first' && n >= HANGING_UNTIL ? 'answers' : receiving,
    lives: Array.from({ length: 1 + random.below(3) }, () => ({ steps: steps(), end: weighted(random, ENDS) })),
    killAfterMs: random.chance(0.08) ? random.below(1_500) : null,
    isClaimed: random.chance(0.15),
    watched: random.chance(0.2) ? random.of(['with key', 'with key', 'without'] as const) : null,
  };
}
