export { API_VARIABLES, createApiServer } from './api.js';
export { inGroups } from './limits/group-commit.js';
export { ROUTES } from './routes/index.js';
export type { Route } from './routes/route.js';
export { FEATURES } from './version.js';
