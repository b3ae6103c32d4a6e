export { API_VARIABLES, createApiServer } from './api.js';
export type { Route } from './route.js';
export { ROUTES } from './routes.js';
