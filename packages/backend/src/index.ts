export { authenticate, authorize, type KeyCheck, knownCaller } from './authenticate.js';
export { BACKEND_VARIABLES, type Backend, type BackendConfig, type BackendOptions, createBackend } from './backend.js';
export { redisBudgetMs, within } from './deadline.js';
export type { Duties } from './duties.js';
export { createFront, FRONT_VARIABLES, type Front } from './front.js';
export {
  COMMON,
  errorBody,
  headersOf,
  internalError,
  sendEmpty,
  sendError,
  sendJson,
  sendText,
} from './http/answer.js';
export { onceAnswered } from './http/answered.js';
export { clientAddressBy } from './http/client-address.js';
export { endAnswer } from './http/end-answer.js';
export { checkHost } from './http/host.js';
export { createOutageLog } from './http/outage-log.js';
export { answerCheck, answerProbe, type Health, PROBES } from './http/probes.js';
export { rawAnswer } from './http/raw-answer.js';
export { requestIdOf, requestIdOfResponse } from './http/request-id.js';
export { protectServer, SERVER_OPTIONS } from './http/server.js';
export { attachStreams } from './http/upgrades.js';
export { createMetrics, type Metrics } from './metrics/metrics.js';
export { overloadMetrics } from './metrics/overload.js';
export { ownerIs, type RequestMetrics, routeIs, UNKNOWN_ROUTE } from './metrics/requests.js';
export { sharedRead } from './metrics/shared-read.js';
export { type AppOptions, runApp } from './run-app.js';
export type { Streams } from './streams.js';
