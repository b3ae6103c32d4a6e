import { type Random, randomOf } from '../../logs/random.js';

/** What a worker does between the ack and the end of an attempt. */
export type Step = 'progress' | 'checkpoint' | 'event' | 'keepalive' | 'logs';

/**
 * How a worker that was handed a job goes on:
 *
 * - `completes`, `fails`: as it should;
 * - `completes twice`, `fails twice`: reports its end again, whatever it was answered;
 * - `vanishes`: crashes in the midst, after its ack;
 * - `never acks`: crashes before it;
 * - `stalls`: is silent beyond its window, and then completes all the same.
 */
export type End = 'completes' | 'fails' | 'completes twice' | 'fails twice' | 'vanishes' | 'never acks' | 'stalls';

/** What becomes of a job each time that it is handed out. */
export interface Life {
  steps: Step[];
  end: End;
}

/** How the receiver of a callback behaves; see receivers.ts. */
export type Receiving =
  | 'answers'
  | 'fails first'
  | 'resets first'
  | 'hangs first'
  | 'is slow'
  | 'pours'
  | 'is gone'
  | 'is down';

/** All that is decided about a job before the run begins. */
export interface JobPlan {
  n: number;
  spaceId: string;
  name: string;
  maxRetries: number;
  timeoutSeconds: number;
  /** Null: no callback. */
  receiving: Receiving | null;
  /** One for each time that it is handed out; whoever gets it after that completes it. */
  lives: Life[];
  /** An operator kills it so long after its creation; null: nobody does. */
  killAfterMs: number | null;
  /** Whether two workers claim it by its id at once, beside all who poll. */
  isClaimed: boolean;
  /** Who watches its stream, if anybody. */
  watched: 'with key' | 'without' | null;
}

export const SPACES = ['yard-a', 'yard-b', 'yard-c'];
export const NAMES = ['resize', 'crop', 'a/b:c'];

/** After its lives. */
export const LAST_LIFE: Life = { steps: [], end: 'completes' };

/** One receiver that hangs takes 10 s of the run for each attempt, so only the first jobs meet it. */
const HANGING_UNTIL = 40;

/** One of some words, each as likely as its number. */
function weighted<T extends string>(random: Random, weights: Record<T, number>): T {
  const entries = Object.entries(weights) as [T, number][];
  let left = random.below(entries.reduce((sum, [, weight]) => sum + weight, 0));
  for (const [word, weight] of entries) {
    left -= weight;
    if (left < 0) return word;
  }
  throw new Error('weights that are none');
}

const ENDS: Record<End, number> = {
  completes: 50,
  'completes twice': 6,
  fails: 14,
  'fails twice': 6,
  vanishes: 8,
  'never acks': 8,
  stalls: 8,
};

const RECEIVING: Record<Receiving, number> = {
  answers: 50,
  'fails first': 12,
  'resets first': 8,
  'hangs first': 4,
  'is slow': 8,
  pours: 6,
  'is gone': 6,
  'is down': 6,
};

/** The plan of the nth job, the same for the same seed whatever else is planned. */
export function planOf(seed: number, n: number): JobPlan {
  const random = randomOf(seed * 1_000_003 + n);
  const steps = () =>
    Array.from({ length: random.below(4) }, () =>
      weighted<Step>(random, { progress: 4, checkpoint: 2, event: 2, keepalive: 2, logs: 3 }),
    );
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
