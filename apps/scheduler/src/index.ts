export { createBackground } from './background.js';
export { METRICS_VARIABLES } from './backlog-metrics.js';
export { CALLBACK_VARIABLES } from './callbacks/callbacks.js';
