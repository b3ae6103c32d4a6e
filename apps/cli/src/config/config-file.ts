import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { type Env, UsageError } from '../command.js';
import type { ServiceFlags } from '../flags.js';

/** Defaults for options and variables that are not set. */
const profile = z.object({
  url: z.url({ protocol: /^https?$/ }),
  /** API key. */
  token: z.string().optional(),
  space: z.string().optional(),
});
export type Profile = z.output<typeof profile>;

const config = z.object({
  /** Name of the current profile; null for none. */
  current: z.string().nullable(),
  profiles: z.record(z.string(), profile),
});
export type Config = z.output<typeof config>;

/** Fill in variables that are not set with the values of the profile. @throws UsageError */
export function withProfile(env: Env, flags: ServiceFlags): Env {
  const { current, profiles } = readConfig(pathOf(env));
  const name = flags.profile ?? (env.YARDMASTER_PROFILE || current);
  if (name === null) return env;
  const { url, token, space } = profileNamed(name, profiles);
  const address = flags.url ?? (env.YARDMASTER_URL || url);
  return {
    ...env,
    YARDMASTER_URL: address,
    // Never send the key of one service to another.
    YARDMASTER_API_KEY: env.YARDMASTER_API_KEY || (address === url ? token : undefined),
    YARDMASTER_SPACE: env.YARDMASTER_SPACE || space,
    YARDMASTER_PROFILE: name,
  };
}

/** Return a profile by its name. @throws UsageError if it does not exist */
export function profileNamed(name: string, profiles: Config['profiles']): Profile {
  const found = Object.hasOwn(profiles, name) ? profiles[name] : undefined;
  if (found !== undefined) return found;
  throw new UsageError(`there is no profile ${JSON.stringify(name)}; list the profiles with: yardmaster config list`);
}

/** Return the path of the configuration file; null if no variable names a folder for it. */
export function pathOf(env: Env): string | null {
  const home = env.HOME || env.USERPROFILE;
  const folder = env.XDG_CONFIG_HOME || (home && join(home, '.config'));
  return folder ? join(folder, 'yardmaster', 'config.json') : null;
}

/** Read the configuration file. If it is missing, there are no profiles. @throws UsageError if it is invalid */
export function readConfig(path: string | null): Config {
  const none: Config = { current: null, profiles: {} };
  if (path === null) return none;
  try {
    return config.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return none;
    if (typeof code === 'string') throw new UsageError(`cannot read ${path} (${code})`);
    throw new UsageError(`${path} is not a valid configuration file; fix or delete it`); // Don't quote it: it may contain keys.
  }
}

/** Replace the configuration file, which only its owner may read. @throws UsageError */
export function writeConfig(path: string | null, written: Config): void {
  if (path === null) throw new UsageError('no folder for profiles; set HOME or XDG_CONFIG_HOME');
  const draft = `${path}.${process.pid}`;
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileSync(draft, `${JSON.stringify(written, null, 2)}\n`, { mode: 0o600 });
    renameSync(draft, path);
  } catch (error) {
    throw new UsageError(`cannot write ${path} (${(error as NodeJS.ErrnoException).code})`);
  }
}
