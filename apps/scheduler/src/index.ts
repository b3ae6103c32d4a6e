export { CALLBACK_VARIABLES } from './callbacks/callbacks.js';
export { createDuties, type DutiesOptions } from './duties.js';
export { METRICS_VARIABLES } from './metrics/backlog-metrics.js';
export { createScheduler, SCHEDULER_VARIABLES, type SchedulerConfig } from './scheduler.js';
