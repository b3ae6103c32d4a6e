export { STREAM_VARIABLES } from './admission/admission.js';
export { createGateway, GATEWAY_VARIABLES, type GatewayConfig } from './gateway.js';
export { createStreams, type StreamsOptions } from './streams.js';
