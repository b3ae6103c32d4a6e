export { CALLBACK_VARIABLES, createBackground } from './background.js';
export { METRICS_VARIABLES } from './metrics.js';
