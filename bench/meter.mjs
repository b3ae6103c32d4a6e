// Measure CPU, and let contestants take turns, so that a noisy machine affects all of them alike.

const sum = (numbers) => numbers.reduce((total, one) => total + one, 0);

/**
 * Meter the CPU of processes from now on.
 *
 * @param processes lists of processes of processes.mjs, by name
 * @returns a function that resolves with the microseconds that the processes of each name have used since
 */
export async function startMeter(processes) {
  const read = () =>
    Promise.all(
      Object.values(processes).map(async (some) => sum(await Promise.all(some.map((one) => one.cpuMicros())))),
    );
  const before = await read();
  return async () => {
    const after = await read();
    return Object.fromEntries(Object.keys(processes).map((name, i) => [name, after[i] - before[i]]));
  };
}

/**
 * Let contestants take turns, forwards in one round and backwards in the next.
 *
 * @param contestants by name
 * @param options.warming rounds for warm-up, whose results are dropped
 * @param turn makes one turn of a contestant, and returns its result
 * @returns the results of each round, by name
 */
export async function inTurns(contestants, { rounds, warming = 1 }, turn) {
  const names = Object.keys(contestants);
  const results = Object.fromEntries(names.map((name) => [name, []]));
  for (let round = 0; round < warming + rounds; round++) {
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      const result = await turn(contestants[name]);
      if (round >= warming) results[name].push(result);
    }
  }
  return results;
}

const inOrder = (numbers) => numbers.toSorted((a, b) => a - b);

/** Return the number below which this part of the sorted numbers lies. */
export const percentile = (sorted, part) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))];

/** Return the median. */
export const median = (numbers) => percentile(inOrder(numbers), 0.5);

/** Return median and quartiles: `[median, low, high]`. */
export function spreadOf(numbers) {
  const sorted = inOrder(numbers);
  return [0.5, 0.25, 0.75].map((part) => percentile(sorted, part));
}

/** Return percentiles of times, undefined without times. Of fewer than a thousand times, p999 is the longest. */
export function percentilesOf(times) {
  const sorted = inOrder(times);
  const [p50, p90, p99, p999] = [0.5, 0.9, 0.99, 0.999].map((part) => percentile(sorted, part));
  return { p50, p90, p99, p999 };
}

/** Divide the costs of two contestants round by round, because in one round the machine is equally busy for both. */
export const ratios = (turns, others, costOf) => turns.map((turn, round) => costOf(turn) / costOf(others[round]));

/**
 * Return the confidence interval of 95% of the median, by order, so for any distribution: `[low, high]`. Of fewer than six
 * numbers it is their range, and the confidence is less.
 */
export function medianInterval(numbers) {
  const sorted = inOrder(numbers);
  const count = sorted.length;
  // Cut off as many of the lowest as are all below the median in fewer than 2.5% of samples; as many of the highest.
  let [cut, chance] = [0, 0.5 ** count];
  for (let tail = chance; tail <= 0.025; tail += chance) {
    cut++;
    chance *= (count - cut + 1) / cut;
  }
  const first = Math.max(0, cut - 1);
  return [sorted[first], sorted[count - 1 - first]];
}
