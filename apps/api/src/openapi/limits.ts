import type { StoreSettings } from '@yardmaster/store';
import type { SizeLimits } from '../sizes.js';

/** What a process lets callers send, and how long and how much it keeps. */
export interface Limits {
  sizes: SizeLimits;
  kept: Pick<StoreSettings, 'deliveryTimeoutMs' | 'maxDeliveries' | 'retentionMs' | 'eventsPerJob' | 'logsPerJob'>;
}
