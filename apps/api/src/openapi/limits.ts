import type { StoreSettings } from '@yardmaster/store';
import type { SizeLimits } from '../sizes.js';

/** What a process lets callers send, and how much of it the process keeps and for how long. */
export interface Limits {
  sizes: SizeLimits;
  kept: Pick<StoreSettings, 'deliveryTimeoutMs' | 'maxDeliveries' | 'retentionMs' | 'eventsPerJob' | 'logsPerJob'>;
}
