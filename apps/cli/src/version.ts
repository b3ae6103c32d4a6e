import { readFileSync } from 'node:fs';

/**
 * Version of the CLI. The path works for the source, the compiled file and the npm package: in each of them, this code
 * is one folder below package.json.
 */
export const VERSION: string = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version;

/** User agent of requests to the service. */
export const USER_AGENT = `yardmaster-cli/${VERSION} node/${process.versions.node}`;
