import { readFileSync } from 'node:fs';

/**
 * Version of the command. The path is right for the source, the compiled file and the package `yardmaster`, each of
 * which is one folder below its package.json.
 */
export const VERSION: string = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version;

/** How the command names itself to the service. */
export const USER_AGENT = `yardmaster-cli/${VERSION} node/${process.versions.node}`;
