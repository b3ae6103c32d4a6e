export { type Config, ConfigError, readConfig } from './config.js';
export { every } from './every.js';
export { createLogger, type Logger } from './logger.js';
export { runProcess } from './run-process.js';
export { compose, type Service } from './service.js';
export { ADMIN_KEY_LENGTH, VARIABLES, type VariableName } from './variables.js';
