// Measure CPU time, and let contestants take turns, so that a noisy machine affects all of them equally.

const sum = (numbers) => numbers.reduce((total, one) => total + one, 0);

/**
 * Start metering the CPU time of processes.
 *
 * @param processes lists of processes from processes.mjs, by name
 * @returns function that resolves with the microseconds used since then, by name
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
 * Let contestants take turns, in alternating order.
 *
 * @param contestants contestants by name
 * @param options.warming warm-up rounds, whose results are dropped
 * @param turn runs one turn of a contestant and returns its result
 * @returns results of each round, by name
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

/** Return the number below which this fraction of the sorted numbers lies. */
export const percentile = (sorted, part) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))];

/** Return the median. */
export const median = (numbers) => percentile(inOrder(numbers), 0.5);

/** Return median and quartiles: `[median, low, high]`. */
export function spreadOf(numbers) {
  const sorted = inOrder(numbers);
  return [0.5, 0.25, 0.75].map((part) => percentile(sorted, part));
}

/** Return percentiles of times; undefined without times. With fewer than a thousand times, p999 is the longest. */
export function percentilesOf(times) {
  const sorted = inOrder(times);
  const [p50, p90, p99, p999] = [0.5, 0.9, 0.99, 0.999].map((part) => percentile(sorted, part));
  return { p50, p90, p99, p999 };
}

/** Divide the costs of two contestants round by round, because within a round the machine is equally busy for both. */
export const ratios = (turns, others, costOf) => turns.map((turn, round) => costOf(turn) / costOf(others[round]));

/**
 * Return the 95% confidence interval of the median, based on order and so valid for any distribution: `[low, high]`. For fewer
 * than six numbers, return their range, whose confidence is lower.
 */
export function medianInterval(numbers) {
  const sorted = inOrder(numbers);
  const count = sorted.length;
  // Cut off the lowest numbers that are all below the median in fewer than 2.5% of samples, and the same number of the highest.
  let [cut, chance] = [0, 0.5 ** count];
  for (let tail = chance; tail <= 0.025; tail += chance) {
    cut++;
    chance *= (count - cut + 1) / cut;
  }
  const first = Math.max(0, cut - 1);
  return [sorted[first], sorted[count - 1 - first]];
}
