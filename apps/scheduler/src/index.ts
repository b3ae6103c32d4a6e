export { CALLBACK_VARIABLES } from './callbacks/callbacks.js';
export { createDuties, type DutiesOptions } from './duties.js';
export { createScheduler, SCHEDULER_VARIABLES, type SchedulerConfig } from './scheduler.js';
