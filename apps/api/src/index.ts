export { API_VARIABLES, createApiServer } from './api.js';
export { ROUTES } from './routes/index.js';
export type { Route } from './routes/route.js';
export { FEATURES } from './version.js';
