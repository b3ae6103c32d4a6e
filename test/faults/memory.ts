import { readFileSync } from 'node:fs';
import type { AppProcess } from './app-process.js';

export interface MemoryWatch {
  /** Most megabytes that any of them has held in memory at once so far (resident set). */
  readonly mostMb: number;
  stop(): void;
}

const EVERY_MS = 100;

/** Watch the memory of some processes. Linux only: elsewhere it is 0. */
export function watchMemory(apps: readonly AppProcess[]): MemoryWatch {
  let mostMb = 0;
  const timer = setInterval(() => {
    for (const { pid } of apps) mostMb = Math.max(mostMb, residentMb(pid));
  }, EVERY_MS);
  return {
    get mostMb() {
      return mostMb;
    },
    stop: () => clearInterval(timer),
  };
}

function residentMb(pid: number): number {
  try {
    const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return Math.round(Number(kilobytes ?? 0) / 1_024);
  } catch {
    return 0; // It was just killed.
  }
}
