export { createDuties, DUTY_VARIABLES, type DutiesOptions } from './duties.js';
export { createScheduler, SCHEDULER_VARIABLES, type SchedulerConfig } from './scheduler.js';
