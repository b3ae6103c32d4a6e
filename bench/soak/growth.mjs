// Distinguish growth from the saw-tooth of garbage collection.

/**
 * Student's t for a confidence of 99.7 %, by degrees of freedom from 1 on; the last value is used beyond. Some fifteen series
 * are judged in a run: at 95 % about half of all runs would report growth wrongly.
 */
const T = [212, 18.2, 8.9, 6.4, 5.4, 4.8, 4.4, 4.2, 4.05, 3.92, 3.83, 3.76, 3.7, 3.65, 3.61, 3.57, 3.54, 3.51, 3.49];

/** Growth below this part of the whole per hour is tolerated. */
const TOLERATED_PER_HOUR = 0.01;

/**
 * Return the lowest value of each window of time, which contains the least garbage. The last window may be incomplete and is
 * dropped.
 */
export function lowest(samples, field, windowMs) {
  const [{ at: from }] = samples;
  const windows = [];
  for (const { at, [field]: value } of samples) {
    const nth = Math.floor((at - from) / windowMs);
    windows[nth] = { at: from + (nth + 0.5) * windowMs, value: Math.min(value, windows[nth]?.value ?? value) };
  }
  return windows.slice(0, -1).filter(Boolean);
}

/** Return the slope per minute by least squares, and its standard error. */
export function slopeOf(points) {
  const n = points.length;
  const minutes = points.map(({ at }) => at / 60_000);
  const meanX = minutes.reduce((sum, x) => sum + x, 0) / n;
  const meanY = points.reduce((sum, { value }) => sum + value, 0) / n;
  const squares = minutes.reduce((sum, x) => sum + (x - meanX) ** 2, 0);
  const perMinute = points.reduce((sum, { value }, i) => sum + (minutes[i] - meanX) * (value - meanY), 0) / squares;
  const residuals = points.reduce((sum, { value }, i) => {
    return sum + (value - meanY - perMinute * (minutes[i] - meanX)) ** 2;
  }, 0);
  return { perMinute, standardError: Math.sqrt(residuals / (n - 2) / squares), mean: meanY };
}

/** Return the error margin of a slope over this number of points. */
export const marginOf = (points, standardError) => T[Math.min(points - 2, T.length) - 1] * standardError;

/**
 * Judge a series: start, middle and end, the slope of its steady part, and a verdict.
 *
 * @param points at least six, evenly spaced
 * @param total the whole, of which a part per hour is tolerated; by default the mean of the points
 * @param half the steady points; by default the second half
 */
export function growthOf(points, total, half = points.slice(Math.floor(points.length / 2))) {
  const { perMinute, standardError, mean } = slopeOf(half);
  const margin = marginOf(half.length, standardError);
  const isGrowing = perMinute - margin > 0 && perMinute * 60 > (total ?? mean) * TOLERATED_PER_HOUR;
  return {
    start: points[0].value,
    middle: half[0].value,
    end: half.at(-1).value,
    perMinute,
    standardError,
    verdict: isGrowing ? 'grows by' : 'no growth',
  };
}
