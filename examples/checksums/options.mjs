import { readFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

/** Where `npm start` listens, and the default of the command that watches. */
export const DEFAULT_URL = 'http://127.0.0.1:8080';

export const USAGE = `Usage: npm run example:checksums -- <folder> [options]

  --workers N     worker processes, 1 to 64 (default 4)
  --url URL       address of the service (default: the variable YARDMASTER_URL,
                  else ${DEFAULT_URL})
  --key KEY       API key with the scope keys:manage (default: the variable YARDMASTER_API_KEY,
                  else the key that "npm start" keeps in its data folder)
  --space NAME    space for the jobs (default checksums-<timestamp>, so that each run starts clean)
  --output FILE   also write the checksums as sha256sum does, for "sha256sum -c FILE"
  --kill-one      kill -9 a worker half-way, to see that nothing is lost
  --help          print this
`;

/** Error in the command line, as a sentence that names the option. */
export class UsageError extends Error {}

const repository = fileURLToPath(new URL('../../', import.meta.url));

/**
 * Read the command line.
 *
 * @returns `{ help: true }`, or `{ folder, workers, url, key, space, output, killOne }`; output may be undefined
 * @throws UsageError
 */
export function readOptions(args) {
  const { values, positionals } = parse(args);
  if (values.help) return { help: true };
  return {
    folder: folderOf(positionals),
    workers: workersOf(values.workers ?? '4'),
    url: urlOf(values.url),
    space: spaceOf(values.space ?? `checksums-${new Date().toISOString().replaceAll(':', '-')}`),
    output: values.output,
    killOne: values['kill-one'] ?? false,
    key: values.key ?? (process.env.YARDMASTER_API_KEY || keptKey()),
  };
}

function parse(args) {
  const text = { type: 'string' };
  const flag = { type: 'boolean' };
  const options = { workers: text, url: text, key: text, space: text, output: text, 'kill-one': flag, help: flag };
  try {
    return parseArgs({ args, options, allowPositionals: true });
  } catch (error) {
    throw new UsageError(error.message);
  }
}

function folderOf(positionals) {
  if (positionals.length !== 1) throw new UsageError(`Give one folder, not ${positionals.length || 'none'}`);
  const [folder] = positionals;
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) throw new UsageError(`${folder} is not a folder`);
  return folder;
}

function workersOf(text) {
  const workers = Number(text);
  if (/^\d+$/.test(text) && workers >= 1 && workers <= 64) return workers;
  throw new UsageError(`--workers must be a whole number from 1 to 64, not ${JSON.stringify(text)}`);
}

/** Return the option, otherwise the variable, otherwise the default; each without /api/v1. */
function urlOf(option) {
  const [name, text] = option === undefined ? ['YARDMASTER_URL', process.env.YARDMASTER_URL] : ['--url', option];
  const url = text || DEFAULT_URL;
  if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) return url.replace(/\/+$/, '');
  throw new UsageError(`${name} must begin with http:// or https://, not be ${JSON.stringify(url)}`);
}

function spaceOf(name) {
  if (/^[\w.:-]{1,128}$/.test(name)) return name;
  throw new UsageError('--space must be 1 to 128 characters of A-Z a-z 0-9 . _ : -');
}

/** The admin key that `npm start` leaves; it takes DATA_DIR from the repository's root, so we do as well. */
function keptKey() {
  const file = resolve(repository, process.env.DATA_DIR || '.data', 'admin-key');
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    throw new UsageError(
      `There is no API key: start the service with npm start, or give --key or YARDMASTER_API_KEY (${error.message})`,
    );
  }
}
