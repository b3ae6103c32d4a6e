export { type BackgroundOptions, createBackground } from './background.js';
export { METRICS_VARIABLES } from './backlog-metrics.js';
export { CALLBACK_VARIABLES } from './callbacks/callbacks.js';
export { createScheduler, SCHEDULER_VARIABLES, type SchedulerConfig } from './scheduler.js';
