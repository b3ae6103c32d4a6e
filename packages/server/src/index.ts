export { authenticate, authorize, type KeyCheck, knownCaller } from './authenticate.js';
export type { Background } from './background.js';
export { redisBudgetMs, within } from './deadline.js';
export { clientAddressBy } from './http/client-address.js';
export { endResponse } from './http/end-response.js';
export { checkHost } from './http/host.js';
export { onceResponded } from './http/open-response.js';
export { createOutageLog } from './http/outage-log.js';
export { type Health, PROBES, respondToCheck, respondToProbe } from './http/probes.js';
export { rawResponse } from './http/raw-response.js';
export { requestIdOf, requestIdOfResponse } from './http/request-id.js';
export {
  COMMON,
  errorBody,
  headersOf,
  internalError,
  sendEmpty,
  sendError,
  sendJson,
  sendText,
} from './http/response.js';
export { protectServer, SERVER_OPTIONS } from './http/server.js';
export { attachStreams } from './http/upgrades.js';
export { createHttpService, HTTP_SERVICE_VARIABLES, type HttpService } from './http-service.js';
export { createMetrics, type Metrics } from './metrics/metrics.js';
export { overloadMetrics } from './metrics/overload.js';
export { ownerIs, type RequestMetrics, routeIs, UNKNOWN_ROUTE } from './metrics/requests.js';
export { sharedRead } from './metrics/shared-read.js';
export { type AppOptions, runApp } from './run-app.js';
export {
  createServerContext,
  SERVER_CONTEXT_VARIABLES,
  type ServerContext,
  type ServerContextConfig,
  type ServerContextOptions,
} from './server-context.js';
export type { Streams } from './streams.js';
