export { type Config, ConfigError, readConfig } from './config.js';
export { createLogger, type Logger } from './logger.js';
export { runProcess } from './run-process.js';
export { watchSecret } from './secret-files.js';
export { compose, every, type Service } from './service.js';
export { ADMIN_KEY_LENGTH, VARIABLES, type VariableName } from './variables.js';
