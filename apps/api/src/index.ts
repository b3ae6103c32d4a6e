export { API_VARIABLES, type ApiConfig, type ApiServerOptions, createApi, createApiServer } from './api.js';
export type { Route } from './route.js';
export { ROUTES } from './routes.js';
