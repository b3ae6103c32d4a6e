export type { Audit, Denied } from './audit.js';
export {
  type AcceptedScopes,
  authenticate,
  authorize,
  cachedPrincipal,
  type KeyCheck,
  presentedKey,
} from './authorize.js';
export { redisBudgetMs, rejectAfter } from './deadline.js';
export { closeAfter, onceResponded, setTenant } from './http/connection.js';
export { createCors, type SetCors } from './http/cors.js';
export {
  checkFraming,
  clientAddressBy,
  endResponse,
  errorBody,
  internalError,
  requestIdOf,
  requestIdOfResponse,
  sendEmpty,
  sendError,
  sendJson,
  sendText,
  wantBody,
} from './http/exchange.js';
export { createOutageLog } from './http/outage-log.js';
export { type Health, PROBES, respondToCheck, respondToProbe } from './http/probes.js';
export { rawResponse } from './http/refusal.js';
export { attachStreams, protectServer, SERVER_OPTIONS, type Streams } from './http/server.js';
export { type Background, createHttpService, HTTP_SERVICE_VARIABLES, type HttpService } from './http-service.js';
export { type RequestMetrics, setRoute, UNKNOWN_ROUTE } from './metrics/http.js';
export { overloadMetrics } from './metrics/overload.js';
export { createMetrics, type Metrics, sharedRead } from './metrics/registry.js';
export { runApp } from './run-app.js';
export {
  CALLBACK_SECRET_VARIABLES,
  createServerContext,
  SERVER_CONTEXT_VARIABLES,
  type ServerContext,
} from './server-context.js';
