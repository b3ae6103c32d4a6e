import type { Fault } from '../fault.js';
import type { Installation } from '../installation.js';

/** How long it is away. */
const AWAY_MS = [1_500, 8_000, 20_000];

/**
 * Wait until what was answered is in the hands of the system. While a flush of the append-only file is under way, Redis
 * answers before it writes, and what it then takes along is not ours to keep (docs/operate.md, "What a failure may lose").
 */
async function written({ connection }: Installation): Promise<void> {
  for (;;) {
    const info = await connection.info('persistence');
    if (info.includes('aof_pending_bio_fsync:0') && info.includes('aof_buffer_length:0')) return;
  }
}

export const faults: Fault[] = AWAY_MS.map((lastsMs) => ({
  id: 'F4',
  variant: `${lastsMs / 1_000}s`,
  title: `Redis is killed, and is back after ${lastsMs / 1_000} s`,
  promises: ['P1', 'P4', 'P12'],
  stops: ['redis'],
  lastsMs,
  async inject({ installation }) {
    await written(installation);
    await installation.redis.kill();
    return () => installation.redis.resume();
  },
}));
