// What the verdicts of lateness.mjs come to, and that as text.
import { percentile } from '../meter.mjs';

const latenessOf = (verdicts) => {
  const sorted = verdicts.flatMap(({ lateMs }) => lateMs ?? []).sort((a, b) => a - b);
  const [p50, p90, p99] = [0.5, 0.9, 0.99].map((part) => percentile(sorted, part));
  return { count: sorted.length, min: sorted[0], p50, p90, p99, max: sorted.at(-1) };
};

/** Upper ends of the histogram's bars, in milliseconds. */
const BARS = [50, 100, 150, 200, 250, 300, 350, 400, 450, 500, 600, 800, 1_000, 1_500, 2_000, 5_000, Infinity];

/** What the verdicts of lives.mjs come to. */
export function latenessFigures(verdicts) {
  const count = (verdict) => verdicts.filter((one) => one.verdict === verdict).length;
  const groups = ['silent', 'kept alive', 'not acked'].map((group) => [
    group,
    latenessOf(verdicts.filter((one) => one.group === group)),
  ]);
  const late = verdicts.flatMap(({ lateMs }) => lateMs ?? []);
  return {
    timers: verdicts.length,
    met: count('met'),
    early: count('early'),
    missing: count('missing'),
    repeated: count('repeated'),
    wrong: count('wrong'),
    latenessMs: latenessOf(verdicts),
    groups: Object.fromEntries(groups),
    unsureMs: Math.max(0, ...verdicts.flatMap(({ unsureMs }) => unsureMs ?? [])),
    histogram: BARS.map((below, n) => ({
      below,
      count: late.filter((ms) => ms < below && ms >= (BARS[n - 1] ?? -Infinity)).length,
    })),
  };
}

/** Text of what latenessFigures returns. */
export function latenessReport(figures) {
  const { timers, early, missing, repeated, wrong, schedulers, schedulerCores, unsureMs, histogram } = figures;
  const ms = ({ count, min, p50, p90, p99, max }) =>
    count === 0 ? 'none' : `min ${min}, p50 ${p50}, p90 ${p90}, p99 ${p99}, max ${max} ms`;
  const most = Math.max(...histogram.map(({ count }) => count));
  const last = histogram.findLastIndex(({ count }) => count > 0);
  return [
    `${timers} time-outs, ${schedulers} scheduler${schedulers === 1 ? '' : 's'}: ${early} early, ${missing} missing, ${repeated} repeated, ${wrong} wrong`,
    `  lateness      ${ms(figures.latenessMs)}`,
    ...Object.entries(figures.groups).map(([name, group]) => `    ${name.padEnd(12)}${ms(group)} (${group.count})`),
    `  after a keepalive it may be up to ${unsureMs} ms more`,
    `  schedulers took ${schedulerCores.map((cores) => cores.toFixed(3)).join(', ')} of a core`,
    ...histogram.slice(0, last + 1).map(({ below, count }) => {
      const bar = '█'.repeat(Math.ceil((count / most) * 50));
      return `  < ${String(below).padStart(8)} ms ${String(count).padStart(6)}  ${bar}`;
    }),
  ].join('\n');
}
