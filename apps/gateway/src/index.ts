export { STREAM_VARIABLES } from './admission/admission.js';
export { GATEWAY_VARIABLES } from './gateway.js';
export { createStreams } from './streams.js';
