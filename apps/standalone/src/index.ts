export {
  createAllInOne,
  createStandalone,
  STANDALONE_VARIABLES,
  type StandaloneConfig,
  type StandaloneOptions,
} from './standalone.js';
