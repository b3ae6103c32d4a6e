export { STANDALONE_VARIABLES } from './standalone.js';
