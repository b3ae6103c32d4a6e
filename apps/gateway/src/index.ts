export { createGateway, GATEWAY_VARIABLES, type GatewayConfig } from './gateway.js';
export { createStreams, STREAM_VARIABLES, type StreamsOptions } from './streams.js';
