export { API_VARIABLES, type Api, type ApiConfig, createApi } from './api.js';
export type { Route } from './route.js';
export { ROUTES } from './routes.js';
