export {
  createStandalone,
  createWhole,
  STANDALONE_VARIABLES,
  type StandaloneConfig,
  type StandaloneOptions,
} from './standalone.js';
