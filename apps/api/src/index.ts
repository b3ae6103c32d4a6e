export { API_VARIABLES, type Api, type ApiConfig, createApi } from './api.js';
export { ROUTES, type Route } from './routes.js';
